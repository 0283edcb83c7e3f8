//! Token of `sortie mcp --http`, in a file in Sortie's home. The file is created once, readable by this user alone,
//! never shown, and refused if others could have read it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::retry_on_intr;
use sortie_mcp::http::{Token, TokenSource};

use crate::error::{self, CommandError};

const FILE: &str = "mcp-token";
/// Longer than any token.
const MAX_BYTES: u64 = 1 << 10;

/// Token file that was readable when it was opened.
pub(super) struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// Opens the file, and creates it if there is none.
    pub(super) fn open(home: &Path) -> Result<Self, CommandError> {
        let file = Self { path: home.join(FILE) };
        file.make(home).map_err(|error| {
            CommandError::config(format!("the token file {} cannot be written: {error}", file.path.display()))
                .hint("SORTIE_HOME must be a directory that you can write to")
        })?;
        file.read()?;
        Ok(file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the token from the file each time, so replacing it locks out everybody with the old one. A failure is
    /// reported once, on stderr.
    pub(super) fn source(self) -> TokenSource {
        let told = Mutex::new(None);
        Arc::new(move || {
            let read = self.read();
            let trouble = read.as_ref().err().map(CommandError::in_one_line);
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if trouble != *told {
                if let Some(trouble) = &trouble {
                    error::warn(&format!("all connections are refused: {trouble}"));
                }
                *told = trouble;
            }
            read.ok()
        })
    }

    /// Writes a new token to a neighbouring file and moves it into place, unless there is one. Two servers that start
    /// at once share one token.
    fn make(&self, home: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(home)?;
        let directory = File::open(home)?;
        retry_on_intr(|| flock(&directory, FlockOperation::LockExclusive))?;
        if self.path.symlink_metadata().is_ok() {
            return Ok(());
        }
        let beside = self.path.with_extension("new");
        // Left by a killed process; nobody else writes while the directory is locked.
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        writeln!(file, "{}", random()?)?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)?;
        directory.sync_all()
    }

    fn read(&self) -> Result<Token, CommandError> {
        let path = self.path.display();
        let unusable = |why: &dyn std::fmt::Display| {
            CommandError::config(format!("the token file {path} cannot be used: {why}"))
                .hint("remove it; the next start makes a new one")
        };
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).map_err(|error| unusable(&error))?;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&self.path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => CommandError::config(format!("the token file {path} is gone"))
                .hint("put it back, or start the server again, which makes a new one"),
            _ => unusable(&error),
        })?;
        let metadata = file.metadata().map_err(|error| unusable(&error))?;
        if !metadata.is_file() {
            return Err(unusable(&"it is not a regular file"));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(unusable(&"it belongs to another user"));
        }
        if metadata.mode() & 0o077 != 0 {
            let why = format!("others can read it (mode {:o}), so others may know the token", metadata.mode() & 0o777);
            return Err(unusable(&why));
        }
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| unusable(&error))?;
        Token::new(text.trim()).ok_or_else(|| unusable(&"it does not contain a token"))
    }
}

/// 256 random bits, in letters that a header can carry.
fn random() -> io::Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.map(|byte| format!("{byte:02x}")).concat())
}
