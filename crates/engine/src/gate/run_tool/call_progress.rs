//! Progress lines of long-running calls: short lines in the task's log, without secrets.

use sortie_policy::Redactor;
use sortie_protocol::{CallId, Fact};
use sortie_sandbox::process::KeeperMark;
use sortie_tools::{BoxFuture, Progress};

use crate::log::writer::FactWriter;
use crate::ports::redaction::redacted;

/// One call's way to report progress.
pub(crate) struct CallProgress<'a> {
    pub(crate) call: &'a CallId,
    pub(crate) sink: &'a FactWriter,
    pub(crate) redactor: &'a Redactor,
}

impl Progress for CallProgress<'_> {
    fn tell(&self, text: String) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let text = redacted(self.redactor, text);
            let fact = Fact::CallProgressed { call: self.call.clone(), text };
            // A lost journal shows at the next fact that matters.
            self.sink.append(fact).await.ok();
        })
    }

    /// Durability of progress: in order, but not synced. The start of the call is on disk, a keeper without its program
    /// ends by itself, and no process survives a power cut.
    fn runs_under(&self, KeeperMark { pid, started }: KeeperMark) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.sink.append(Fact::ProcessStarted { call: self.call.clone(), pid, started }).await.ok();
        })
    }
}
