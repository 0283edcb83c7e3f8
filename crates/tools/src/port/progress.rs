//! Port to the people who follow a call.

use sortie_sandbox::process::KeeperMark;

use super::future::BoxFuture;

/// Tells people how a call comes along.
pub trait Progress: Send + Sync {
    fn tell(&self, text: String) -> BoxFuture<'_, ()>;

    /// Notes who keeps the command that the call has started, so that it can be ended should this program be killed.
    fn runs_under(&self, _keeper: KeeperMark) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
