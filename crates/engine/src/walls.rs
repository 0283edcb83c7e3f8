//! What one task's grant leaves of the machine to its commands, as walls.
//!
//! The grant speaks of rules and names, the kernel of directories and files: what lies in between is found here, by
//! looking at what exists. Nothing is decided here; that is `sortie-policy`'s.

mod search;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use sortie_mutant::is_out;
use sortie_policy::{
    Access, Confinement, Decision, Judge, Places, Writes, protected_from_commands, secret_places, wall_names,
};
use sortie_sandbox::process::Walls;
use sortie_sandbox::{FileKind, Workspace, git_directory};
use sortie_tools::{NetworkReach, ShellReach};

use self::search::{Found, search};

/// Git's own place in a work tree: a directory, or a file that says where that is.
const GIT: &str = ".git";

/// The reach of one task's commands.
pub(crate) struct TaskReach {
    judge: Arc<Judge>,
    places: Places,
    /// Protected names deeper in the tree, as they were before the first command. What appears there later was made by a
    /// command, and is taken away after it.
    nested: OnceLock<Result<BTreeSet<PathBuf>, String>>,
}

impl TaskReach {
    pub(crate) fn new(judge: Arc<Judge>, places: Places) -> Self {
        Self { judge, places, nested: OnceLock::new() }
    }

    fn confinement(&self) -> Confinement<'_> {
        self.judge.confinement()
    }

    /// The directories that commands may write in, of those that exist.
    fn writable(&self, workspace: &Workspace) -> Vec<PathBuf> {
        let directories = match self.confinement().writes() {
            Writes::Within(directories) => directories,
            Writes::Nowhere { .. } if is_out("readers-shell") => vec![PathBuf::new()],
            Writes::Nowhere { .. } => return Vec::new(),
        };
        let absolute = directories.into_iter().map(|path| workspace.root().join(path));
        let is_directory = |path: &PathBuf| {
            workspace.resolve(&path.to_string_lossy()).is_ok_and(|found| found.kind == FileKind::Directory)
        };
        absolute.filter(is_directory).collect()
    }

    /// What stays as it is within something writable.
    fn protected(&self, workspace: &Workspace, writable: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
        let root = workspace.root();
        let mut protected: Vec<PathBuf> = Vec::new();
        for directory in workspace.added().chain([root]) {
            protected.extend(wall_names().directories.iter().map(|name| directory.join(name)));
            protected.extend(at_the_top(workspace, directory)?);
        }
        let nested = self.nested.get_or_init(|| nested(workspace, writable));
        protected.extend(nested.clone()?);
        protected.extend(self.kept(workspace, Access::Write)?);
        protected.extend(self.places.own.iter().filter(|path| exists(workspace, path)).cloned());
        Ok(protected)
    }

    fn hidden(&self, workspace: &Workspace) -> Result<Vec<PathBuf>, String> {
        let holds_work = |path: &PathBuf| {
            let mut works = [workspace.root()].into_iter().chain(workspace.added());
            works.any(|work| work.starts_with(path))
        };
        let mut hidden = secret_places(&self.places);
        hidden.extend(self.places.own.iter().filter(|path| !path.starts_with(workspace.root())).cloned());
        hidden.retain(|path| !holds_work(path) && !is_out("secret-places"));
        if !is_out("denied-reads") {
            hidden.extend(self.kept(workspace, Access::Read)?);
        }
        Ok(hidden)
    }

    /// What rules about single files mean: by name where they say it, by a search where they have wildcards.
    fn kept(&self, workspace: &Workspace, access: Access) -> Result<Vec<PathBuf>, String> {
        let confinement = self.confinement();
        let root = workspace.root();
        let mut kept: Vec<PathBuf> = confinement.named_places(access).iter().map(|path| root.join(path)).collect();
        if confinement.has_globs(access) {
            let keeps = |path: &Path| confinement.keeps(path, access);
            let found = search(workspace, |path, _| if keeps(path) { Found::Wanted } else { Found::Passed });
            let found =
                found.ok_or("there are too many files here to find those that rules with wildcards are about")?;
            kept.extend(found.iter().map(|path| root.join(path)));
        }
        Ok(kept)
    }
}

impl ShellReach for TaskReach {
    fn walls(&self, workspace: &Workspace) -> Result<Walls, String> {
        let writable = self.writable(workspace);
        let unprotected = writable.is_empty() || is_out("wall-names");
        let protected = if unprotected { Vec::new() } else { self.protected(workspace, &writable)? };
        let hidden = self.hidden(workspace)?;
        Ok(Walls { writable, protected, hidden, ..Walls::reading(workspace.root().to_owned()) })
    }

