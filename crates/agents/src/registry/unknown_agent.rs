//! The error for a name that no agent has.

use std::fmt;

use crate::definition::Finding;

/// How many names the message lists; the field has all.
const LISTED: usize = 30;

/// Nobody here goes by that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnknownAgent {
    pub asked: String,
    /// The names that there are; first those that may have been meant.
    pub known: Vec<String>,
    /// Why files that claim this name do not count.
    pub absent: Vec<Finding>,
}

impl fmt::Display for UnknownAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, known, absent } = self;
        write!(f, "unknown agent `{asked}`")?;
        for finding in absent {
            write!(f, " (its file does not count: {finding})")?;
        }
        let listed = &known[..known.len().min(LISTED)];
        write!(f, "; there are {}", listed.join(", "))?;
        match known.len() - listed.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
