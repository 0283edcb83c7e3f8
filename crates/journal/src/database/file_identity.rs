//! The identity of the files that are written: whether others would still find them.
//!
//! A system lets a program write on to a file that has been deleted or moved away; whoever opens the path next finds
//! nothing of it, or another file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::port::JournalError;

/// The journal's file and SQLite's log beside it, as they were found.
#[derive(Debug)]
pub(crate) struct FileIdentity {
    file: PathBuf,
    identity: Identity,
    log: PathBuf,
    /// Known from the first write on, which makes it if need be.
    log_identity: Option<Identity>,
}

impl FileIdentity {
    pub(crate) fn of(file: &Path) -> io::Result<Self> {
        let mut log = file.as_os_str().to_owned();
        log.push("-wal");
        let identity = Identity::of(file)?;
        Ok(Self { file: file.to_owned(), identity, log: log.into(), log_identity: None })
    }

    /// Asked after a write and before anybody is told of it.
    pub(crate) fn check(&mut self) -> Result<(), JournalError> {
        let moved = || JournalError::Moved { path: self.file.clone() };
        let (file, log) = (Identity::of(&self.file), Identity::of(&self.log));
        let (file, log) = (file.map_err(|_| moved())?, log.map_err(|_| moved())?);
        if file != self.identity || log != *self.log_identity.get_or_insert(log) {
            return Err(moved());
        }
        Ok(())
    }
}

/// What tells a file from another one at the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = fs::metadata(path)?;
        Ok(Self { device: metadata.dev(), number: metadata.ino() })
    }

    /// Open files cannot be moved away there; that one is found is enough.
    #[cfg(not(unix))]
    fn of(path: &Path) -> io::Result<Self> {
        fs::metadata(path)?;
        Ok(Self { device: 0, number: 0 })
    }
}