    fn reads_only(&self) -> Option<String> {
        match self.confinement().writes() {
            Writes::Nowhere { owner } => Some(owner),
            Writes::Within(_) => None,
        }
    }

    fn network(&self) -> NetworkReach {
        match self.confinement().network() {
            sortie_policy::NetworkReach::None => NetworkReach::None,
            sortie_policy::NetworkReach::Hosts => NetworkReach::Hosts,
            sortie_policy::NetworkReach::All => NetworkReach::All,
        }
    }

    fn may_reach(&self, host: &str) -> Result<(), String> {
        match self.confinement().reaches(host) {
            Decision::Allow => Ok(()),
            Decision::Ask(ground) | Decision::Deny(ground) => Err(ground.to_string()),
        }
    }

    fn protects(&self, path: &Path) -> Option<String> {
        // A file of this name leads to a repository elsewhere; a directory is judged by what is in it.
        let leads_to_git = path.file_name().is_some_and(|name| name == GIT);
        protected_from_commands(path)
            .map(|protected| protected.to_string())
            .or_else(|| leads_to_git.then(|| format!("the way to a repository (`{GIT}`)")))
    }
}

/// What has a protected name at the top of a tree, and what commands leave alone of git's own files there. Where there
/// are none, no command makes any: a repository has hooks.
fn at_the_top(workspace: &Workspace, top: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = workspace.read_dir(named(workspace, top)).map_err(|error| error.to_string())?;
    let names: Vec<OsString> = entries.flatten().map(|entry| entry.name).collect();
    let is_protected = |name: &&OsString| protected_from_commands(Path::new(name)).is_some();
    let mut protected: Vec<PathBuf> = names.iter().filter(is_protected).map(|name| top.join(name)).collect();
    let git = top.join(GIT);
    match git_directory(top) {
        Ok(Some(found)) if found.own == git => protected.extend(in_git(workspace, &git)),
        // A work tree beside its repository: the file that leads there, and all that it leads to.
        Ok(Some(found)) => protected.extend([git, found.own, found.common]),
        Ok(None) | Err(_) => protected.push(git),
    }
    Ok(protected)
}

fn exists(workspace: &Workspace, path: &Path) -> bool {
    workspace.resolve(&path.to_string_lossy()).is_ok()
}

/// As the workspace names its root and the directories added to it.
fn named<'a>(workspace: &Workspace, top: &'a Path) -> &'a Path {
    if top == workspace.root() { Path::new("") } else { top }
}

/// What commands leave alone in a git directory. Git would stumble over an empty directory in the place of some of it.
fn in_git(workspace: &Workspace, git: &Path) -> Vec<PathBuf> {
    let names = wall_names();
    let others = names.git_others.iter().map(|name| git.join(name)).filter(|path| exists(workspace, path));
    names.git_directories.iter().map(|name| git.join(name)).chain(others).collect()
}

/// What is protected anywhere in what is writable.
fn nested(workspace: &Workspace, writable: &[PathBuf]) -> Result<BTreeSet<PathBuf>, String> {
    let root = workspace.root();
    let found = search(workspace, |path, kind| {
        let absolute = root.join(path);
        let leads_to_git = path.file_name().is_some_and(|name| name == GIT) && kind != FileKind::Directory;
        if !writable.iter().any(|place| absolute.starts_with(place) || place.starts_with(&absolute)) {
            Found::Closed
        } else if leads_to_git || protected_from_commands(path).is_some() {
            Found::Wanted
        } else if is_gits_store(path) {
            Found::Closed
        } else {
            Found::Passed
        }
    });
    let found = found.ok_or("there are too many files here to find those that no command may change")?;
    // Every repository has its hooks beside its configuration, or could have.
    let is_config = |path: &&PathBuf| path.ends_with("config") && path.iter().any(|name| name == GIT);
    let hooks: Vec<PathBuf> = found.iter().filter(is_config).map(|path| path.with_file_name("hooks")).collect();
    Ok(found.into_iter().chain(hooks).map(|path| root.join(path)).collect())
}

/// Whether it is where git keeps its objects and the like: there are many, and nothing of it is protected. The
/// repositories of submodules and other work trees lie elsewhere.
fn is_gits_store(path: &Path) -> bool {
    const REPOSITORIES: [&str; 2] = ["modules", "worktrees"];
    const STORES: [&str; 3] = ["objects", "refs", "logs"];
    let mut names = path.components().map(Component::as_os_str).skip_while(|name| *name != GIT).skip(1);
    let Some(first) = names.next() else { return false };
    !REPOSITORIES.iter().any(|name| first == *name) || names.any(|name| STORES.iter().any(|store| name == *store))
}
