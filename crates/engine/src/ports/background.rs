//! Work in the background of a host, in a process that outlives the host.

use sortie_protocol::{BackgroundOrder, Failure, Launched};
use sortie_tools::BoxFuture;

/// Another process, which runs the background tasks of a host.
pub trait BackgroundProcess: Send + Sync {
    /// Hands over an order. The task is on disk when this returns; a failure means that nothing was started.
    fn carry_out(&self, order: BackgroundOrder) -> BoxFuture<'_, Result<Launched, Failure>>;
}
