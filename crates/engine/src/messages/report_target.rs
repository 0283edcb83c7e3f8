//! Where a child's report goes: to the call that waits for it, or into the mail of the task that has it.
//!
//! Its end, its release and its adoption are one after the other, never at the same time: whoever changes where the
//! report goes holds the address.

use std::sync::Arc;

use sortie_protocol::CallId;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use crate::budget::deadline::Deadline;
use crate::log::writer::FactWriter;
use crate::messages::inbox::Inbox;

/// The address of one child's report.
pub(crate) struct ReportTarget {
    recipient: Arc<Mutex<Recipient>>,
    released: CancellationToken,
    /// The end of the time of whoever has the child.
    pub(crate) deadline: Arc<Deadline>,
}

/// Who gets the report.
#[derive(Clone)]
pub(crate) struct Recipient {
    pub(crate) sink: FactWriter,
    pub(crate) inbox: Arc<Inbox>,
    /// By which the child was started.
    pub(crate) call: CallId,
    /// Whether that call waits for the end; else the report goes into the mail.
    pub(crate) waits: bool,
    /// The child has ended: nothing changes any more.
    pub(crate) is_over: bool,
}

impl ReportTarget {
    pub(crate) fn new(recipient: Recipient, deadline: &Arc<Deadline>) -> Arc<Self> {
        let deadline = Deadline::new(None, Some(Arc::clone(deadline)));
        Arc::new(Self { recipient: Arc::new(Mutex::new(recipient)), released: CancellationToken::new(), deadline })
    }

    /// Keeps the address as it is, until this is dropped.
    pub(crate) async fn hold(&self) -> OwnedMutexGuard<Recipient> {
        Arc::clone(&self.recipient).lock_owned().await
    }

    /// The call that waited is answered now; the one who says so has recorded it.
    pub(crate) fn release(&self, recipient: &mut Recipient) {
        recipient.waits = false;
        self.released.cancel();
    }

    /// Waits until the call need not wait any more.
    pub(crate) async fn released(&self) {
        self.released.cancelled().await;
    }
}
