//! The socket for requests, and who can reach it.

use std::io;
use std::net::SocketAddr;

use sortie_mutant::is_out;
use thiserror::Error;
use tokio::net::TcpListener;

use crate::http_request::host_names::HostNames;

/// Permitted origins of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Programs on this machine only.
    ThisMachine,
    /// Also other machines, which may address this one by these names as well as by its addresses.
    Everywhere { names: Vec<String> },
}

/// A bound socket. Nobody is answered before it is served.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    names: HostNames,
}

/// Reason why nothing listens.
#[derive(Debug, Error)]
pub enum BindError {
    #[error("other machines could reach {address}, which was not allowed")]
    Wide { address: SocketAddr },
    #[error("cannot listen on {address}: {source}")]
    Taken { address: SocketAddr, source: io::Error },
}

impl Listener {
    /// Listens on an address. One that other machines could reach is refused unless `reach` permits them.
    pub async fn bind(address: SocketAddr, reach: Reach) -> Result<Self, BindError> {
        let remote = match reach {
            Reach::Everywhere { names } => Some(names),
            Reach::ThisMachine if address.ip().to_canonical().is_loopback() || is_out("wide-bind") => None,
            Reach::ThisMachine => return Err(BindError::Wide { address }),
        };
        let taken = |source| BindError::Taken { address, source };
        let socket = TcpListener::bind(address).await.map_err(taken)?;
        let address = socket.local_addr().map_err(taken)?;
        Ok(Self { socket, address, names: HostNames::new(address, remote) })
    }

    /// The address it listens on, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn into_parts(self) -> (TcpListener, HostNames) {
        (self.socket, self.names)
    }
}
