//! `StopOnCancel`: ends a command when its call is cancelled.

use sortie_sandbox::process::Stopper;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Ends a command if a token is cancelled or this is dropped. Has no effect on a command that has ended.
pub(super) struct StopOnCancel(JoinHandle<()>);

impl StopOnCancel {
    pub(super) fn new(stopper: Stopper, cancel: CancellationToken) -> Self {
        // Owned by the future, so that it also acts if the runtime drops that.
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
