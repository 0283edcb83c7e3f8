//! Ids. Everything is routed by id; there is no "current task" anywhere.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const PREFIX: &str = "agent-";
const LETTERS: usize = 12;

/// The id of a task: `agent-` and twelve lower-case letters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId([u8; LETTERS]);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a task id (expected `agent-` and twelve lower-case letters)")]
pub struct TaskIdError {
    given: String,
}

impl TaskId {
    /// Makes an id from random bytes; each byte picks one letter.
    pub fn from_random(bytes: [u8; LETTERS]) -> Self {
        Self(bytes.map(|byte| b'a' + byte % 26))
    }

    /// The twelve letters, without the prefix.
    pub fn letters(&self) -> &str {
        // The constructors admit ASCII letters only.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.letters())
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for TaskId {
    type Err = TaskIdError;

    /// Reads a whole id, with or without its prefix.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let letters = text.strip_prefix(PREFIX).unwrap_or(text);
        match <[u8; LETTERS]>::try_from(letters.as_bytes()) {
            Ok(bytes) if bytes.iter().all(u8::is_ascii_lowercase) => Ok(Self(bytes)),
            _ => Err(TaskIdError { given: text.to_owned() }),
        }
    }
}

impl TryFrom<String> for TaskId {
    type Error = TaskIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.to_string()
    }
}

/// The id that a model gave one of its tool calls. Unique only within one reply.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for CallId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}
