//! The test whether a recorded task's outcome can be reused for the same request.

use sortie_journal::{Journal, TaskState};
use sortie_protocol::{Event, Fact, Job, Status, TaskId, TaskOutcome, Timestamp, ToolCall};

use super::key::{Key, task_tool};

/// Ending of a task that only read.
pub(super) struct Done {
    pub(super) outcome: TaskOutcome,
    pub(super) at: Timestamp,
    /// The task that started it.
    pub(super) parent: Option<TaskId>,
}

/// Returns the ending of a task with this request that only read what `covers` accepts. `None` for any other task, one
/// that is gone, or one resumed since.
pub(super) fn done(
    journal: &dyn Journal,
    task: TaskId,
    request: &Key,
    covers: impl Fn(&ToolCall) -> bool,
) -> Option<Done> {
    let tree = journal.tree(task).ok()?;
    let is_over = tree.iter().all(|header| header.leg == 1 && header.state == TaskState::Ended(Status::Completed));
    if !is_over {
        return None;
    }
    let mut first = None;
    for header in tree {
        let log = Log::read(journal, header.task_id, &covers)?;
        first.get_or_insert(log);
    }
    let Log { job, done, .. } = first?;
    let is_same = Key::of_request(job?.as_ref()) == *request;
    done.filter(|done| is_same && done.outcome.files_changed.is_empty())
}

/// Fold state of one log.
struct Log<'a, C> {
    covers: &'a C,
    only_reads: bool,
    job: Option<Box<Job>>,
    done: Option<Done>,
}

impl<'a, C: Fn(&ToolCall) -> bool> Log<'a, C> {
    /// Reads a log; `None` if it cannot be read or the task did more than read.
    fn read(journal: &dyn Journal, task: TaskId, covers: &'a C) -> Option<Self> {
        let mut log = Self { covers, only_reads: true, job: None, done: None };
        journal.read_each(task, 1, &mut |event| log.take(event)).ok()?;
        Some(log).filter(|log| log.only_reads)
    }

    fn take(&mut self, event: Event) {
        self.only_reads &= self.only_reads(&event.fact);
        match event.fact {
            Fact::TaskStarted { job } => self.job = Some(job),
            Fact::TaskEnded { outcome } => {
                self.done = Some(Done { outcome: *outcome, at: event.time, parent: event.parent_id });
            }
            _ => {}
        }
    }

    fn only_reads(&self, fact: &Fact) -> bool {
        match fact {
            Fact::CallStarted { call, .. } => self.delegates(call) || (self.covers)(call),
            // A call refused here or now may be allowed another time.
            Fact::CallFinished { output, refused } => {
                !refused && !output.output.did_not_run && output.output.files_changed.is_empty()
            }
            Fact::TaskStarted { .. }
            | Fact::TaskAdmitted
            | Fact::ModelCalled { .. }
            | Fact::ModelLost { .. }
            | Fact::ModelRetried { .. }
            | Fact::ModelReplied { .. }
            | Fact::Compacted { .. }
            | Fact::LimitReached { .. }
            | Fact::AnswerReturned { .. }
            | Fact::CallProgressed { .. }
            | Fact::ChildStarted { .. }
            | Fact::ChildReleased { .. }
            | Fact::ChildAdopted { .. }
            | Fact::ChildEnded { .. }
            | Fact::OutcomeGiven { .. }
            | Fact::MailRead { .. }
            | Fact::TaskParked { .. }
            | Fact::TaskQueued { .. }
            | Fact::Reminded { .. }
            | Fact::Noticed { .. }
            | Fact::TaskEnded { .. } => true,
            // Commands, messages from outside, and facts that this version does not know. A resumed task may have
            // worked under several configurations.
            Fact::TaskResumed { .. }
            | Fact::ProcessStarted { .. }
            | Fact::ApprovalAsked { .. }
            | Fact::ApprovalAnswered { .. }
            | Fact::Assisted { .. }
            | Fact::MessageArrived { .. }
            | Fact::QuestionAsked { .. }
            | Fact::NotePosted { .. }
            | Fact::Unknown => false,
        }
    }

    /// True for a delegation: the child has a log of its own.
    fn delegates(&self, call: &ToolCall) -> bool {
        self.job.as_ref().and_then(|job| task_tool(job)).is_some_and(|tool| tool == call.tool)
    }
}
