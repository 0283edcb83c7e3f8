//! A command line to run with `bash`, without its walls.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::walls::Environment;

/// A command line for `bash`.
#[derive(Debug)]
pub struct Shell<'a> {
    pub command: &'a str,
    /// Its working directory: an existing directory within the walls.
    pub directory: &'a Path,
    pub environment: &'a Environment,
    /// Time at which it is ended if it is still running.
    pub deadline: Option<Instant>,
}

/// The shell for commands, looked up only in the system's directories.
pub(crate) fn bash() -> Option<PathBuf> {
    const PLACES: [&str; 4] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"];
    PLACES.iter().map(PathBuf::from).find(|path| path.is_file())
}
