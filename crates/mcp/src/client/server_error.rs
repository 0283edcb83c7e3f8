//! Errors of servers, each with a code that models and programs can distinguish.

use std::time::Duration;

use sortie_protocol::{Fault, ToolOutput};

use crate::client::live_connection::MAX_ROUNDS;
use crate::client::pending_request::MOST_TIMES;

/// Error text; it begins with the code.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum ServerError {
    #[error("mcp_unusable: the MCP server `{server}` cannot be started: {why}")]
    Unusable { server: String, why: String },
    #[error("mcp_unreachable: the MCP server `{server}` {why}")]
    Unreachable { server: String, why: String },
    #[error("mcp_timeout: the MCP server `{server}` is still starting; tasks that begin later can have its tools")]
    Starting { server: String },
    #[error("mcp_unreachable: the MCP server `{server}` {why}; it is tried again in {} s at the earliest", seconds(*left))]
    Resting { server: String, why: String, left: Duration },
    #[error(
        "mcp_timeout: the MCP server `{server}` was not ready within {} s (`start_timeout_seconds`){said}",
        within.as_secs()
    )]
    NotReady { server: String, within: Duration, said: String },
    #[error(
        "mcp_timeout: the MCP server `{server}` did not list its tools within {} s (`call_timeout_seconds`), and the call \
         was not made",
        within.as_secs()
    )]
    NotListed { server: String, within: Duration },
    #[error(
        "mcp_timeout: the MCP server `{server}` sent nothing for {} s (`call_timeout_seconds`); whether the call had its \
         effect is not known",
        within.as_secs()
    )]
    NoAnswer { server: String, within: Duration },
    #[error(
        "mcp_timeout: the MCP server `{server}` reported progress but was not done within {} s ({MOST_TIMES} times \
         `call_timeout_seconds`); whether the call had its effect is not known",
        within.as_secs()
    )]
    NoEnd { server: String, within: Duration },
    #[error("mcp_unreachable: the MCP server `{server}` {why}; whether the call had its effect is not known")]
    Lost { server: String, why: String },
    /// The last request was not executed and can be sent again in a new session.
    #[error("mcp_unreachable: the MCP server `{server}` has ended the session, and the next one as well")]
    SessionGone { server: String },
    /// The credentials are missing or not good enough; the call was not made.
    #[error("mcp_error: the MCP server `{server}` did not accept the call: {why}")]
    Barred { server: String, why: String },
    #[error("mcp_error: the MCP server `{server}` refused the call: {message} (code {code})")]
    Refused { server: String, message: String, code: i32 },
    #[error(
        "mcp_error: the MCP server `{server}` answered with something that is not a tool result; whether the call had \
         its effect is not known"
    )]
    NoResult { server: String },
    #[error(
        "mcp_error: the MCP server `{server}` asks for input before it makes the call, although this client declares \
         that it answers no questions; whether the call had its effect is not known"
    )]
    Asks { server: String },
    #[error(
        "mcp_error: the MCP server `{server}` was not done with the call after {MAX_ROUNDS} rounds; whether the call had \
         its effect is not known"
    )]
    Rounds { server: String },
    #[error("mcp_error: the MCP server `{server}` did not list its tools: {why}")]
    NoList { server: String, why: String },
    #[error("mcp_changed: `{tool}` is no longer as it was when this task began; a new task can use it as it is now")]
    Changed { tool: String },
    #[error("{tool} was stopped before it was done; whether it had an effect is not known")]
    Stopped { tool: String },
}

impl ServerError {
    /// Returns the error as the output of the call.
    pub(super) fn into_output(self) -> ToolOutput {
        let output = ToolOutput::failure(self.to_string());
        match self {
            Self::NotReady { .. } | Self::NotListed { .. } | Self::NoAnswer { .. } | Self::NoEnd { .. } => {
                output.because(Fault::TimedOut)
            }
            Self::Changed { .. } => output.because(Fault::Conflict),
            Self::Refused { code, .. } if code == INVALID_PARAMS => output.because(Fault::Arguments),
            _ => output,
        }
    }
}

/// Code of JSON-RPC.
const INVALID_PARAMS: i32 = -32602;

/// Rounds up to seconds, at least one.
fn seconds(time: Duration) -> u64 {
    time.as_millis().div_ceil(1000) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_call_is_a_timeout_with_its_own_text() {
        let told = ServerError::NoEnd { server: "db".to_owned(), within: Duration::from_mins(10) }.into_output();
        let expected = "mcp_timeout: the MCP server `db` reported progress but was not done within 600 s (10 times \
                        `call_timeout_seconds`); whether the call had its effect is not known";
        assert_eq!((told.for_model.as_str(), told.fault), (expected, Some(Fault::TimedOut)));
    }
}
