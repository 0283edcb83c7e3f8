//! Findings: what is wrong with a file, where, and how to mend it.

use std::fmt;

/// One thing about a file that its author should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    pub weight: Weight,
    /// The file, as people should see it.
    pub path: String,
    /// Counts from 1; `None` when it concerns the file as a whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

/// What a finding means for the file that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file counts, except for what the finding names.
    Warning,
    /// The file does not count.
    Error,
}

/// How much a person must hear of a finding, whatever else there is to say. A repository can hold any number of files
/// with ordinary findings; they must not hide the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weight {
    Ordinary,
    /// A project's file wants a built-in agent's place, or seems to, and does not get it.
    SetAside,
    /// A project's file that nobody vouched for keeps one of the user's own from counting.
    Displacing,
}

impl Finding {
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, path, line, message, fix, weight: _ } = self;
        match line {
            Some(line) => write!(f, "{path}:{line}: {severity}: {message}; {fix}"),
            None => write!(f, "{path}: {severity}: {message}; {fix}"),
        }
    }
}
