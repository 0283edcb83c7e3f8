//! Request as the rules read it: the current prompt, the calls made for it, and the text of their outputs.

pub(crate) mod conversation;
pub(crate) mod delegation;
mod json_outputs;
pub(crate) mod tool_outputs;

use sortie_protocol::{Message, ToolSpec};

/// Complete input of the rules. Borrowed from the task.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub system: &'a str,
    pub tools: &'a [ToolSpec],
    pub messages: &'a [Message],
    pub calls: Calls,
}

/// Permission to call tools in this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    Allowed,
    /// The tools stay in the request, but the answer is due now.
    Forbidden,
}
