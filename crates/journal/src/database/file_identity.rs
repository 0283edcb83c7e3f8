//! The identity of the files being written: whether other processes would still find them.
//!
//! Unix lets a program keep writing to a file that was deleted or moved away. The next program to open the path finds
//! none of it, or another file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::port::JournalError;

/// Identity, when opened, of the journal's file and of SQLite's log next to it.
#[derive(Debug)]
pub(crate) struct FileIdentity {
    file: PathBuf,
    identity: Identity,
    log: PathBuf,
    /// Known from the first write on, which creates the log if necessary.
    log_identity: Option<Identity>,
}

impl FileIdentity {
    pub(crate) fn of(file: &Path) -> io::Result<Self> {
        let mut log = file.as_os_str().to_owned();
        log.push("-wal");
        let identity = Identity::of(file)?;
        Ok(Self { file: file.to_owned(), identity, log: log.into(), log_identity: None })
    }

    /// Called after a write and before it is acknowledged.
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

/// Distinguishes a file from another one at the same path.
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

    /// Windows does not let open files be moved away, so existence is enough.
    #[cfg(not(unix))]
    fn of(path: &Path) -> io::Result<Self> {
        fs::metadata(path)?;
        Ok(Self { device: 0, number: 0 })
    }
}
