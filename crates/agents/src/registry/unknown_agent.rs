//! The error for an unknown agent.

use std::fmt;

use crate::definition::Finding;

/// Number of names in the message; the field has all.
const LISTED: usize = 30;

/// No agent here has that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnknownAgent {
    pub asked: String,
    /// The existing names, likely matches first.
    pub known: Vec<String>,
    /// Reasons why files that claim this name do not count.
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
