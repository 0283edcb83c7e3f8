//! Port to the people who follow a call.

use sortie_sandbox::process::KeeperMark;

use super::future::BoxFuture;

/// Shows people the progress of a call.
pub trait Progress: Send + Sync {
    fn tell(&self, text: String) -> BoxFuture<'_, ()>;

    /// Records the keeper of the command started by the call, so that the command can be ended if this program is
    /// killed.
    fn runs_under(&self, _keeper: KeeperMark) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
