//! As whom the program is run, and the program where that user can reach it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::TempDir;

/// Nobody's usual number.
const NOBODY: u32 = 65_534;

/// Another program to try than the one that was built with this suite.
const BINARY: &str = "SORTIE_TEST_BINARY";

/// Whose authority the program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// Whoever runs the suite.
    Same,
    /// One without privileges: what root is not refused, this one is.
    Nobody,
}

impl User {
    /// All that this process can become.
    pub(crate) fn all() -> Vec<Self> {
        if rustix::process::geteuid().is_root() { vec![Self::Same, Self::Nobody] } else { vec![Self::Same] }
    }

    pub(crate) fn become_in(self, command: &mut Command) {
        if self == Self::Nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
    }

    /// Gives this user all that lies in a directory, links not followed.
    pub(crate) fn own(self, directory: &Path) {
        if self == Self::Nobody {
            // What vanishes on the way, in a race, is nobody's.
            let owner = format!("{NOBODY}:{NOBODY}");
            let chown = Command::new("chown").args(["-R", "-h", "-f", &owner]).arg(directory).status();
            chown.unwrap();
        }
    }

    /// Where an instrumented program writes what it ran; nothing otherwise.
    pub(crate) fn profile(self) -> Option<OsString> {
        let file = std::env::var_os("LLVM_PROFILE_FILE")?;
        // The other user may not write there, and without a word the program would write into its workspace.
        Some(if self == Self::Same { file } else { "/dev/null".into() })
    }

    /// The number, as `id -u` would say it.
    pub(crate) fn uid(self) -> u32 {
        match self {
            Self::Same => rustix::process::geteuid().as_raw(),
            Self::Nobody => NOBODY,
        }
    }
}

/// A copy of the program that everybody can run: others cannot reach where it was built.
#[derive(Debug)]
pub(crate) struct Program {
    directory: TempDir,
}

impl Program {
    /// The copy that others already use, or a new one; the last who uses it removes it.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Program>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let program = Arc::new(Self::copied());
            *shared = Arc::downgrade(&program);
            program
        })
    }

    fn copied() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let built = std::env::var_os(BINARY).map_or_else(|| env!("CARGO_BIN_EXE_sortie").into(), PathBuf::from);
        // Copied by another process: a program that some process of ours still holds open for writing cannot be run.
        let copied = Command::new("cp").arg(&built).arg(directory.path().join("sortie")).status().unwrap();
        assert!(copied.success(), "{} cannot be copied", built.display());
        Self { directory }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("sortie")
    }
}
