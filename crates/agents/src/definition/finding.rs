//! Findings: the faults of a file, where they are, and how to fix them.

use std::fmt;

/// One fact about a file that its author should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    pub weight: Weight,
    /// The file, as shown to people.
    pub path: String,
    /// Counts from 1; `None` if it concerns the file as a whole.
    pub line: Option<usize>,
    /// The fault.
    pub message: String,
    /// Advice to the author.
    pub fix: String,
}

/// Effect of a finding on its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file counts, except for the part named in the finding.
    Warning,
    /// The file does not count.
    Error,
}

/// Prominence of a finding among others. A repository can have any number of files with ordinary findings; they must
/// not hide important ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weight {
    Ordinary,
    /// A project file tries to take a built-in agent's place, or seems to, and is set aside.
    SetAside,
    /// An untrusted project file overrides one of the user's own.
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
