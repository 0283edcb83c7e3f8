//! One broken rule: where, what, and how to mend it.

use std::fmt;

use super::file::File;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    pub(super) weight: Weight,
    /// A path, with a line where there is one.
    place: String,
    what: String,
    mend: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    Warning,
    Error,
}

impl Finding {
    pub(super) fn error(place: impl Into<String>, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { weight: Weight::Error, place: place.into(), what: what.into(), mend: mend.into() }
    }

    pub(super) fn at(file: &File, line: usize, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self::error(format!("{}:{line}", file.path()), what, mend)
    }

    pub(super) fn warning(place: impl Into<String>, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { weight: Weight::Warning, ..Self::error(place, what, mend) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = match self.weight {
            Weight::Error => "error",
            Weight::Warning => "warning",
        };
        write!(f, "{weight}: {}: {}\n    mend: {}", self.place, self.what, self.mend)
    }
}

/// Renders findings for comparison in tests, one line each.
#[cfg(test)]
pub(super) fn render(findings: &[Finding]) -> String {
    findings.iter().flat_map(|finding| [&finding.place, ": ", &finding.what, "\n"]).collect()
}
