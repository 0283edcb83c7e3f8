//! The server over HTTP: one path, one token, and bounds on everything that outsiders can make grow.
//!
//! The gate checks a request by its head alone, then the body is read, then the protocol library answers. This module
//! decides neither the replies nor where the token is stored: the caller supplies the token source. There is no
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

/// Interval of the search for unused sessions.
const ROUND: Duration = Duration::from_secs(1);

/// Answers requests until told to stop; each session has a server of its own.
///
/// After the stop, nobody new is admitted. Pending replies have [`Bounds::farewell`] to be written; the caller must
/// make the calls behind them end in that time. Then all sessions, streams and connections end.
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
