//! Port to what a task's grant leaves of the machine to its commands.

use std::path::PathBuf;

use sortie_sandbox::Workspace;
use sortie_sandbox::process::Walls;

/// Says what the commands of one task may touch. They cannot be asked call by call, so that it is said in terms of
/// directories and hosts, for the kernel and for the proxy to hold. It is asked anew for each command: files may have
/// appeared. It may look at files, so it blocks.
pub trait ShellReach: Send + Sync {
    /// Where the next command may write.
    fn writable(&self, workspace: &Workspace) -> Writable;

    /// The walls around a command that may write in these directories, in which there are these repositories; but for
    /// the network, which is left at none. The error says in words why there can be no command.
    fn walls(&self, workspace: &Workspace, writable: &[PathBuf], repositories: &Repositories) -> Result<Walls, String>;

    /// Why this task's commands write nothing in the workspace, if they do not.
    fn reads_only(&self) -> Option<String>;

    fn network(&self) -> NetworkReach;

    /// Whether a command may talk to this host; the refusal in words.
    fn may_reach(&self, host: &str) -> Result<(), String>;
}

/// Where a command may write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Writable {
    /// By canonical path. They exist.
    pub directories: Vec<PathBuf>,
    /// What a model should know: why something is not among them.
    pub notes: Vec<String>,
}

/// Which hosts a command may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkReach {
    /// None.
    None,
    /// Those that [`ShellReach::may_reach`] lets pass.
    Hosts,
    /// Every one.
    All,
}

/// Git directories in what a command may write, by absolute path, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repositories {
    /// Those of the workspace and of the directories that were added to it.
    pub top: Vec<PathBuf>,
    /// Those of the submodules of `top`.
    pub modules: Vec<PathBuf>,
    /// Those of the further working trees of `top`.
    pub worktrees: Vec<PathBuf>,
    /// Those of repositories deeper in the tree that no ignore file hides.
    pub nested: Vec<PathBuf>,
    /// The reason why there may be others.
    pub lack: Option<String>,
}
