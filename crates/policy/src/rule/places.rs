//! The places that rules speak of: the workspace, what was added to it, home, and what is Sortie's own.

use std::path::{Path, PathBuf};

use super::path_pattern::{Base, Literal};

/// Where things are, as far as rules speak of it. All paths absolute and resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The workspace root: what relative paths are relative to.
    pub root: Option<PathBuf>,
    /// Directories that were added to the workspace. What permits a single name permits it in them, not above them.
    pub added: Vec<PathBuf>,
    /// What `~/` in a rule stands for.
    pub home: Option<PathBuf>,
    /// Sortie's own settings and state: no agent may change what is in there.
    pub own: Vec<PathBuf>,
}

impl Places {
    /// A path from the root of the file system; `None` for a relative one where the workspace root is not known.
    pub(crate) fn absolute(&self, path: &Path) -> Option<PathBuf> {
        let root = self.root.as_deref();
        let absolute = if path.is_absolute() { Some(path.to_owned()) } else { root.map(|root| root.join(path)) };
        // Without the slash that an empty path leaves at the end.
        absolute.map(|path| path.components().collect())
    }

    /// A path as it is usually named: relative to the workspace root where it lies in it.
    pub(crate) fn named(&self, path: &Path) -> PathBuf {
        self.root.as_deref().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path).to_owned()
    }

    /// The place that a pattern names, as it is usually named.
    pub(crate) fn of_literal(&self, Literal { base, path }: Literal<'_>) -> PathBuf {
        match base {
            Base::Anywhere | Base::Workspace => path.to_owned(),
            Base::Home | Base::FileSystem => self.named(&Path::new("/").join(path)),
        }
    }

    /// Whether an absolute path lies in the workspace or in a directory that was added to it.
    pub(crate) fn hold(&self, path: &Path) -> bool {
        self.root.iter().chain(&self.added).any(|directory| path.starts_with(directory))
    }
}
