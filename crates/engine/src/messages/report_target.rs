//! The recipient of a child's report: the call that waits for it, or the inbox of its parent.
//!
//! The child's ending, release and adoption exclude each other: each holds the address while it changes the recipient.

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
    /// Deadline of the task that has the child.
    pub(crate) deadline: Arc<Deadline>,
}

/// The recipient of the report.
#[derive(Clone)]
pub(crate) struct Recipient {
    pub(crate) sink: FactWriter,
    pub(crate) inbox: Arc<Inbox>,
    /// The call that started the child.
    pub(crate) call: CallId,
    /// True if that call waits for the end; otherwise the report goes into the inbox.
    pub(crate) waits: bool,
    /// The child has ended: nothing changes any more.
    pub(crate) is_over: bool,
}

impl ReportTarget {
    pub(crate) fn new(recipient: Recipient, deadline: &Arc<Deadline>) -> Arc<Self> {
        let deadline = Deadline::new(None, Some(Arc::clone(deadline)));
        Arc::new(Self { recipient: Arc::new(Mutex::new(recipient)), released: CancellationToken::new(), deadline })
    }

    /// Locks the recipient until the guard is dropped.
    pub(crate) async fn hold(&self) -> OwnedMutexGuard<Recipient> {
        Arc::clone(&self.recipient).lock_owned().await
    }

    /// Lets the waiting call return. The caller has written the release to the log.
    pub(crate) fn release(&self, recipient: &mut Recipient) {
        recipient.waits = false;
        self.released.cancel();
    }

    /// Waits until the call is released.
    pub(crate) async fn released(&self) {
        self.released.cancelled().await;
    }
}
