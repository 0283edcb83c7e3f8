//! The server over HTTP: one path, one token, and bounds on everything that somebody outside can make grow.
//!
//! A request passes the gate by its head alone, then its body is read, then the protocol answers it. What the protocol
//! says is not decided here, nor where the token lies: whoever serves brings a way to ask for it. There is no encryption.

mod arrivals;
mod attended;
mod body;
mod bounds;
mod gate;
mod listener;
mod names;
mod patient;
mod reception;
mod refusal;
mod sessions;
mod token;
mod watched;

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServerHandler;
use tokio_util::sync::CancellationToken;

pub use bounds::Bounds;
pub use listener::{BindError, Listener, Reach};
pub use token::{Token, TokenSource};

use self::reception::Reception;

/// Where the protocol is spoken; there is nothing elsewhere.
pub const PATH: &str = "/mcp";

/// How often sessions are looked at that nobody uses any more.
const ROUND: Duration = Duration::from_secs(1);

/// Answers requests until it is told to stop, each session by a server of its own.
///
/// At the stop, nobody new is let in. Answers under way have the time of [`Bounds::farewell`] to be written; to have the
/// calls behind them end in that time is up to whoever stops it. Then all sessions, streams and connections end.
pub async fn serve<S: ServerHandler>(
    listener: Listener,
    token: TokenSource,
    bounds: Bounds,
    new_server: impl Fn() -> S + Send + Sync + 'static,
    stop: CancellationToken,
) {
    let (socket, names) = listener.into_parts();
    let reception = Arc::new(Reception::new(names, token, bounds.clone(), new_server, stop.clone()));
    let closing = CancellationToken::new();
    let rounds = async {
        loop {
            tokio::time::sleep(ROUND.min(bounds.absence).min(bounds.idleness)).await;
            reception.look_around();
        }
    };
    let farewell = async {
        stop.cancelled().await;
        reception.take_leave().await;
        closing.cancel();
    };
    tokio::select! {
        () = arrivals::receive(&socket, &reception, &bounds, &stop, &closing) => {}
        () = rounds => {}
        () = async { farewell.await; std::future::pending().await } => {}
    }
}
