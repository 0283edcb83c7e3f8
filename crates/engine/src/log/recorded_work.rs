//! The work of a task that another process runs, as its log shows it.

use sortie_journal::{Journal, JournalError, Worked};
use sortie_protocol::{Event, Fact, TaskId, Timestamp, Usage};
use sortie_tools::Work;

use crate::log::activity::LatestActivity;

/// Work of one task, read from its log bit by bit.
#[derive(Debug)]
pub(crate) struct RecordedWork {
    task: TaskId,
    /// Number of the next event to read.
    next: u64,
    activity: LatestActivity,
    worked: Option<Worked>,
    is_admitted: bool,
    usage: Usage,
}

impl RecordedWork {
    pub(crate) fn new(task: TaskId) -> Self {
        let (activity, usage) = (LatestActivity::default(), Usage::default());
        Self { task, next: 1, activity, worked: None, is_admitted: false, usage }
    }

    /// Reads the events since the last call.
    pub(crate) fn read_on(&mut self, journal: &dyn Journal) -> Result<(), JournalError> {
        journal.read_each(self.task, self.next, &mut |event| self.see(&event))
    }

    /// Returns the work up to `now`; `None` while the task waits for a slot.
    pub(crate) fn work(&self, now: Timestamp) -> Option<Work> {
        let glimpse = self.activity.glimpse();
        let elapsed = self.worked.as_ref().filter(|_| self.is_admitted)?.so_far(now);
        Some(Work {
            turn: glimpse.turn,
            tool_calls: self.usage.tool_calls,
            tokens: self.usage.total_tokens(),
            elapsed,
            last: glimpse.last,
            awaits_answer: false,
        })
    }

    fn see(&mut self, Event { seq, time, fact, .. }: &Event) {
        self.next = seq + 1;
        self.activity.see(fact);
        self.worked.get_or_insert_with(|| Worked::begin(*time)).hear(fact, *time);
        match fact {
            Fact::TaskResumed { .. } => self.is_admitted = false,
            Fact::TaskAdmitted => self.is_admitted = true,
            Fact::ModelReplied { reply, .. } => self.usage += Usage { tool_calls: 0, ..reply.usage },
            Fact::ModelLost { usage, .. }
            | Fact::ModelRetried { usage, .. }
            | Fact::Assisted { usage, .. }
            | Fact::Compacted { usage, .. } => self.usage += Usage { tool_calls: 0, ..*usage },
            Fact::CallFinished { output, refused: false } if !output.output.did_not_run => {
                self.usage += Usage { tool_calls: 1, ..Usage::default() };
            }
            _ => {}
        }
    }
}
