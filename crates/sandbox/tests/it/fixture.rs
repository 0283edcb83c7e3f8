//! A workspace `proj` with a neighbour `proj-secret` that nothing may reach.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use sortie_sandbox::{AccessError, Workspace};
use tempfile::TempDir;

pub(crate) const INSIDE: &str = "inside";
pub(crate) const SECRET: &str = "secret";

pub(crate) struct Fixture {
    _directory: TempDir,
    pub(crate) base: PathBuf,
    pub(crate) workspace: Workspace,
}

impl Fixture {
    /// ```text
    /// proj/sub/deep/file.txt          proj-secret/deep/file.txt
    /// proj/in_*   -> inside           proj/out_*  -> outside
    /// ```
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("proj/sub/deep")).unwrap();
        fs::create_dir_all(base.join("proj-secret/deep")).unwrap();
        fs::write(base.join("proj/sub/deep/file.txt"), INSIDE).unwrap();
        fs::write(base.join("proj-secret/deep/file.txt"), SECRET).unwrap();
        let workspace = Workspace::open(&base.join("proj")).unwrap();
        let fixture = Self { _directory: directory, base, workspace };
        fixture.link("sub", "in_relative");
        fixture.link(fixture.base.join("proj/sub"), "in_absolute");
        fixture.link("../proj/sub", "in_around");
        fixture.link("in_relative/deep/file.txt", "in_file");
        fixture.link("../proj-secret", "out_relative");
        fixture.link(fixture.base.join("proj-secret"), "out_absolute");
        fixture.link("in_relative/../../proj-secret", "out_through_in");
        fixture.link("out_relative/deep/file.txt", "out_file");
        fixture.link("../../proj-secret/deep", "sub/out_below");
        fixture.link("/", "out_root");
        fixture.link("circle_b", "circle_a");
        fixture.link("circle_a", "circle_b");
        symlink(fixture.base.join("proj"), fixture.base.join("other-name")).unwrap();
        fixture
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, name: &str) {
        symlink(target, self.base.join("proj").join(name)).unwrap();
    }

    pub(crate) fn text_of(&self, path: &str) -> Result<String, AccessError> {
        let mut text = String::new();
        self.workspace.open_file(path)?.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    pub(crate) fn fifo(&self, name: &str) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, self.base.join("proj").join(name), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    }
}

/// Runs `work` while another thread repeats `disturb`, also when `work` fails.
pub(crate) fn while_repeating<T>(disturb: impl Fn() + Sync, work: impl FnOnce() -> T) -> T {
    let running = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while running.load(Ordering::Relaxed) {
                disturb();
            }
        });
        let result = catch_unwind(AssertUnwindSafe(work));
        running.store(false, Ordering::Relaxed);
        result.unwrap_or_else(|panic| resume_unwind(panic))
    })
}
