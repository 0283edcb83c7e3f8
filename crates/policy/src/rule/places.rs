//! Places that rules refer to: the workspace, directories added to it, home, and Sortie's own files.

use std::path::{Path, PathBuf};

use super::path_pattern::{Base, Literal};

/// Locations that rules refer to. All paths are absolute and resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The workspace root: base of relative paths.
    pub root: Option<PathBuf>,
    /// Directories added to the workspace. A rule that permits a single name applies inside them, not above them.
    pub added: Vec<PathBuf>,
    /// Directory that `~/` stands for in a rule.
    pub home: Option<PathBuf>,
    /// Sortie's own settings and state: no agent may change anything in them.
    pub own: Vec<PathBuf>,
    /// Those of them that hold keys or conversations: no agent reads them, wherever the workspace is.
    pub private: Vec<PathBuf>,
    /// Places with the user's keys and passwords, in addition to the usual ones below `home`: see
    /// [`moved_secret_places`](crate::moved_secret_places).
    pub secrets: Vec<PathBuf>,
    /// Home directories of other people in the workspace or an added directory. Their keys and passwords are as secret
    /// as the user's own.
    pub other_homes: Vec<PathBuf>,
}

impl Places {
    /// Returns a path from the root of the file system; `None` for a relative path without a known workspace root.
    pub(crate) fn absolute(&self, path: &Path) -> Option<PathBuf> {
        let root = self.root.as_deref();
        let absolute = if path.is_absolute() { Some(path.to_owned()) } else { root.map(|root| root.join(path)) };
        // Drop the slash that an empty path leaves at the end.
        absolute.map(|path| path.components().collect())
    }

    /// Returns a path by its usual name: relative to the workspace root if inside it.
    pub(crate) fn named(&self, path: &Path) -> PathBuf {
        self.root.as_deref().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path).to_owned()
    }

    /// Returns the place that a pattern names, by its usual name.
    pub(crate) fn of_literal(&self, Literal { base, path }: Literal<'_>) -> PathBuf {
        match base {
            Base::Anywhere | Base::Workspace => path.to_owned(),
            Base::Home | Base::FileSystem => self.named(&Path::new("/").join(path)),
        }
    }

    /// True if an absolute path is inside the workspace or an added directory.
    pub(crate) fn hold(&self, path: &Path) -> bool {
        self.root.iter().chain(&self.added).any(|directory| path.starts_with(directory))
    }
}
