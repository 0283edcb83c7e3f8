//! The test of a recorded task: whether its outcome can stand for the same request made again.

use sortie_journal::{Journal, TaskState};
use sortie_protocol::{Event, Fact, Job, Status, TaskId, TaskOutcome, Timestamp, ToolCall};

use super::key::{Key, task_tool};

/// How a task ended that did nothing but read.
pub(super) struct Done {
    pub(super) outcome: TaskOutcome,
    pub(super) at: Timestamp,
    /// Who had it done.
    pub(super) parent: Option<TaskId>,
}

/// The ending of a task that was asked just this and did nothing but read what `covers` says; nothing, if it is another
/// one, did anything else, is gone, or has gone on since.
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

/// What one log says.
struct Log<'a, C> {
    covers: &'a C,
    only_reads: bool,
    job: Option<Box<Job>>,
    done: Option<Done>,
}

impl<'a, C: Fn(&ToolCall) -> bool> Log<'a, C> {
    /// `None` where the task did more than read, and where its log cannot be read.
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
            // What was refused, here or now, may be allowed another time.
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
            // Commands, words from outside, and whatever this version does not know. One that was taken over has not
            // done it all under the same configuration.
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

    /// The child has a log of its own.
    fn delegates(&self, call: &ToolCall) -> bool {
        self.job.as_ref().and_then(|job| task_tool(job)).is_some_and(|tool| tool == call.tool)
    }
}
