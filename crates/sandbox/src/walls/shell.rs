//! A command line to run by `bash`, without what it may touch.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::walls::Environment;

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

/// The shell that runs commands, from the system's directories and from nowhere else.
pub(crate) fn bash() -> Option<PathBuf> {
    const PLACES: [&str; 4] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"];
    PLACES.iter().map(PathBuf::from).find(|path| path.is_file())
}
