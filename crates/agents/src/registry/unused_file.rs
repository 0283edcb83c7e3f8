//! Agent files that define no agent here, for lists.

use crate::agent_file::file_stem;
use crate::definition::{AgentFile, Finding, Scope};

/// An agent file that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedFile {
    /// The name that it claims.
    pub name: String,
    /// Absent if the file could not even be read.
    pub scope: Option<Scope>,
    pub path: String,
    /// The line of the fault.
    pub line: Option<usize>,
    pub why: Unused,
    /// The reason in a few words.
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unused {
    /// Its author has to mend it.
    Broken,
    /// Another file or a built-in agent has its name.
    SetAside,
}

impl UnusedFile {
    pub(super) fn broken(name: String, file: &AgentFile, error: &Finding) -> Self {
        let reason = error.message.clone();
        Self { name, scope: Some(file.scope), path: file.path.clone(), line: error.line, why: Unused::Broken, reason }
    }

    pub(super) fn set_aside(name: String, file: &AgentFile, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { name, scope: Some(file.scope), path: file.path.clone(), line: None, why: Unused::SetAside, reason }
    }

    /// A file that could not be read.
    pub(super) fn unread(error: &Finding) -> Self {
        Self {
            name: file_stem(&error.path).unwrap_or_default(),
            scope: None,
            path: error.path.clone(),
            line: error.line,
            why: Unused::Broken,
            reason: error.message.clone(),
        }
    }
}
