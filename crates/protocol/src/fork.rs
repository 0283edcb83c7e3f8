//! Forking: a sub-agent that begins with its parent's conversation instead of a clean context.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::CallId;

/// Part of the caller's conversation that a sub-agent is to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fork {
    /// Nothing, whatever the agent's file says.
    Off,
    Whole,
    /// The first message and the newest turns.
    Turns(u32),
}

impl Fork {
    /// Reads `true`, `false` or a number of turns, at least one.
    pub fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(true) => Some(Self::Whole),
            Value::Bool(false) => Some(Self::Off),
            other => other.as_u64().filter(|turns| *turns > 0).map(|turns| {
                // No conversation has more turns than this.
                Self::Turns(u32::try_from(turns).unwrap_or(u32::MAX))
            }),
        }
    }
}

/// Beginning of a forked task's conversation. The messages are in the log of its parent, up to the start of this task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedContext {
    /// True if the task continues as its parent: with its system prompt, its tools and its grant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_parent: bool,
    /// Number of messages after the first one that are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: usize,
    /// Position in the parent's conversation where the inherited part ends.
    pub end: usize,
    /// Calls whose outputs the task may not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<CallId>,
    /// Words of the engine before the prompt, in the same message.
    pub preface: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
