//! Users that the program runs as, and a copy of the program that they can reach.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::TempDir;

/// Number of an unprivileged user.
const NOBODY: u32 = 65_534;

/// Number of a group that this user is not in.
const FOREIGN_GROUP: u32 = 1;

/// Variable that names another binary than the one built with this suite.
const BINARY: &str = "SORTIE_TEST_BINARY";

/// User that the program runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// User of the suite.
    Same,
    /// Unprivileged user, who is refused what root is not.
    Nobody,
}

impl User {
    /// All users that this process can become.
    pub(crate) fn all() -> Vec<Self> {
        if rustix::process::geteuid().is_root() { vec![Self::Same, Self::Nobody] } else { vec![Self::Same] }
    }

    pub(crate) fn become_in(self, command: &mut Command) {
        if self == Self::Nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
    }

    /// Gives this user everything in a directory, without following links.
    pub(crate) fn own(self, directory: &Path) {
        if self == Self::Nobody {
            // A file that vanishes meanwhile, in a race, belongs to nobody.
            let owner = format!("{NOBODY}:{NOBODY}");
            let chown = Command::new("chown").args(["-R", "-h", "-f", &owner]).arg(directory).status();
            chown.unwrap();
        }
    }

    /// Gives a directory of this user to a group that this user is not in. Only root can do that, for another user.
    pub(crate) fn disown_group(self, directory: &Path) {
        if self == Self::Nobody {
            std::os::unix::fs::chown(directory, None, Some(FOREIGN_GROUP)).unwrap();
        }
    }

    /// Profile file of an instrumented program; otherwise nothing.
    pub(crate) fn profile(self) -> Option<OsString> {
        let file = std::env::var_os("LLVM_PROFILE_FILE")?;
        // The other user may not write there, and without this the program would write into its workspace.
        Some(if self == Self::Same { file } else { "/dev/null".into() })
    }

    /// Number, as from `id -u`.
    pub(crate) fn uid(self) -> u32 {
        match self {
            Self::Same => rustix::process::geteuid().as_raw(),
            Self::Nobody => NOBODY,
        }
    }
}

/// Copy of the program that everybody can run: others cannot reach the build directory.
#[derive(Debug)]
pub(crate) struct Program {
    directory: TempDir,
}

impl Program {
    /// Copy shared with other tests, or a new one; its last user removes it.
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
        // Copied by another process: a program that a process of ours holds open for writing cannot run.
        let copied = Command::new("cp").arg(&built).arg(directory.path().join("sortie")).status().unwrap();
        assert!(copied.success(), "{} cannot be copied", built.display());
        Self { directory }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("sortie")
    }
}
