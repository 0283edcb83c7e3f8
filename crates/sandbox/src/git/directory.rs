//! Finds the repository of a working tree without calling git, since the walls must stand before git runs.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::error::GitError;

/// Longer than any path.
const MAX_LENGTH: u64 = 8 << 10;

/// Git's directories for one working tree and for the whole repository. Canonical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitDirectory {
    /// Directory of this working tree: `.git` itself, or its target.
    pub own: PathBuf,
    /// Directory of all working trees of the repository; equal to `own` if there is only one.
    pub common: PathBuf,
    /// True if both lie in the working tree, or name it as theirs. Anybody can write a file in the working tree:
    /// without this, nothing outside may be opened up because of it.
    pub is_confirmed: bool,
}

/// The git directory of the working tree at `root`; `None` if `root` is not the top of one.
pub fn git_directory(root: &Path) -> Result<Option<GitDirectory>, GitError> {
    let entry = root.join(".git");
    let Ok(kind) = fs::metadata(&entry) else { return Ok(None) };
    let root = existing(root, &entry)?;
    let own = if kind.is_dir() { existing(&entry, &entry)? } else { linked(&root, &entry)? };
    let common_file = own.join("commondir");
    let common = match text_of(&common_file)? {
        Some(path) => existing(&own.join(path), &common_file)?,
        None => own.clone(),
    };
    let is_within = own.starts_with(&root) && common.starts_with(&root);
    let is_confirmed = is_within || (is_worktree_of(&own, &common) && names(&own, &root)?);
    Ok(Some(GitDirectory { own, common, is_confirmed }))
}

/// The target of a `.git` file.
fn linked(root: &Path, entry: &Path) -> Result<PathBuf, GitError> {
    let fail = |reason| GitError::BadLink { file: entry.to_owned(), reason };
    let line = text_of(entry)?.ok_or(fail("it is not a regular file"))?;
    let path = line.as_os_str().as_bytes().strip_prefix(b"gitdir: ").filter(|path| !path.is_empty());
    let path = path.ok_or(fail("it does not begin with `gitdir: ` and a path"))?;
    existing(&root.join(OsStr::from_bytes(path)), entry)
}

/// True if it lies where git puts the directories of additional working trees.
fn is_worktree_of(own: &Path, common: &Path) -> bool {
    own.parent() == Some(&common.join("worktrees")) && common.join("HEAD").is_file() && common.join("objects").is_dir()
}

/// True if a git directory names the working tree at `root` as its own. A link at `.git` proves nothing, so it is not
/// followed.
fn names(own: &Path, root: &Path) -> Result<bool, GitError> {
    let Some(back) = text_of(&own.join("gitdir"))? else { return Ok(false) };
    let back = own.join(back);
    Ok(back.file_name() == Some(".git".as_ref())
        && back.parent().and_then(|parent| parent.canonicalize().ok()).as_deref() == Some(root))
}

/// The single line of a small regular file, as a path; `None` if there is no such file.
fn text_of(path: &Path) -> Result<Option<PathBuf>, GitError> {
    let fail = |reason| GitError::BadLink { file: path.to_owned(), reason };
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_LENGTH + 1).read_to_end(&mut bytes));
    if read.is_err() {
        return Err(fail("it cannot be read"));
    }
    if bytes.len() as u64 > MAX_LENGTH || bytes.contains(&0) {
        return Err(fail("it is not a path"));
    }
    let line = bytes.trim_ascii_end();
    if line.contains(&b'\n') {
        return Err(fail("it has more than one line"));
    }
    Ok(Some(OsStr::from_bytes(line).into()))
}

/// The real path of a directory that `file` names.
fn existing(path: &Path, file: &Path) -> Result<PathBuf, GitError> {
    let real = path.canonicalize().ok().filter(|path| path.is_dir());
    real.ok_or(GitError::BadLink { file: file.to_owned(), reason: "the directory that it names cannot be reached" })
}
