//! A TLS tunnel between a client and a server, which the proxy cannot read.
//!
//! It begins with the name of the server, which must be the judged host. Otherwise one server of a large provider would
//! open the way to all its others.

use std::io::{self, ErrorKind};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional_with_sizes};
use tokio::time::timeout;

use super::IDLE;
use super::client_hello;
use super::client_hello::{ClientHello, ClientHelloError};
use super::dialer::Dialer;
use super::idle_stream::IdleStream;
use crate::web::target::Target;

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// A fatal alert of TLS: access denied.
const DENIED: [u8; 7] = [21, 3, 3, 0, 2, 2, 49];

/// Maximum time for a client to begin TLS.
const HELLO_WITHIN: Duration = Duration::from_secs(10);

/// Bytes per read of a hello, and of the data after it.
const STEP_BYTES: usize = 4 << 10;
const BUFFER_BYTES: usize = 16 << 10;

/// The reason why a tunnel is refused.
#[derive(Debug, thiserror::Error)]
enum TunnelError {
    #[error("{0}")]
    ClientHello(#[from] ClientHelloError),
    #[error("its TLS does not name the server that it means (no SNI)")]
    NoName,
    #[error("its TLS asks for the server `{name}`")]
    OtherName { name: String },
    #[error("it did not begin with TLS within {} s", HELLO_WITHIN.as_secs())]
    Late,
    #[error("the client has gone ({0})")]
    Gone(#[from] io::Error),
}

/// Opens a tunnel to a server and serves it to its end. The server receives nothing before the client's hello is
/// judged.
pub(super) async fn carry<C, S>(client: &mut C, server: S, rest: Vec<u8>, target: &Target, door: &Dialer)
where
    C: AsyncRead + AsyncWrite + Unpin,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let begun = match timeout(HELLO_WITHIN, begin(client, rest, target)).await {
        Ok(begun) => begun,
        Err(_) => Err(TunnelError::Late),
    };
    match begun {
        // The result of a tunnel only concerns its two ends.
        Ok(hello) => drop(relay(client, server, &hello).await),
        Err(TunnelError::Gone(_)) => {}
        Err(error) => {
            door.refuse(&format!("the tunnel to `{}` was ended: {error}", target.host()));
            if !matches!(error, TunnelError::ClientHello(ClientHelloError::NotTls) | TunnelError::Late) {
                // A client that has gone does not care.
                drop(client.write_all(&DENIED).await);
            }
        }
    }
}

/// Tells the client that the tunnel is open, and reads its whole hello, which is then judged.
async fn begin<C: AsyncRead + AsyncWrite + Unpin>(
    client: &mut C,
    rest: Vec<u8>,
    target: &Target,
) -> Result<Vec<u8>, TunnelError> {
    client.write_all(ESTABLISHED).await?;
    let mut bytes = rest;
    loop {
        if let Some(hello) = client_hello::parse(&bytes)? {
            check(hello, target)?;
            return Ok(bytes);
        }
        bytes.reserve(STEP_BYTES);
        if client.read_buf(&mut bytes).await? == 0 {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        }
    }
}

/// Checks the server name. TLS names no server if the target is an address.
fn check(hello: ClientHello, target: &Target) -> Result<(), TunnelError> {
    match (hello.server_name, target.literal()) {
        (None, Some(_)) => Ok(()),
        (None, None) => Err(TunnelError::NoName),
        (Some(name), _) if name == target.host() => Ok(()),
        (Some(name), _) => Err(TunnelError::OtherName { name }),
    }
}

/// Forwards bytes both ways until both sides have ended or the connection is idle for too long.
async fn relay<C, S>(client: &mut C, server: S, hello: &[u8]) -> io::Result<()>
where
    C: AsyncRead + AsyncWrite + Unpin,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut server, last) = IdleStream::new(server);
    let both = async {
        server.write_all(hello).await?;
        copy_bidirectional_with_sizes(client, &mut server, BUFFER_BYTES, BUFFER_BYTES).await
    };
    tokio::select! {
        ended = both => ended.map(drop),
        () = last.is_over(IDLE) => Ok(()),
    }
}
