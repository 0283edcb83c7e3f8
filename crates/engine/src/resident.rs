//! A task that runs here, as others in this process reach it: to stop it, to write to it, to let it go on by itself.

use std::sync::Arc;

use sortie_journal::{Journal, JournalError};
use sortie_protocol::{Fact, Job, Sender};
use sortie_sandbox::SpillDir;
use tokio_util::sync::CancellationToken;

use crate::account::Account;
use crate::address::Address;
use crate::inbox::Inbox;
use crate::left_over::CaughtUp;
use crate::sink::Sink;

pub(crate) struct Resident {
    pub(crate) job: Arc<Job>,
    pub(crate) cancel: CancellationToken,
    pub(crate) sink: Sink,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) account: Arc<Account>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) reports: Arc<SpillDir>,
    /// Where its report goes; `None` for a task without a parent here.
    pub(crate) address: Option<Arc<Address>>,
    /// Cancelled once its ending is on disk and delivered.
    pub(crate) over: CancellationToken,
    /// Whether this contract knows of work in the background.
    pub(crate) releasable: bool,
    /// Which messages of other processes the ear delivers.
    pub(crate) caught_up: CaughtUp,
}

impl Resident {
    /// Writes to the task. Once this says true, it is on disk, and the task does not end before it has read it. False: it
    /// is about to end, and reads nothing more.
    pub(crate) async fn write(
        &self,
        (from, text): (Sender, String),
        command: Option<i64>,
    ) -> Result<bool, JournalError> {
        let Some(arrival) = self.inbox.arrival() else { return Ok(false) };
        let number = arrival.number;
        let fact = Fact::MessageArrived { number, from: from.clone(), text: text.clone(), command };
        match self.sink.append_synced(fact).await {
            Ok(()) => {
                arrival.is_here(from, text);
                Ok(true)
            }
            Err(JournalError::LegOver { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Answers the call that waits for the task, which goes on by itself. False if no call waits, or the contract has no
    /// words for it.
    pub(crate) async fn release(&self) -> Result<bool, JournalError> {
        let Some(address) = self.address.as_ref().filter(|_| self.releasable) else { return Ok(false) };
        let mut recipient = address.hold().await;
        if recipient.is_over || !recipient.waits {
            return Ok(false);
        }
        let (call, child) = (recipient.call.clone(), self.job.task);
        recipient.sink.append_synced(Fact::ChildReleased { call, child }).await?;
        recipient.inbox.expect(child);
        self.tell_in_a_file().await;
        address.release(&mut recipient);
        Ok(true)
    }

    /// What the task has done so far, and does from here on, is told in a file. Without one it works all the same.
    async fn tell_in_a_file(&self) {
        let (sink, journal, reports) = (self.sink.clone(), Arc::clone(&self.journal), Arc::clone(&self.reports));
        let task = self.job.task;
        let tell = move || {
            let so_far = journal.read(task).unwrap_or_default();
            sink.tell_in(&reports, &so_far);
        };
        tokio::task::spawn_blocking(tell).await.ok();
    }
}
