//! One client connection: reads its request, judges its host and forwards its bytes.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::dialer::Dialer;
use super::reply;
use super::reply::Reply;
use super::request::{Request, Way};
use super::request_head;
use super::request_head::HeadError;
use super::{forward, tunnel};

/// Maximum time for a client to send its request head.
const HEAD_WITHIN: Duration = Duration::from_secs(10);

/// Serves one connection to its end: one request, or one tunnel.
pub(super) async fn serve<C: AsyncRead + AsyncWrite + Unpin + Send>(mut client: C, door: &Dialer) {
    let replied = match converse(&mut client, door).await {
        Ok(()) => Ok(()),
        Err(reply) => reply.write(&mut client).await,
    };
    // A client that cannot be written to has gone.
    if replied.is_ok() {
        reply::part(client).await;
    }
}

async fn converse<C: AsyncRead + AsyncWrite + Unpin + Send>(client: &mut C, door: &Dialer) -> Result<(), Reply> {
    let (head, rest) = match timeout(HEAD_WITHIN, request_head::read(client)).await {
        Ok(Ok(Some(read))) => read,
        Ok(Ok(None) | Err(HeadError::Gone(_))) => return Ok(()),
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => return Err(Reply::too_slow(HEAD_WITHIN)),
    };
    let Request { target, way } = Request::new(&head)?;
    let server = door.open(&target).await?;
    match way {
        Way::Tunnel => {
            tunnel::carry(client, server, rest, &target, door).await;
            Ok(())
        }
        Way::Plain { head, framing } => {
            let body = forward::Body { rest, framing };
            forward::carry(client, server, &head, body).await.map_err(|_| Reply::no_answer(target.host()))
        }
    }
}
