//! The facts of a task, numbered and versioned: every view of a task is derived from them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    AgentConfig, CallId, CallOutput, Compaction, Failure, Job, Limit, MailMark, ModelChoice, QuestionMark, Reply,
    Sender, TaskId, TaskOutcome, Timestamp, ToolCall, Usage,
};

/// The version written. A change to a stored shape raises it and needs golden files of its own.
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

/// Something that happened. Past tense, and complete enough to rebuild the task's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Fact {
    /// The task exists. The job holds everything that a resume needs.
    TaskStarted {
        job: Box<Job>,
    },
    /// The task was resumed. In a leg still open this is a takeover, under a higher attempt; otherwise it opens the
    /// next leg.
    TaskResumed {
        /// A follow-up: joins the conversation as a user message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
        /// Title of the call that resumes the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The configuration from here on: never more than was granted, with the limits that are left and the tools
        /// that still exist.
        config: Box<AgentConfig>,
        /// Differences from before, reported in the outcome.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<String>,
        /// The task has a parent, which is not involved: a person resumed it, or it is being ended as interrupted. What
        /// it leaves is kept for its own next leg and goes to no other task.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        alone: bool,
    },
    /// The task got a slot and runs.
    TaskAdmitted,
    /// A request was sent to the model.
    ModelCalled {
        turn: u32,
        /// Estimated input of the request; the usage in the reply shows how far off it was.
        #[serde(default, skip_serializing_if = "is_zero")]
        input_tokens: u64,
        /// Usage reserved to keep a limit. A recovery that finds no reply to the call counts all of it as used.
        #[serde(default, skip_serializing_if = "Usage::is_nothing")]
        reserved: Usage,
    },
    /// A call brought no reply and is not retried. Its usage, as far as known, or else as assumed.
    ModelLost {
        turn: u32,
        usage: Usage,
    },
    /// A model call failed and is retried.
    ModelRetried {
        turn: u32,
        attempt: u32,
        wait_ms: u64,
        error: Failure,
        /// Usage of the failed call, as far as the provider reported it. The reply that may follow does not count it
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
        /// Usage of the call that wrote the summary. It is not a turn.
        #[serde(default, skip_serializing_if = "Usage::is_nothing")]
        usage: Usage,
    },
    /// A limit was reached. This text asks the model for its report, and joins the conversation.
    LimitReached {
        limit: Limit,
        text: String,
    },
    /// The answer does not fit the requested schema. This text tells the model so, and joins the conversation.
    AnswerReturned {
        text: String,
    },
    /// A tool is about to run. `idempotent` tells a recovery whether it may run again.
    CallStarted {
        call: ToolCall,
        idempotent: bool,
    },
    /// A call runs in a process of its own. A takeover ends that process: the start time, in the system's own clock,
    /// tells it from a later process with the same pid.
    ProcessStarted {
        call: CallId,
        pid: u32,
        started: u64,
    },
    /// A progress line of a long-running call. Its output repeats everything.
    CallProgressed {
        call: CallId,
        text: String,
    },
    /// A person was asked to approve a call; `rule` is what else an approval would allow.
    ApprovalAsked {
        call: CallId,
        rule: String,
    },
    ApprovalAnswered {
        call: CallId,
        answer: ApprovalAnswer,
    },
    /// A tool had a question answered by a model of its own; that is not a turn of the task.
    Assisted {
        model: ModelChoice,
        usage: Usage,
    },
    /// The call in `call` was answered by starting a task; an interrupted call re-attaches to it.
    ChildStarted {
        call: CallId,
        child: TaskId,
        /// The call does not wait for the child: its report arrives as mail.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        background: bool,
    },
    /// A call stopped waiting for its child: the report arrives as mail.
    ChildReleased {
        call: CallId,
        child: TaskId,
    },
    /// This task took over the child of a descendant that ended first. Recorded together with that ending.
    ChildAdopted {
        child: TaskId,
        /// The leg with the unread report, if it has ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended_leg: Option<u32>,
    },
    /// A child has ended that answers `call` or ran in the background. Its outcome stays in its own log and now belongs
    /// to this task. Recorded together with that ending, and so exactly once.
    ChildEnded {
        call: CallId,
        child: TaskId,
        child_leg: u32,
    },
    /// The call in `call` was answered with the outcome of an earlier, identical task that is not related to this one.
    /// Only its report can be read.
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
    /// A message arrived, which the task reads at its next turn.
    MessageArrived {
        /// Counts from 1 within the task.
        number: u32,
        from: Sender,
        text: String,
        /// The command that brought it, if it came from another process.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<i64>,
        /// The sender's call that sent it, if the sender is an agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
    },
    /// The mail that had arrived joined the conversation, as one message with this text.
    MailRead {
        mail: MailMark,
        text: String,
    },
    /// The task asked a question. It does nothing until it gets an answer or the question times out.
    QuestionAsked {
        call: CallId,
        to: Addressee,
        text: String,
    },
    /// The task posted a finding that other tasks of its tree may read.
    NotePosted {
        text: String,
    },
    /// The task has nothing to do until mail arrives.
    TaskParked {
        waits_for: Vec<TaskId>,
    },
    /// The task waits for something that other tasks hold.
    TaskQueued {
        needs: Need,
    },
    /// The engine itself told the model something; this text joins the conversation.
    Reminded {
        text: String,
        /// Background commands that the text reports as lost with their process, by number.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lost_shells: Vec<u32>,
        /// Unanswered questions that the text is about.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        questions: Vec<QuestionMark>,
    },
    /// Information for a person that changed nothing.
    Noticed {
        text: String,
    },
    /// The leg is over.
    TaskEnded {
        outcome: Box<TaskOutcome>,
    },
    /// A fact that this version does not know; readers skip it.
    #[serde(other)]
    Unknown,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A person's decision on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalAnswer {
    /// This call only.
    Once,
    /// Everything the rule covers, in this task tree.
    Tree,
    /// Everything the rule covers, for good.
    Always,
    No,
}

/// Recipient of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Addressee {
    /// The task that started this one.
    Parent,
    /// The person at the terminal.
    Person,
}

/// A shared resource that tasks wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// One of the places for tasks that work at the same time.
    Slot,
    /// Tokens or money, reserved by calls under way elsewhere in the tree.
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
