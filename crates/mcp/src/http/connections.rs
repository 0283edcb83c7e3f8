//! Connections: accepted while there is room, each served until it ends or the server does.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::http::request_service::RequestService;
use crate::http::write_timeout::WriteTimeout;
use crate::http_request::Bounds;
use crate::http_request::refusal::Refusal;
use crate::session::time_limits::LAST_WORDS;

/// Longest head of a request: many times what tokens, names and versions need.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Most connections beyond the bound that get an error; further ones are closed.
const TURNED_AWAY: usize = 16;
/// Pause after a failed accept, most often for lack of file descriptors.
const BREATH: Duration = Duration::from_millis(50);

/// Accepts connections until the stop, and returns when all of them have ended, as `closing` asks them to.
pub(super) async fn receive<S: ServerHandler>(
    socket: &TcpListener,
    service: &Arc<RequestService<S>>,
    bounds: &Bounds,
    stop: &CancellationToken,
    closing: &CancellationToken,
) {
    let places = Arc::new(Semaphore::new(bounds.connections));
    let doorsteps = Arc::new(Semaphore::new(TURNED_AWAY));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = socket.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let Some(place) = Place::take(&places, &doorsteps) else { continue };
        let visit = Visit { service: Arc::clone(service), bounds: bounds.clone(), place };
        connections.spawn(visit.serve(stream, closing.clone()));
    }
    let ended = async { while connections.join_next().await.is_some() {} };
    let hung_up = async {
        closing.cancelled().await;
        tokio::time::sleep(LAST_WORDS).await;
    };
    // Dropping the set closes the rest.
    tokio::select! {
        () = ended => {}
        () = hung_up => {}
    }
}

/// Kind of service for a connection.
enum Place {
    Inside {
        _permit: OwnedSemaphorePermit,
    },
    /// It is answered only with the error that there is no room.
    Doorstep {
        _permit: OwnedSemaphorePermit,
    },
}

impl Place {
    fn take(places: &Arc<Semaphore>, doorsteps: &Arc<Semaphore>) -> Option<Self> {
        let inside = Arc::clone(places).try_acquire_owned().map(|permit| Self::Inside { _permit: permit });
        inside
            .or_else(|_| Arc::clone(doorsteps).try_acquire_owned().map(|permit| Self::Doorstep { _permit: permit }))
            .ok()
    }
}

struct Visit<S> {
    service: Arc<RequestService<S>>,
    bounds: Bounds,
    place: Place,
}

impl<S: ServerHandler> Visit<S> {
    async fn serve(self, stream: TcpStream, closing: CancellationToken) {
        // Without it, small events would wait for each other.
        stream.set_nodelay(true).ok();
        let is_inside = matches!(self.place, Place::Inside { .. });
        let has_refused = Arc::new(AtomicBool::new(false));
        let answer = service_fn(|request| {
            let (service, has_refused) = (Arc::clone(&self.service), Arc::clone(&has_refused));
            async move {
                if !is_inside {
                    return Ok::<_, Infallible>(Refusal::TooManyConnections.into_answer());
                }
                let answer = service.answer(request).await;
                has_refused.store(answer.status().is_client_error(), Ordering::Release);
                Ok(answer)
            }
        });
        let stream = TokioIo::new(WriteTimeout::new(stream, &self.bounds, Arc::clone(&has_refused)));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.bounds.head_time)
            .max_buf_size(MAX_HEAD_BYTES)
            .keep_alive(is_inside)
            .serve_connection(stream, answer);
        let mut connection = pin!(connection);
        // The way a connection ends is its client's affair; everything received on it has been handled.
        tokio::select! {
            _ = connection.as_mut() => return,
            () = closing.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        connection.await.ok();
    }
}
