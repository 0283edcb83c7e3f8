//! Paths that steer Sortie, by their real location. No agent may change them by any path.
//!
//! Settings, agents and prompts are often links to files elsewhere. The target of such a link counts as well, even if
//! it does not exist yet. This module finds paths and reads none of the files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::Places;

/// Depth of folders that are searched for links: as deep as agents are read.
const MAX_DEPTH: usize = 8;
/// Most names examined in a folder and those below it.
const MAX_NAMES: usize = 20_000;
/// Longest chain of links; a longer one leads nowhere.
const MAX_LINKS: usize = 40;

impl Places {
    /// Paths of settings and state, the user's, the project's and Sortie's own, as real paths, whether they exist or
    /// not.
    pub(crate) fn own(&self) -> Vec<PathBuf> {
        let mut users = Found::default();
        let (models, agents) = (self.models(), self.foreign.as_ref().map(|foreign| foreign.join("agents")));
        let named = [Some(&self.home), self.foreign.as_ref(), self.config.as_ref(), models.as_ref()];
        named.into_iter().chain([self.env_file.as_ref()]).flatten().chain(&self.usual).for_each(|path| users.add(path));
        // These folders are read whole; their neighbours may be anything.
        self.user.iter().chain(&agents).for_each(|folder| users.add_all_of(folder));
        // Links that lead out of the project are not followed when its files are read.
        let mut projects = Found { within: Some(self.workspace.clone()), ..Found::default() };
        for name in [".claude", ".mcp.json"] {
            projects.add(&self.workspace.join(name));
        }
        for name in [".sortie", ".claude/agents"] {
            projects.add_all_of(&self.workspace.join(name));
        }
        users.paths.into_iter().chain(projects.paths).collect()
    }
}

impl Places {
    /// Paths with keys or past conversations: state, the user's settings, the environment file, and their usual places;
    /// as real paths, whether they exist or not. Nobody but the user reads them, even inside the workspace.
    pub(crate) fn private(&self) -> Vec<PathBuf> {
        let all = [Some(&self.home), self.config.as_ref(), self.env_file.as_ref()];
        all.into_iter().flatten().chain(&self.usual).map(|path| real(path)).collect()
    }
}

/// Paths found so far, without links.
#[derive(Default)]
struct Found {
    /// Boundary; paths outside it do not count.
    within: Option<PathBuf>,
    paths: BTreeSet<PathBuf>,
    looked_through: BTreeSet<PathBuf>,
    n_names: usize,
}

impl Found {
    fn add(&mut self, path: &Path) {
        let path = real(path);
        if self.within.as_ref().is_none_or(|within| path.starts_with(within)) {
            self.paths.insert(path);
        }
    }

    fn add_all_of(&mut self, folder: &Path) {
        self.add(folder);
        self.look_through(folder, 0);
    }

    /// Adds the targets of links in a folder. What cannot be examined is not read by anyone, either.
    fn look_through(&mut self, folder: &Path, depth: usize) {
        let Ok(folder) = folder.canonicalize() else { return };
        let is_outside = self.within.as_ref().is_some_and(|within| !folder.starts_with(within));
        if is_outside || depth > MAX_DEPTH || !self.looked_through.insert(folder.clone()) {
            return;
        }
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            self.n_names += 1;
            if self.n_names > MAX_NAMES {
                return;
            }
            let (path, kind) = (entry.path(), entry.file_type());
            if kind.as_ref().is_ok_and(std::fs::FileType::is_symlink) {
                self.add(&path);
            }
            if kind.is_ok_and(|kind| !kind.is_file()) {
                self.look_through(&path, depth + 1);
            }
        }
    }
}

/// Resolves all links, including those whose target does not exist yet.
fn real(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let (above, below) = as_far_as_it_exists(&path);
        let mut names = below.iter();
        let Some(first) = names.next() else { return above };
        let Ok(target) = above.join(first).read_link() else { return plain(&above, below.iter()) };
        path = above.join(target).join(names.as_path());
    }
    path
}

/// Real path of the existing part, and the rest.
fn as_far_as_it_exists(path: &Path) -> (PathBuf, PathBuf) {
    let exists = |above: &Path| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?.to_owned()));
    path.ancestors().find_map(exists).unwrap_or_default()
}

/// Joins names to a real path. Where nothing exists, `..` removes the name before it.
fn plain<'a>(above: &Path, names: impl Iterator<Item = &'a OsStr>) -> PathBuf {
    let mut path = above.to_owned();
    for name in names {
        if Path::new(name).components().next() == Some(Component::ParentDir) {
            path.pop();
        } else {
            path.push(name);
        }
    }
    path
}
