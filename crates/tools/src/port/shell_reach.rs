//! Port to the parts of the machine that a grant leaves to a task's commands.

use std::path::PathBuf;

use sortie_sandbox::Workspace;
use sortie_sandbox::process::Walls;

/// The limits of one task's commands. Commands cannot be checked call by call, so the limits are directories and hosts,
/// enforced by the kernel and the proxy. They are queried again for each command, since files may have appeared. An
/// implementation may access files, so it blocks.
pub trait ShellReach: Send + Sync {
    /// The places where the next command may write.
    fn writable(&self, workspace: &Workspace) -> Writable;

    /// Returns the walls around a command that may write in these directories, which contain these repositories. The
    /// network is left at none. The error says in words why no command can run.
    fn walls(&self, workspace: &Workspace, writable: &[PathBuf], repositories: &Repositories) -> Result<Walls, String>;

    /// The reason why this task's commands write nothing in the workspace, if so.
    fn reads_only(&self) -> Option<String>;

    fn network(&self) -> NetworkReach;

    /// An error, in words, if a command may not talk to this host.
    fn may_reach(&self, host: &str) -> Result<(), String>;
}

/// The places where a command may write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Writable {
    /// Existing directories, by canonical path.
    pub directories: Vec<PathBuf>,
    /// Notes for a model: the reasons why something is missing here.
    pub notes: Vec<String>,
}

/// The hosts that a command may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkReach {
    /// No host.
    None,
    /// Hosts that [`ShellReach::may_reach`] allows.
    Hosts,
    /// Every host.
    All,
}

/// Git directories that a command may write in, by absolute path, without duplicates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repositories {
    /// Git directories of the workspace and the added directories.
    pub top: Vec<PathBuf>,
    /// Git directories of the submodules of `top`.
    pub modules: Vec<PathBuf>,
    /// Git directories of other working trees of `top`.
    pub worktrees: Vec<PathBuf>,
    /// Git directories of repositories deeper in the tree that no ignore file hides.
    pub nested: Vec<PathBuf>,
    /// The reason why there may be others.
    pub lack: Option<String>,
}
