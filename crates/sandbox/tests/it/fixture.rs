//! A workspace `proj` with a neighbour `proj-secret` that nothing may reach.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use sortie_sandbox::{AccessError, Expected, Workspace};
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
        Self::within(tempfile::tempdir().unwrap())
    }

    /// A fixture in memory if possible, where syncing costs nothing: for thousands of writes.
    pub(crate) fn in_memory() -> Self {
        Self::within(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn within(directory: TempDir) -> Self {
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
        symlink(target, self.path(name)).unwrap();
    }

    pub(crate) fn text_of(&self, path: &str) -> Result<String, AccessError> {
        let mut text = String::new();
        self.workspace.open_file(path)?.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.base.join("proj").join(path)
    }

    /// Writes a file of the workspace as another program would.
    pub(crate) fn put(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).unwrap();
    }

    /// The expectation that matches the file's current state.
    pub(crate) fn as_it_is(&self, path: &str) -> Expected {
        Expected::Content { stamp: self.workspace.stamp(path).unwrap() }
    }

    pub(crate) fn fifo(&self, name: &str) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, self.path(name), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    }
}

/// Everything in a tree, links not followed: two equal trees have the same names, kinds, modes, times and contents.
pub(crate) fn tree(directory: &Path) -> Vec<(PathBuf, String)> {
    let mut entries = Vec::new();
    let mut ahead = vec![directory.to_owned()];
    while let Some(path) = ahead.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mut looks = format!("{:o} {:?}", metadata.permissions().mode(), metadata.modified().unwrap());
        if metadata.is_dir() {
            ahead.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if metadata.is_file() {
            looks.push_str(&format!(" {:?}", fs::read(&path).unwrap()));
        }
        entries.push((path, looks));
    }
    entries.sort();
    entries
}

/// Asserts that there are no unfinished new versions.
pub(crate) fn assert_nothing_left_behind(directory: &Path) {
    for (path, _) in tree(directory) {
        assert!(!path.file_name().unwrap().to_string_lossy().starts_with(".sortie-write-"), "{}", path.display());
    }
}

/// Runs `work` while another thread repeats `disturb`, and stops it even if `work` fails.
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
