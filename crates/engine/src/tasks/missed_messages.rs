//! Messages that were left for a task while nobody ran it: it has them before its first turn, in their order.
//!
//! Commands stay in the journal as long as their task may go on. From here on the ear delivers what comes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError};

use sortie_journal::{CommandId, Journal, JournalError};
use sortie_protocol::{Command, Fact};
use tokio::runtime::Handle;

use crate::messages::running_task::{Courier, Resident};
use crate::messages::running_tasks::{MOST, Present};
use crate::tasks::task::Task;

/// Up to which command a task has its messages by another way than the ear's.
#[derive(Debug)]
pub(crate) struct CaughtUp(AtomicI64);

impl CaughtUp {
    /// A task that nobody can have written to before.
    pub(crate) fn from_the_start() -> Self {
        Self(AtomicI64::new(0))
    }

    /// One that goes on: what was left comes first, so the ear has to wait.
    pub(crate) fn not_yet() -> Self {
        Self(AtomicI64::new(i64::MAX))
    }

    /// Whether the ear has to deliver this one.
    pub(crate) fn is_behind(&self, command: CommandId) -> bool {
        self.0.load(Ordering::Acquire) < command.0
    }
}

impl Task {
    /// Delivers what was left for a task that goes on. Where commands cannot be read it goes on without, and says so.
    pub(crate) async fn catch_up(&self, last_command: i64) -> Result<(), JournalError> {
        let Some(resident) = self.engine.present.find(self.job.task) else { return Ok(()) };
        let (present, journal) = (Arc::clone(&self.engine.present), Arc::clone(&self.engine.journal));
        let runtime = Handle::current();
        let deliver = move || present.catch_up(&resident, journal.as_ref(), CommandId(last_command), &runtime);
        // A delivery that breaks down is no reason to end the task.
        let unread = match tokio::task::spawn_blocking(deliver).await {
            Ok(delivered) => delivered?,
            Err(broken) => Some(broken.to_string()),
        };
        if let Some(why) = unread {
            let text = format!("messages that were left for this task could not be read: {why}");
            self.sink.append(Fact::Noticed { text }).await?;
        }
        Ok(())
    }
}

impl Present {
    /// Delivers the messages behind `after` that nobody has withdrawn, and leaves later ones to the ear, which does not listen meanwhile. The inner
    /// text says why some may be missing.
    fn catch_up(
        &self,
        resident: &Resident,
        journal: &dyn Journal,
        after: CommandId,
        runtime: &Handle,
    ) -> Result<Option<String>, JournalError> {
        let _not_now = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut last, mut sent) = (after, BTreeMap::new());
        let unread = loop {
            let left = match journal.commands_after(last, MOST) {
                Ok(left) => left,
                Err(error) => break Some(error.to_string()),
            };
            let Some((newest, _)) = left.last() else { break None };
            last = *newest;
            for (number, command) in left {
                match command {
                    Command::Send { task, from, text } if task == resident.job.task => {
                        sent.insert(number.0, (from, text));
                    }
                    Command::Withdraw { command, .. } => drop(sent.remove(&command)),
                    _ => {}
                }
            }
        };
        for (number, message) in sent {
            runtime.block_on(resident.write(message, Courier::Command(CommandId(number))))?;
        }
        resident.caught_up.0.store(last.0, Ordering::Release);
        Ok(unread)
    }
}
