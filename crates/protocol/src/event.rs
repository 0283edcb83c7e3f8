//! The facts of a task, numbered and versioned: all that anyone ever sees of it is made from them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    AgentConfig, CallId, CallOutput, Compaction, Failure, Job, Limit, MailMark, ModelChoice, QuestionMark, Reply,
    Sender, TaskId, TaskOutcome, Timestamp, ToolCall, Usage,
};

/// The version that is written. A change of a stored shape raises it and gets golden files of its own.
pub const VERSION: u32 = 1;

/// One fact about one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub v: u32,
    /// Counts from 1 within the task, without gaps, across its legs.
    pub seq: u64,
    pub task_id: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<TaskId>,
    pub depth: u32,
    /// Counts from 1: start, resume and follow-up each open a leg, and each leg has one ending.
    pub leg: u32,
    pub time: Timestamp,
    #[serde(flatten)]
    pub fact: Fact,
}

/// What happened. Past tense, and complete enough to rebuild the task's history from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Fact {
    /// The task exists. It holds all that a resume needs.
    TaskStarted {
        job: Box<Job>,
    },
    /// The task goes on. In the leg that was open it is a takeover, under a higher attempt; once that has ended, it
    /// opens the next one.
    TaskResumed {
        /// A follow-up: joins the conversation as a user message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
        /// What holds from here on: never more than was granted, the limits that are left, the tools that still exist.
        config: Box<AgentConfig>,
        /// What is different from before; it ends in the outcome.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<String>,
        /// It has a parent, which has no part in this: a person goes on with it, or it is taken to be ended. What it
        /// leaves is kept for its next leg, and is nobody else's.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        alone: bool,
    },
    /// The task got a slot and runs.
    TaskAdmitted,
    /// A request goes to the model.
    ModelCalled {
        turn: u32,
        /// What it is estimated to make the model read; the reply's usage tells how far that was off.
        #[serde(default, skip_serializing_if = "is_zero")]
        input_tokens: u64,
        /// What is held back for it where a limit is to be kept: whoever finds the call without an answer counts all of
        /// it as used.
        #[serde(default, skip_serializing_if = "Usage::is_nothing")]
        reserved: Usage,
    },
    /// A call brought no reply, and is not tried again. What it used as far as is known, or else is taken to have.
    ModelLost {
        turn: u32,
        usage: Usage,
    },
    /// A try failed and another one follows.
    ModelRetried {
        turn: u32,
        attempt: u32,
        wait_ms: u64,
        error: Failure,
        /// What the try had used, as far as its provider had said so. The reply that may follow does not count it
        /// again.
        #[serde(default, skip_serializing_if = "Usage::is_nothing")]
        usage: Usage,
    },
    ModelReplied {
        turn: u32,
        reply: Reply,
    },
    /// The conversation was shortened.
    Compacted {
        #[serde(flatten)]
        compaction: Compaction,
        /// What the call used that wrote the summary. It is no turn.
        #[serde(default, skip_serializing_if = "Usage::is_nothing")]
        usage: Usage,
    },
    /// A limit was reached, and the model is asked for its report in these words, which join the conversation.
    LimitReached {
        limit: Limit,
        text: String,
    },
    /// The answer does not fit the schema that was asked for, and the model is told so in these words, which join the
    /// conversation.
    AnswerReturned {
        text: String,
    },
    /// A tool is about to run. `idempotent` tells a recovery whether it may run again.
    CallStarted {
        call: ToolCall,
        idempotent: bool,
    },
    /// A call runs in a process of its own. Whoever takes over ends it: the start time, in the system's own count,
    /// tells it from a later process with the same pid.
    ProcessStarted {
        call: CallId,
        pid: u32,
        started: u64,
    },
    /// A call that takes a while has something to show: one short line, now and then. What it returns says it all.
    CallProgressed {
        call: CallId,
        text: String,
    },
    /// A person is asked whether a call may run, and what else that would allow.
    ApprovalAsked {
        call: CallId,
        rule: String,
    },
    ApprovalAnswered {
        call: CallId,
        answer: ApprovalAnswer,
    },
    /// A tool had a question answered by a model of its own; that is no turn of the task.
    Assisted {
        model: ModelChoice,
        usage: Usage,
    },
    /// The call in `call` was answered by starting a task; an interrupted call re-attaches to it.
    ChildStarted {
        call: CallId,
        child: TaskId,
        /// The call does not wait for it: its report comes with the mail.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        background: bool,
    },
    /// A call has ceased to wait for its child: its report comes with the mail.
    ChildReleased {
        call: CallId,
        child: TaskId,
    },
    /// The child of a task below, which has ended before it, is this task's now. Recorded together with that ending.
    ChildAdopted {
        child: TaskId,
        /// The leg whose report nobody has read, if it has ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended_leg: Option<u32>,
    },
    /// The child that answers `call`, or that worked beside this task, has ended; its outcome, which stands in its own
    /// log, is this task's now. Recorded together with that ending, and so exactly once.
    ChildEnded {
        call: CallId,
        child: TaskId,
        child_leg: u32,
    },
    /// The call in `call` was answered with the outcome of a task that had done the same before, and is nobody's here.
    /// Its report can be read, and nothing else can be done with it.
    OutcomeGiven {
        call: CallId,
        from: TaskId,
    },
    CallFinished {
        #[serde(flatten)]
        output: CallOutput,
        /// Refused before it ran.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        refused: bool,
    },
    /// Somebody has written to the task, which reads it at its next turn.
    MessageArrived {
        /// Counts from 1 within the task.
        number: u32,
        from: Sender,
        text: String,
        /// The command by which it came, if it came from another process.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<i64>,
        /// The call of its sender by which it came, if an agent's call sent it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
    },
    /// What had come is in the conversation now, as one message in these words.
    MailRead {
        mail: MailMark,
        text: String,
    },
    /// The task has asked, and does nothing before it is answered or the time for it is over.
    QuestionAsked {
        call: CallId,
        to: Addressee,
        text: String,
    },
    /// The task has a finding that the others of its tree may read.
    NotePosted {
        text: String,
    },
    /// The task has nothing to do until something comes.
    TaskParked {
        waits_for: Vec<TaskId>,
    },
    /// Others have what the task needs to go on, and it waits for its turn.
    TaskQueued {
        needs: Need,
    },
    /// The engine itself has told the model something, in these words, which join the conversation.
    Reminded {
        text: String,
        /// The commands in the background of which it tells that they were lost with their process, by number.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lost_shells: Vec<u32>,
        /// The questions of which it tells that they wait for its answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        questions: Vec<QuestionMark>,
    },
    /// Something a person should know that changed nothing.
    Noticed {
        text: String,
    },
    /// The leg is over.
    TaskEnded {
        outcome: Box<TaskOutcome>,
    },
    /// A fact that this version does not know; readers pass over it.
    #[serde(other)]
    Unknown,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a person said to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalAnswer {
    /// This call.
    Once,
    /// All that the rule covers, in this task tree.
    Tree,
    /// The same for good.
    Always,
    No,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Addressee {
    /// The task that started this one.
    Parent,
    /// Whoever sits at a terminal.
    Person,
}

/// What tasks share, and wait for while others have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// One of the places for tasks that work at the same time.
    Slot,
    /// Tokens or money, held back for calls of others of its tree that are under way.
    Tokens,
}

