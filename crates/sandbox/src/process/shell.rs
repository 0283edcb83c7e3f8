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

/// When an output is kept in a file.
#[derive(Debug, Clone, Copy)]
pub struct OutputCaps<'a> {
    /// The bytes that an output may have without being kept.
    pub unspilled: u64,
    /// Where one that has more is kept from its beginning, up to [`SPILLED`](Self::SPILLED) bytes.
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
