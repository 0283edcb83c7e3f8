//! The server over HTTP: one path, one token, and bounds on everything that somebody outside can make grow.
//!
//! A request passes the gate by its head alone, then its body is read, then the protocol answers it. What the protocol
//! says is not decided here, nor where the token lies: whoever serves brings a way to ask for it. There is no
//! encryption.

mod connections;
mod listener;
mod presence;
mod request_service;
mod session_transport;
mod sessions;
mod write_timeout;

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServerHandler;
use tokio_util::sync::CancellationToken;

pub use self::listener::{BindError, Listener, Reach};
pub use crate::http_request::{Bounds, PATH, Token, TokenSource};

use self::request_service::RequestService;

/// How often sessions are looked at that nobody uses any more.
const ROUND: Duration = Duration::from_secs(1);

/// Answers requests until it is told to stop, each session by a server of its own.
///
/// At the stop, nobody new is let in. Answers under way have the time of [`Bounds::farewell`] to be written; to have
/// the calls behind them end in that time is up to whoever stops it. Then all sessions, streams and connections end.
pub async fn serve<S: ServerHandler>(
    listener: Listener,
    token: TokenSource,
    bounds: Bounds,
    new_server: impl Fn() -> S + Send + Sync + 'static,
    stop: CancellationToken,
) {
    let (socket, names) = listener.into_parts();
    let service = Arc::new(RequestService::new(names, token, bounds.clone(), new_server, stop.clone()));
    let closing = CancellationToken::new();
    let rounds = async {
        loop {
            tokio::time::sleep(ROUND.min(bounds.absence).min(bounds.idleness)).await;
            service.look_around();
        }
    };
    let farewell = async {
        stop.cancelled().await;
        service.take_leave().await;
        closing.cancel();
    };
    tokio::select! {
        () = connections::receive(&socket, &service, &bounds, &stop, &closing) => {}
        () = rounds => {}
        () = async { farewell.await; std::future::pending().await } => {}
    }
}
