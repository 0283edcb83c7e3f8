//! Failures: a stable code for programs, a message for people.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Limit, Status};

/// A failure: a stable code for programs, and a message that tells people what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub code: FailureCode,
    pub message: String,
    /// Names or figures from the message, for contracts with texts of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// Path of the setting that refused, if the message names one. Not stored.
    #[serde(skip)]
    pub setting: Option<&'static str>,
}

/// Declares the codes with their names on the wire and in the journal.
macro_rules! failure_codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal,)*) => {
        /// Kind of a failure. Its name on the wire and in the journal never changes.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum FailureCode {
            $($(#[$doc])* $code,)*
            /// A limit was reached before the task had written anything.
            Limit(Limit),
            /// A code of another version, kept as it was written.
            Other(Box<str>),
        }

        impl FailureCode {
            /// Name on the wire and in the journal.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$code => $name,)*
                    Self::Limit(limit) => limit_name(*limit),
                    Self::Other(name) => name,
                }
            }

            /// Reads a name back. An unknown one is kept as it is.
            pub fn read(name: &str) -> Self {
                match name {
                    $($name => Self::$code,)*
                    _ => LIMITS.into_iter().find(|limit| limit_name(*limit) == name).map_or_else(|| Self::Other(name.into()), Self::Limit),
                }
            }
        }
    };
}

failure_codes! {
    // About the call.
    InvalidArguments = "invalid_arguments",
    Unsupported = "unsupported",
    EmptyPrompt = "empty_prompt",
    PromptTooLong = "prompt_too_long",
    /// A completed task was resumed without a prompt.
    PromptMissing = "prompt_missing",
    UnknownTemplate = "unknown_template",
    TemplateArguments = "template_arguments",
    UnknownAgent = "unknown_agent",
    /// The agent's file is broken or set aside.
    UnusableAgent = "unusable_agent",
    NoAgents = "no_agents",
    /// The agent of a resumed task is gone.
    AgentGone = "agent_gone",
    UnknownModel = "unknown_model",
    /// Calls may not choose a model here.
    ModelOverride = "model_override",
    OutputSchema = "output_schema",

    // About permissions.
    /// A rule or a person refused.
    Permission = "permission",
    /// A start hook refused.
    Vetoed = "vetoed",
    /// The agent needs a tool that it is not allowed.
    ToolAccess = "tool_access",
    /// The agent is already running further up.
    Circular = "circular",
    Depth = "depth",
    DelegationOff = "delegation_off",
    BackgroundOff = "background_off",
    ResumeOff = "resume_off",
    /// The grant could not be read.
    Grant = "grant",
    NotAllowed = "not_allowed",

    // About limits.
    MaxChildren = "max_children",
    DelegationRate = "delegation_rate",
    /// A limit leaves too little for a first model call.
    NoRoom = "no_room",
    UnknownPrice = "unknown_price",
    Timeout = "timeout",
    Cancelled = "cancelled",
    Interrupted = "interrupted",

    // About other tasks.
    NoSuchTask = "no_such_task",
    UnknownTask = "unknown_task",
    AmbiguousTask = "ambiguous_task",
    OwnTask = "own_task",
    NotOwnTask = "not_own_task",
    NoTask = "no_task",
    NoTree = "no_tree",
    NoReport = "no_report",
    HasEnded = "has_ended",
    StillOpen = "still_open",
    StillRunning = "still_running",
    IsStopping = "is_stopping",
    WaitedFor = "waited_for",
    /// The process that runs the task is not visible from here.
    OutOfSight = "out_of_sight",
    Expired = "expired",
    OtherWorkspace = "other_workspace",
    OtherContract = "other_contract",
    /// The parent could not be resumed after a crash.
    AboveFailed = "above_failed",
    /// There is nobody to answer.
    Nobody = "nobody",
    NoAnswer = "no_answer",

    // About the model.
    NoModel = "no_model",
    ModelSetup = "model_setup",
    ModelAuth = "model_auth",
    ModelNotFound = "model_not_found",
    ModelBadRequest = "model_bad_request",
    ContextLength = "context_length",
    RateLimited = "rate_limited",
    ModelOverloaded = "model_overloaded",
    ModelServerError = "model_server_error",
    ModelUnreachable = "model_unreachable",
    ModelStreamCut = "model_stream_cut",
    Stalled = "stalled",
    ModelGarbage = "model_garbage",
    ModelReplyTooLarge = "model_reply_too_large",
    Refusal = "refusal",
    EmptyAnswer = "empty_answer",

    // About Sortie itself.
    Journal = "journal",
    Internal = "internal",
}

const LIMITS: [Limit; 9] = [
    Limit::Turns,
    Limit::Tokens,
    Limit::Cost,
    Limit::Deadline,
    Limit::Stalled,
    Limit::Context,
    Limit::Output,
    Limit::Loop,
    Limit::NoAnswer,
];

fn limit_name(limit: Limit) -> &'static str {
    match limit {
        Limit::Turns => "limit_turns",
        Limit::Tokens => "limit_tokens",
        Limit::Cost => "limit_cost",
        Limit::Deadline => "limit_deadline",
        Limit::Stalled => "limit_stalled",
        Limit::Context => "limit_context",
        Limit::Output => "limit_output",
        Limit::Loop => "limit_loop",
        Limit::NoAnswer => "limit_no_answer",
    }
}

impl Failure {
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new(), setting: None }
    }

    /// Names the setting that refused, by its path.
    #[must_use]
    pub fn due_to(self, setting: &'static str) -> Self {
        Self { setting: Some(setting), ..self }
    }

    /// Adds the names or figures in the message.
    #[must_use]
    pub fn about(self, details: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { details: details.into_iter().map(Into::into).collect(), ..self }
    }

    /// Status of a task that never started: failed if its time ran out or Sortie could not do its part. After a signal
    /// it is interrupted, otherwise rejected.
    pub fn status_unstarted(&self) -> Status {
        match self.code {
            FailureCode::Timeout | FailureCode::Journal | FailureCode::Internal => Status::Failed,
            FailureCode::Interrupted => Status::Interrupted,
            _ => Status::Rejected,
        }
    }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for FailureCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FailureCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Ok(Self::read(&name))
    }
}
