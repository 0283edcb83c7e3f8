//! A digest of all that reading tools can find in a workspace: equal digests mean equal files.
//!
//! It covers what a search of the whole workspace sees: content, names, and the targets of links. It excludes ignored
//! files and git's own; a call that looks at those is not covered. Content is read each time, because times and sizes
//! only tell that a file was touched.

mod coverage;

use std::collections::HashSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use sortie_protocol::ToolCall;
use sortie_sandbox::{AccessError, FileKind, Stamp, Workspace};
use tokio_util::sync::CancellationToken;

use super::walk::Directory;
use crate::answer::halt::Stop;

/// Bytes read at once, between two checks of the clock.
const CHUNK: usize = 256 << 10;

/// Limits of a snapshot. Beyond them there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotBounds {
    pub files: usize,
    pub bytes: u64,
    pub time: Duration,
}

impl Default for SnapshotBounds {
    fn default() -> Self {
        Self { files: 20_000, bytes: 64 << 20, time: Duration::from_secs(2) }
    }
}

/// The reason why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("the workspace has more than {max} files")]
    TooMany { max: usize },

    #[error("the files of the workspace have more than {max} bytes")]
    TooLarge { max: u64 },

    #[error("the workspace could not be read within {max:?}")]
    TooLate { max: Duration },

    #[error("`{}` could not be read consistently: it changed meanwhile, or the disk failed", path.display())]
    Unstable { path: PathBuf },
}

/// A workspace at one moment.
#[derive(Debug)]
pub struct Snapshot {
    digest: [u8; 32],
    /// Hash of the times and sizes of all files.
    moment: u64,
    /// Files and directories, relative to the root, absolute in added directories.
    places: HashSet<PathBuf>,
}

impl Snapshot {
    /// Reads the workspace and its added directories. Blocks.
    pub fn take(workspace: &Workspace, bounds: SnapshotBounds) -> Result<Self, SnapshotError> {
        let stop = Stop::at(Instant::now() + bounds.time, CancellationToken::new());
        let mut exposure = Exposure {
            workspace,
            bounds,
            stop,
            n_files: 0,
            n_bytes: 0,
            content: Sha256::new(),
            touched: DefaultHasher::new(),
            places: HashSet::new(),
        };
        let added = workspace.added().map(Path::to_owned);
        // The last one is processed first.
        let mut ahead: Vec<Directory> =
            added.chain([PathBuf::new()]).map(|root| Directory::new(workspace, &root)).collect();
        while let Some(directory) = ahead.pop() {
            ahead.extend(exposure.directory(directory)?);
        }
        let Exposure { content, touched, places, .. } = exposure;
        Ok(Self { digest: content.finalize().into(), moment: touched.finish(), places })
    }

    /// Equal for equal names and content, at any time.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// True if the files equal those of the other snapshot and nobody has written to one in between. Times and sizes
    /// tell.
    pub fn is_untouched_since(&self, earlier: &Self) -> bool {
        (self.digest, self.moment) == (earlier.digest, earlier.moment)
    }

    /// True if the snapshot contains everything that a call can have found out. That is never so for tools that do more
    /// than read, or for a call that looked for something that does not exist.
    pub fn covers(&self, workspace: &Workspace, call: &ToolCall) -> bool {
        coverage::looked_at(call).is_some_and(|paths| {
            paths.iter().all(|path| workspace.locate(path).is_ok_and(|place| self.places.contains(&place)))
        })
    }
}

/// A snapshot in progress.
struct Exposure<'a> {
    workspace: &'a Workspace,
    bounds: SnapshotBounds,
    stop: Stop,
    n_files: usize,
    n_bytes: u64,
    content: Sha256,
    touched: DefaultHasher,
    places: HashSet<PathBuf>,
}

impl Exposure<'_> {
    /// Adds one directory, and returns its subdirectories.
    fn directory(&mut self, directory: Directory) -> Result<Vec<Directory>, SnapshotError> {
        self.in_time()?;
        self.name(b'd', &directory.path);
        let listing = match directory.list(self.workspace, &self.stop) {
            Ok(listing) => listing,
            // No tool can list it either.
            Err(AccessError::Denied { .. }) => {
                self.places.insert(directory.path);
                return Ok(Vec::new());
            }
            Err(_) => return Err(SnapshotError::Unstable { path: directory.path }),
        };
        self.in_time()?;
        if listing.cut.is_some() {
            return Err(SnapshotError::TooMany { max: self.bounds.files });
        }
        let mut below = Vec::new();
        for entry in &listing.entries {
            let path = directory.path.join(&entry.name);
            match entry.kind {
                FileKind::File => self.file(path)?,
                // A listing of the directory shows its name; no search shows its content.
                FileKind::Directory if entry.name == ".git" => self.name(b'g', &path),
                FileKind::Directory => below.push(listing.below(path)),
                FileKind::Symlink => self.link(&path),
                kind => {
                    self.name(b's', &path);
                    self.name(b's', Path::new(&kind.to_string()));
                }
            }
        }
        self.places.insert(directory.path);
        Ok(below)
    }

    fn file(&mut self, path: PathBuf) -> Result<(), SnapshotError> {
        self.n_files += 1;
        if self.n_files > self.bounds.files {
            return Err(SnapshotError::TooMany { max: self.bounds.files });
        }
        self.name(b'f', &path);
        match self.workspace.open_listed(&path) {
            Ok(file) => {
                let unstable = |_| SnapshotError::Unstable { path: path.clone() };
                let before = Stamp::of(&file).map_err(unstable)?;
                let digest = self.read(&file, &path)?;
                if Stamp::of(&file).map_err(unstable)? != before {
                    return Err(SnapshotError::Unstable { path });
                }
                self.content.update(digest);
                before.hash(&mut self.touched);
            }
            // No tool can read it either.
            Err(AccessError::Denied { .. }) => self.content.update([0; 32]),
            Err(_) => return Err(SnapshotError::Unstable { path }),
        }
        self.places.insert(path);
        Ok(())
    }

    fn read(&mut self, mut file: &File, path: &Path) -> Result<[u8; 32], SnapshotError> {
        let mut content = Sha256::new();
        let mut chunk = vec![0; CHUNK];
        loop {
            self.in_time()?;
            match file.read(&mut chunk) {
                Ok(0) => return Ok(content.finalize().into()),
                Ok(length) => {
                    self.n_bytes += length as u64;
                    if self.n_bytes > self.bounds.bytes {
                        return Err(SnapshotError::TooLarge { max: self.bounds.bytes });
                    }
                    content.update(&chunk[..length]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(SnapshotError::Unstable { path: path.to_owned() }),
            }
        }
    }

    /// Adds a link by its target. Anything outside cannot be read through it.
    fn link(&mut self, path: &Path) {
        self.name(b'l', path);
        let target = self.workspace.locate(&path.to_string_lossy());
        self.name(b'>', target.as_deref().unwrap_or(Path::new("/")));
    }

    /// Adds a name with its length, so that no two lists of names have the same bytes.
    fn name(&mut self, kind: u8, path: &Path) {
        let bytes = path.as_os_str().as_encoded_bytes();
        self.content.update([kind]);
        self.content.update((bytes.len() as u64).to_le_bytes());
        self.content.update(bytes);
    }

    fn in_time(&self) -> Result<(), SnapshotError> {
        match self.stop.halt() {
            None => Ok(()),
            Some(_) => Err(SnapshotError::TooLate { max: self.bounds.time }),
        }
    }
}
