//! Errors of starting commands.

use std::io;
use std::path::PathBuf;

/// Reason why a command was not started. Nothing of it has run.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("the directory {} cannot be used", directory.display())]
    Directory { directory: PathBuf, source: io::Error },

    #[error("the directory {} is outside the workspace {} and every writable directory", directory.display(), root.display())]
    Outside { directory: PathBuf, root: PathBuf },

    #[error(
        "the directory {} leads to {} through a link; name writable directories without links",
        directory.display(), leads.display()
    )]
    Linked { directory: PathBuf, leads: PathBuf },

    #[error("the command contains a NUL byte; no shell can run it")]
    NulByte,

    #[error("no bash found in the system's directories; install bash")]
    NoBash,

    #[error("the network proxy needs namespaces, which this machine does not allow; run `sortie doctor`")]
    NoOwnNetwork,

    #[error("the system-call filter is not available for this processor: {reason}")]
    NoFilter { reason: String },

    #[error(
        "this program cannot start a keeper of itself: `sortie_sandbox::process::enter` is not called in its `main`"
    )]
    NotEntered,

    #[error("the keeper of the command could not be started")]
    Keeper { source: io::Error },

    #[error("the walls could not be built: {step}")]
    Walls { step: String, source: io::Error },

    #[error("the keeper of the command ended before the command began")]
    Died,

    #[error("the walls were not built within {seconds} seconds; a file system may hang")]
    Stuck { seconds: u64 },
}
