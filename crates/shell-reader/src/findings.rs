//! The findings about a line: its commands, the files it names, and the reason if it is not understood.

mod part;
mod printable;
mod why_not;
mod word;

use std::path::PathBuf;

pub use self::part::{Armed, Arming, Part};
pub use self::printable::printable;
pub use self::why_not::WhyNot;
pub use self::word::Word;

/// Longer lines are not parsed.
pub(crate) const MAX_BYTES: usize = 10_000;
/// A line that could run more commands than this counts as able to run anything.
pub(crate) const MAX_PARTS: usize = 200;

/// Everything that a line could execute, and the files it names for writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command, however deeply nested, and every command that a wrapper runs.
    pub parts: Vec<Part>,
    /// Files it would write or replace, by a redirect or as the target of a program that writes.
    pub writes: Vec<Target>,
    /// Files it would remove or otherwise alter, as far as it names them.
    pub changes: Vec<Target>,
    /// Files it would read by a redirect.
    pub reads: Vec<Target>,
    /// True if every word is known and nothing besides the parts can run or change how they run.
    pub understood: bool,
    /// The first thing that was not understood.
    pub why_not: Option<WhyNot>,
}

/// A file named by a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Absolute; symbolic links are not resolved.
    Path(PathBuf),
    /// Known only when the line runs.
    Unknown,
}

impl Analysis {
    /// Returns the analysis of a line that could do anything.
    pub(crate) fn of_anything(why: WhyNot) -> Self {
        Self {
            parts: vec![Part::anything()],
            writes: vec![Target::Unknown],
            changes: Vec::new(),
            reads: Vec::new(),
            understood: false,
            why_not: Some(why),
        }
    }
}