impl fmt::Display for Need {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Slot => "a slot",
            Self::Tokens => "tokens that others hold",
        })
    }
}

impl Fact {
    /// The name under which the fact is stored.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TaskStarted { .. } => "task_started",
            Self::TaskResumed { .. } => "task_resumed",
            Self::TaskAdmitted => "task_admitted",
            Self::ModelCalled { .. } => "model_called",
            Self::ModelLost { .. } => "model_lost",
            Self::ModelRetried { .. } => "model_retried",
            Self::ModelReplied { .. } => "model_replied",
            Self::Compacted { .. } => "compacted",
            Self::LimitReached { .. } => "limit_reached",
            Self::AnswerReturned { .. } => "answer_returned",
            Self::CallStarted { .. } => "call_started",
            Self::ProcessStarted { .. } => "process_started",
            Self::CallProgressed { .. } => "call_progressed",
            Self::ApprovalAsked { .. } => "approval_asked",
            Self::ApprovalAnswered { .. } => "approval_answered",
            Self::Assisted { .. } => "assisted",
            Self::ChildStarted { .. } => "child_started",
            Self::ChildReleased { .. } => "child_released",
            Self::ChildAdopted { .. } => "child_adopted",
            Self::ChildEnded { .. } => "child_ended",
            Self::OutcomeGiven { .. } => "outcome_given",
            Self::CallFinished { .. } => "call_finished",
            Self::MessageArrived { .. } => "message_arrived",
            Self::MailRead { .. } => "mail_read",
            Self::QuestionAsked { .. } => "question_asked",
            Self::NotePosted { .. } => "note_posted",
            Self::TaskParked { .. } => "task_parked",
            Self::TaskQueued { .. } => "task_queued",
            Self::Reminded { .. } => "reminded",
            Self::Noticed { .. } => "noticed",
            Self::TaskEnded { .. } => "task_ended",
            Self::Unknown => "unknown",
        }
    }
}
