//! Errors of spill files.

use std::io;
use std::path::PathBuf;

/// Reason why a text could not be spilled to a file.
#[derive(Debug, thiserror::Error)]
pub enum SpillError {
    #[error("the spill directory {} could not be opened", directory.display())]
    Open { directory: PathBuf, source: io::Error },

    #[error("the spill directory {} belongs to another user; remove it or choose another", directory.display())]
    Foreign { directory: PathBuf },

    #[error("the spill directory {} is open to others (mode {mode:o}); run `chmod 700` on it", directory.display())]
    Exposed { directory: PathBuf, mode: u32 },

    #[error("no random name could be generated for a spill file")]
    Random { source: getrandom::Error },

    #[error("the spill file {} could not be written", path.display())]
    Write { path: PathBuf, source: io::Error },

    #[error("the spill file {} could not be removed", path.display())]
    Discard { path: PathBuf, source: io::Error },

    #[error("the spill file {} could not be rewritten and is still there; remove it", path.display())]
    Left { path: PathBuf, source: io::Error },

    #[error("the file {} cannot be reached", path.display())]
    Reach { path: PathBuf, source: io::Error },

    #[error("the file {} is not used: {reason}; remove it", path.display())]
    Unusable { path: PathBuf, reason: &'static str },
}
