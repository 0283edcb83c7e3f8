//! The confinement of a task's commands: walls made from its grant.
//!
//! A grant has rules and names, the kernel directories and files. This module translates by looking at the file system,
//! anew for each command. It decides nothing; `sortie-policy` does.

mod git;
mod search;
#[cfg(test)]
mod tests;
mod writable;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sortie_mutant::is_out;
use sortie_policy::{
    Access, Confinement, Decision, Judge, Places, Writes, protected_from_commands, protected_names, secret_places,
    wall_names,
};
use sortie_sandbox::process::Walls;
use sortie_sandbox::{FileKind, Workspace};
use sortie_tools::{NetworkReach, Repositories, ShellReach, Writable};

use self::search::search;

/// Git's entry in a work tree: its directory, or a file that points to it.
const GIT: &str = ".git";

/// Directory of the keys that let people into a machine.
const KEYS: &str = ".ssh";

/// The reach of one task's commands.
pub(crate) struct TaskConfinement {
    judge: Arc<Judge>,
    places: Places,
}

impl TaskConfinement {
    pub(crate) fn new(judge: Arc<Judge>, places: Places) -> Self {
        Self { judge, places }
    }

    fn confinement(&self) -> Confinement<'_> {
        self.judge.confinement()
    }

    /// Returns the paths that stay protected inside writable ones. Below the top only Git's own files are protected: a
    /// mount point would keep commands from deleting the directory around it.
    fn protected(&self, workspace: &Workspace, repositories: &Repositories) -> Result<Vec<PathBuf>, String> {
        let mut protected: Vec<PathBuf> = Vec::new();
        for top in [workspace.root()].into_iter().chain(workspace.added()) {
            protected.extend(wall_names().directories.iter().map(|name| top.join(name)));
            protected.extend(at_the_top(workspace, top)?);
        }
        protected.extend(git::kept(workspace, repositories, self.places.home.as_deref()));
        protected.extend(self.kept(workspace, Access::Write)?);
        protected.extend(self.places.own.iter().filter(|path| exists(workspace, path)).cloned());
        protected.extend(self.places.private.iter().cloned());
        // If the workspace is a home: keys placed there would let somebody in from outside.
        protected.extend(self.places.home.iter().chain(&self.places.other_homes).map(|home| home.join(KEYS)));
        Ok(protected)
    }

    fn hidden(&self, workspace: &Workspace) -> Result<Vec<PathBuf>, String> {
        let mut works = [workspace.root()].into_iter().chain(workspace.added());
        if let Some(work) = works.find(|work| self.places.private.iter().any(|path| work.starts_with(path))) {
            let work = work.display();
            return Err(format!("{work} is inside Sortie's own state, which no agent may read; work elsewhere"));
        }
        let mut hidden = secret_places(&self.places);
        hidden.retain(|_| !is_out("secret-places"));
        if !is_out("denied-reads") {
            hidden.extend(self.kept(workspace, Access::Read)?);
        }
        Ok(hidden)
    }

    /// Returns the files meant by rules about single files: by name, or by a search if the rules have wildcards.
    fn kept(&self, workspace: &Workspace, access: Access) -> Result<Vec<PathBuf>, String> {
        let confinement = self.confinement();
        let root = workspace.root();
        let mut kept: Vec<PathBuf> = confinement.named_places(access).iter().map(|path| root.join(path)).collect();
        if confinement.has_globs(access) {
            let found = search(workspace, |path| confinement.keeps(path, access));
            let found = found.ok_or(
                "there are too many files here to apply rules with wildcards to commands; name the files \
                    in the rules",
            )?;
            kept.extend(found.iter().map(|path| root.join(path)));
        }
        Ok(kept)
    }
}

impl ShellReach for TaskConfinement {
    fn writable(&self, workspace: &Workspace) -> Writable {
        match self.confinement().writes() {
            Writes::Within(directories) => writable::among(workspace, &self.confinement(), directories),
            Writes::Nowhere { .. } if is_out("readers-shell") => {
                writable::among(workspace, &self.confinement(), vec![PathBuf::new()])
            }
            Writes::Nowhere { .. } => Writable::default(),
        }
    }

    fn walls(&self, workspace: &Workspace, writable: &[PathBuf], repositories: &Repositories) -> Result<Walls, String> {
        let unprotected = writable.is_empty() || is_out("wall-names");
        let protected = if unprotected { Vec::new() } else { self.protected(workspace, repositories)? };
        let hidden = self.hidden(workspace)?;
        Ok(Walls { writable: writable.to_vec(), protected, hidden, ..Walls::reading(workspace.root().to_owned()) })
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
}

/// Returns protected names at the top of a tree, and `.git` if there is no repository. Git would obey whatever is put
/// there, even a file that leads elsewhere.
fn at_the_top(workspace: &Workspace, top: &Path) -> Result<Vec<PathBuf>, String> {
    let mut entries = workspace.read_dir(named(workspace, top)).map_err(|error| error.to_string())?;
    let names: Vec<OsString> = entries.by_ref().flatten().map(|entry| entry.name).collect();
    let is_protected = |name: &&OsString| protected_from_commands(Path::new(name)).is_some();
    let mut protected: Vec<PathBuf> = names.iter().filter(is_protected).map(|name| top.join(name)).collect();
    let in_directories = protected_names().filter(|name| name.contains('/')).map(|name| top.join(name));
    protected.extend(in_directories.filter(|path| exists(workspace, path)));
    let is_directory = entries.stamp(GIT.as_ref()).is_some_and(|stamp| stamp.kind == FileKind::Directory);
    protected.extend((!is_directory).then(|| top.join(GIT)));
    Ok(protected)
}

/// Returns true if a path of the workspace exists; a link counts itself.
fn exists(workspace: &Workspace, path: &Path) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return false };
    workspace.read_dir(named(workspace, parent)).is_ok_and(|entries| entries.stamp(name).is_some())
}

/// Returns the workspace's name of a path: relative to the root, absolute in an added directory.
fn named<'a>(workspace: &Workspace, path: &'a Path) -> &'a Path {
    path.strip_prefix(workspace.root()).unwrap_or(path)
}
