//! Paths that steer Sortie, wherever they really lie. No agent may change them by any path.
//!
//! Settings, agents and prompts are often links to files that are kept elsewhere. Where such a link leads counts as
//! well, also where there is nothing yet. It finds paths and reads none of the files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::Places;

/// Folders in folders that are looked through for links: as deep as agents are read.
const MAX_DEPTH: usize = 8;
/// Names that are looked at in one folder and those below it.
const MAX_NAMES: usize = 20_000;
/// Links to links: more lead nowhere.
const MAX_LINKS: usize = 40;

impl Places {
    /// Where settings and state are, the user's, the project's and Sortie's own, by their real paths, whether they
    /// exist or not.
    pub(crate) fn own(&self) -> Vec<PathBuf> {
        let mut users = Found::default();
        let (models, agents) = (self.models(), self.foreign.as_ref().map(|foreign| foreign.join("agents")));
        let named = [Some(&self.home), self.foreign.as_ref(), self.config.as_ref(), models.as_ref()];
        named.into_iter().chain([self.env_file.as_ref()]).flatten().for_each(|path| users.add(path));
        // What is in these is read; beside them may lie any number of other things.
        self.user.iter().chain(&agents).for_each(|folder| users.add_all_of(folder));
        // A link of the project that leads out of it is not followed when these are read.
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
    /// What holds keys and all that was ever said: state, the user's settings, the file with the environment; by their
    /// real paths, whether they exist or not. Nobody but the user reads them, also where they lie in the workspace.
    pub(crate) fn private(&self) -> Vec<PathBuf> {
        let all = [Some(&self.home), self.config.as_ref(), self.env_file.as_ref()];
        all.into_iter().flatten().map(|path| real(path)).collect()
    }
}

/// The paths that were found, without links.
#[derive(Default)]
struct Found {
    /// What lies elsewhere does not count.
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

    /// Adds what links in a folder lead to. What cannot be looked at is read by nobody either.
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

/// The path without links, those included that lead to nothing yet.
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

/// The real path of the part that exists, and the rest.
fn as_far_as_it_exists(path: &Path) -> (PathBuf, PathBuf) {
    let exists = |above: &Path| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?.to_owned()));
    path.ancestors().find_map(exists).unwrap_or_default()
}

/// Names below a real path. Where nothing is, `..` takes back the name before it.
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
