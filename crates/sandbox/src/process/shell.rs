//! A command to run, without what it may touch.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::Environment;
use crate::SpillDir;

/// A command line for `bash`.
#[derive(Debug)]
pub struct Shell<'a> {
    pub command: &'a str,
    /// Where it starts; an existing directory within the walls.
    pub directory: &'a Path,
    pub environment: &'a Environment,
    /// When it is ended if it has not by itself.
    pub deadline: Option<Instant>,
}

/// How much of an output is kept.
#[derive(Debug, Clone, Copy)]
pub struct OutputCaps<'a> {
    /// The bytes from the beginning that are handed on as they come.
    pub shown: u64,
    /// Where an output that is longer is kept from its beginning, up to [`SPILLED`](Self::SPILLED) bytes.
    pub spill: Option<&'a SpillDir>,
}

impl OutputCaps<'_> {
    /// What is spilled at most; the rest is only counted.
    pub const SPILLED: u64 = 16 << 20;
}

/// The shell that runs commands, from the system's directories and from nowhere else.
pub(super) fn bash() -> Option<PathBuf> {
    const PLACES: [&str; 4] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"];
    PLACES.iter().map(PathBuf::from).find(|path| path.is_file())
}
