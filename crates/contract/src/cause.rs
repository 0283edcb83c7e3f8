//! What a failure's code means to contracts, which tell fewer kinds apart than the engine does.

use sortie_protocol::{Failure, Limit};

use crate::json::INVALID;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The caller has to call differently.
    Arguments,
    UnknownModel,
    UnknownAgent,
    /// The agent's own file is broken, or set aside. The message says where and why.
    UnusableAgent,
    NoAgents,
    /// Nobody may delegate here.
    SwitchedOff,
    /// A rule, a person, or a program of theirs, said no.
    Refused,
    /// The agent is already at work further up.
    Circle,
    Depth,
    /// The agent needs a tool that it may not have.
    ToolAccess,
    /// There are or were enough tasks, for now or for good.
    TooMany,
    /// The way to the model does not work at all.
    Route,
    Timeout,
    /// A limit was reached before there were any words.
    Limit(Limit),
    /// Anything else: something broke while it worked.
    Breakdown,
}

impl Cause {
    pub(crate) fn of(failure: &Failure) -> Self {
        match failure.code.as_str() {
            INVALID | "unsupported" | "empty_prompt" | "prompt_too_long" | "model_override" | "unknown_template"
            | "template_arguments" => Self::Arguments,
            "unknown_model" => Self::UnknownModel,
            // A list of nothing says that there is nobody, whatever the code.
            "unknown_agent" if !failure.details.is_empty() => Self::UnknownAgent,
            "unknown_agent" | "no_agents" => Self::NoAgents,
            "unusable_agent" => Self::UnusableAgent,
            "delegation_off" => Self::SwitchedOff,
            "permission" | "vetoed" => Self::Refused,
            "circular" => Self::Circle,
            "depth" => Self::Depth,
            "tool_access" => Self::ToolAccess,
            "max_children" | "delegation_rate" => Self::TooMany,
            "model_setup" | "model_auth" | "model_not_found" | "model_unreachable" => Self::Route,
            "timeout" | "stalled" => Self::Timeout,
            "limit_turns" => Self::Limit(Limit::Turns),
            "limit_tokens" => Self::Limit(Limit::Tokens),
            "limit_cost" => Self::Limit(Limit::Cost),
            "limit_context" => Self::Limit(Limit::Context),
            "limit_output" => Self::Limit(Limit::Output),
            "limit_loop" => Self::Limit(Limit::Loop),
            _ => Self::Breakdown,
        }
    }
}
