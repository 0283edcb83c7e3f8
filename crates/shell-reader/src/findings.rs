//! The answer about a line: its commands, the files that it names, and why it is not understood.

mod part;
mod printable;
mod why_not;
mod word;

use std::path::PathBuf;

pub use self::part::{Armed, Arming, Part};
pub use self::printable::printable;
pub use self::why_not::WhyNot;
pub use self::word::Word;

/// Longer lines are not read.
pub(crate) const MAX_BYTES: usize = 10_000;
/// Lines that could run more commands than this are not judged one by one.
pub(crate) const MAX_PARTS: usize = 200;

/// Everything that a line could execute, and the files that it names to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command, wherever it stands, and what wrappers run.
    pub parts: Vec<Part>,
    /// What it would write or replace by a redirect, or as the target of a program that writes.
    pub writes: Vec<Target>,
    /// What it would remove or alter otherwise, as far as it names it.
    pub changes: Vec<Target>,
    /// What it would read by a redirect.
    pub reads: Vec<Target>,
    /// Whether every word of it is known and nothing beside the parts can run or change how they run.
    pub understood: bool,
    /// The first thing that was not understood.
    pub why_not: Option<WhyNot>,
}

/// A file that a line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Absolute; no links followed.
    Path(PathBuf),
    /// Which one is only known when it runs.
    Unknown,
}

impl Analysis {
    /// The analysis of a line that could do anything.
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
