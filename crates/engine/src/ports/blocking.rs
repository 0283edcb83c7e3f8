//! Blocking work, kept away from the threads that run tasks.

use sortie_protocol::{Failure, FailureCode};

/// Runs blocking work on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let read = tokio::task::spawn_blocking(read).await;
    read.map_err(|error| Failure::new(FailureCode::Internal, error.to_string()))?
}
