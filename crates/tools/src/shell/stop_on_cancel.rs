//! `StopOnCancel`: ends a command when its call is cancelled.

use sortie_sandbox::process::Stopper;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Ends a command when a token is cancelled; also when this is dropped, which does nothing to one that has ended.
pub(super) struct StopOnCancel(JoinHandle<()>);

impl StopOnCancel {
    pub(super) fn new(stopper: Stopper, cancel: CancellationToken) -> Self {
        // Held by the future, so that it acts also when the runtime drops that.
        let stop = StopOnDrop(stopper);
        Self(Handle::current().spawn(async move {
            let _stop = stop;
            cancel.cancelled().await;
        }))
    }
}

impl Drop for StopOnCancel {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct StopOnDrop(Stopper);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
