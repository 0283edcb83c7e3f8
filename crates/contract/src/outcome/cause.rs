//! Causes of failures as dialects distinguish them: fewer kinds than the engine has codes.

use sortie_protocol::{Failure, FailureCode, Limit};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The caller must change the call.
    Arguments,
    UnknownModel,
    UnknownAgent,
    /// The agent's own file is broken or set aside. The message says where and why.
    UnusableAgent,
    NoAgents,
    /// Delegation is disabled here.
    SwitchedOff,
    /// A rule, a person or a hook refused.
    Refused,
    /// The agent is already running further up.
    Circle,
    Depth,
    /// The agent needs a tool that it may not use.
    ToolAccess,
    /// There are or were too many tasks, for now or for good.
    TooMany,
    /// The route to the model does not work at all.
    Route,
    Timeout,
    /// A limit was reached before there was any text.
    Limit(Limit),
    /// Any other failure during the work.
    Breakdown,
}

impl Cause {
    pub(crate) fn of(failure: &Failure) -> Self {
        use FailureCode as Code;
        match &failure.code {
            Code::InvalidArguments
            | Code::Unsupported
            | Code::EmptyPrompt
            | Code::PromptTooLong
            | Code::NoRoom
            | Code::ModelOverride
            | Code::UnknownTemplate
            | Code::TemplateArguments => Self::Arguments,
            Code::UnknownModel => Self::UnknownModel,
            // Without a list of agents there is none, whatever the code.
            Code::UnknownAgent if !failure.details.is_empty() => Self::UnknownAgent,
            Code::UnknownAgent | Code::NoAgents => Self::NoAgents,
            Code::UnusableAgent => Self::UnusableAgent,
            Code::DelegationOff => Self::SwitchedOff,
            Code::Permission | Code::Vetoed => Self::Refused,
            Code::Circular => Self::Circle,
            Code::Depth => Self::Depth,
            Code::ToolAccess => Self::ToolAccess,
            Code::MaxChildren | Code::DelegationRate => Self::TooMany,
            Code::NoModel | Code::ModelSetup | Code::ModelAuth | Code::ModelNotFound | Code::ModelUnreachable => {
                Self::Route
            }
            Code::Timeout | Code::Stalled => Self::Timeout,
            Code::Limit(
                limit @ (Limit::Turns | Limit::Tokens | Limit::Cost | Limit::Context | Limit::Output | Limit::Loop),
            ) => Self::Limit(*limit),
            _ => Self::Breakdown,
        }
    }
}
