//! The Markdown files in a folder, and the entries that could not be read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sortie_sandbox::{AccessError, FileKind, Workspace};

/// More files than any real collection has.
const MAX_FILES: usize = 5000;
/// Most names in a folder that still looks like a collection of files.
const MAX_ENTRIES: usize = 20_000;
/// Most levels of nested folders.
const MAX_DEPTH: usize = 8;

/// Contents of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderFiles {
    /// Paths below the workspace, in order.
    pub files: Vec<String>,
    /// Unread entries, and why.
    pub unread: Vec<(String, String)>,
}

/// Returns all `.md` files in a folder and the folders below it; none if the folder does not exist.
///
/// Skips hidden folders. Follows links that stay inside `within`, and visits each folder once.
pub fn files_in(within: &Workspace, folder: &str) -> FolderFiles {
    let mut walk = Walk { within, found: FolderFiles::default(), seen: BTreeSet::new(), n_entries: 0 };
    match within.resolve(folder) {
        Ok(resolved) if resolved.kind == FileKind::Directory => walk.directory(&resolved.relative, 0),
        Ok(resolved) => walk.leave(folder, format!("it is a {}, not a folder", resolved.kind)),
        // A file of that name counts as a missing folder.
        Err(AccessError::NotFound { .. } | AccessError::NotADirectory { .. }) => {}
        Err(error) => walk.leave(folder, error.to_string()),
    }
    let mut found = walk.found;
    found.files.sort_unstable();
    if found.files.len() > MAX_FILES {
        found.files.truncate(MAX_FILES);
        found.unread.push((folder.to_owned(), format!("it has more than {MAX_FILES} files; the others were not read")));
    }
    found
}

struct Walk<'a> {
    within: &'a Workspace,
    found: FolderFiles,
    seen: BTreeSet<PathBuf>,
    n_entries: usize,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Path, depth: usize) {
        if !self.seen.insert(directory.to_owned()) {
            return;
        }
        if depth > MAX_DEPTH {
            return self.leave(&directory.to_string_lossy(), "it is nested too deep in folders");
        }
        let entries = match self.within.read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => return self.leave(&directory.to_string_lossy(), error.to_string()),
        };
        for entry in entries {
            self.n_entries += 1;
            if self.n_entries > MAX_ENTRIES {
                let what =
                    format!("there are more than {MAX_ENTRIES} names here and above; the rest was not looked at");
                return self.leave(&directory.to_string_lossy(), what);
            }
            match entry {
                Ok(entry) => self.entry(directory, &entry.name, entry.kind, depth),
                Err(error) => return self.leave(&directory.to_string_lossy(), error.to_string()),
            }
        }
    }

    fn entry(&mut self, directory: &Path, name: &std::ffi::OsStr, kind: FileKind, depth: usize) {
        let path = directory.join(name);
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        match kind {
            FileKind::Directory if is_hidden => {}
            FileKind::Directory => self.directory(&path, depth + 1),
            FileKind::Symlink if !is_markdown(&path) => self.link(&path, depth),
            _ if !is_markdown(&path) => {}
            _ => match path.into_os_string().into_string() {
                Ok(path) => self.found.files.push(path),
                Err(path) => self.leave(&path.to_string_lossy(), "its name is not UTF-8"),
            },
        }
    }

    /// Follows a link to a folder; ignores any other link.
    fn link(&mut self, path: &Path, depth: usize) {
        let shown = path.to_string_lossy();
        match self.within.resolve(&shown) {
            Ok(resolved) if resolved.kind == FileKind::Directory => self.directory(&resolved.relative, depth + 1),
            Ok(_) | Err(AccessError::NotFound { .. }) => {}
            Err(error) => self.leave(&shown, error.to_string()),
        }
    }

    fn leave(&mut self, path: &str, why: impl Into<String>) {
        self.found.unread.push((path.to_owned(), why.into()));
    }
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}
