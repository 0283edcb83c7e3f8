//! How a conversation was shortened so that it fits its model's window. What it was before stands in the log.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::CallId;

/// What the model reads from now on instead of what it has read so far. Of no call is there more or less than one
/// output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// Outputs of which fewer words are left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stubs: Vec<Stub>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
}

/// The words that are left of one output. Its attachments are gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stub {
    pub call: CallId,
    pub text: String,
}

/// One message that stands for all between the brief and the newest turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// How many messages right behind the brief it stands for.
    pub messages: usize,
    /// How many of them were the model's.
    pub turns: usize,
    pub text: String,
}

impl Compaction {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// How much it was, for people.
impl fmt::Display for Compaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize, what: &str| (n > 0).then(|| format!("{n} {what}{}", if n == 1 { "" } else { "s" }));
        let turns = self.summary.as_ref().map_or(0, |summary| summary.turns);
        let counts: Vec<String> =
            [count(self.stubs.len(), "output"), count(turns, "turn")].into_iter().flatten().collect();
        write!(f, "conversation shortened: {}", counts.join(", "))
    }
}
