//! What a task's grant leaves of the machine to programs that read no rules.

use std::path::Path;

use sortie_sandbox::Workspace;
use sortie_sandbox::process::Walls;

/// Says what the commands of one task may touch. They cannot be asked call by call, so that it is said in terms of
/// directories and hosts, for the kernel and for the proxy to hold.
pub trait ShellReach: Send + Sync {
    /// The walls around the next command, but for the network, which is left at none. Made anew for each: files may have
    /// appeared. It may look through the workspace, so it blocks. The error says in words why there can be no command.
    fn walls(&self, workspace: &Workspace) -> Result<Walls, String>;

    /// Why this task's commands write nothing in the workspace, if they do not.
    fn reads_only(&self) -> Option<String>;

    fn network(&self) -> NetworkReach;

    /// Whether a command may talk to this host; the refusal in words.
    fn may_reach(&self, host: &str) -> Result<(), String>;

    /// What a path is that no agent may make or change; relative to the workspace, absolute in an added directory.
    fn protects(&self, path: &Path) -> Option<String>;
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
