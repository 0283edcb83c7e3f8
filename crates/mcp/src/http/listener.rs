//! The socket that requests come to, and who can reach it.

use std::io;
use std::net::SocketAddr;

use sortie_mutant::is_out;
use thiserror::Error;
use tokio::net::TcpListener;

use crate::http_request::host_names::HostNames;

/// From where requests may come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Programs on this machine.
    ThisMachine,
    /// Other machines, too, which may call this one by these names beside its addresses.
    Everywhere { names: Vec<String> },
}

/// A bound socket. Nobody is answered before it is served.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    names: HostNames,
}

/// Why nothing listens.
#[derive(Debug, Error)]
pub enum BindError {
    #[error("other machines could reach {address}, and nobody has agreed to that")]
    Wide { address: SocketAddr },
    #[error("cannot listen on {address}: {source}")]
    Taken { address: SocketAddr, source: io::Error },
}

impl Listener {
    /// Listens on an address. One that other machines could reach is refused unless they are meant to.
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

    /// Where it listens; with the port that was given where any would do.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn into_parts(self) -> (TcpListener, HostNames) {
        (self.socket, self.names)
    }
}
