//! Compaction of a conversation to fit its model's window. The log keeps the original.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::CallId;

/// Replaces the conversation so far for the model. Each call keeps exactly one output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// Outputs cut short.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stubs: Vec<Stub>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
}

/// Remaining text of one output. Its attachments are gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stub {
    pub call: CallId,
    pub text: String,
}

/// One message in place of all those between the brief and the newest turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of messages right after the brief that it replaces.
    pub messages: usize,
    /// Number of model turns among them.
    pub turns: usize,
    pub text: String,
}

impl Compaction {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Describes the extent, for people.
impl fmt::Display for Compaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize, what: &str| (n > 0).then(|| format!("{n} {what}{}", if n == 1 { "" } else { "s" }));
        let turns = self.summary.as_ref().map_or(0, |summary| summary.turns);
        let counts: Vec<String> =
            [count(self.stubs.len(), "output"), count(turns, "turn")].into_iter().flatten().collect();
        write!(f, "conversation shortened: {}", counts.join(", "))
    }
}
