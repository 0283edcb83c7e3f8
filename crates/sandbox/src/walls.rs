//! The walls around a command: a description of what it may touch, and the plan for its keeper.
//!
//! Nothing here reads a command, and nothing here decides who may run one.

mod encoding;
mod environment;
mod error;
pub(crate) mod filter;
mod follow_links;
pub(crate) mod plan;
pub(crate) mod report;
mod shell;

use std::path::PathBuf;

pub use environment::Environment;
pub use error::SpawnError;
pub use shell::Shell;

/// The walls around one command. Everything not hidden can be read; only what is named can be written.
#[derive(Debug, Clone)]
pub struct Walls {
    /// The workspace. The command's directory lies in it, or in another writable directory.
    pub root: PathBuf,
    /// Existing directories in which everything not protected may be written. The path to one may contain no link; only
    /// `root`, and paths beneath it, may be reached through the links that lead to `root` itself.
    pub writable: Vec<PathBuf>,
    /// Absolute paths that stay unchanged even inside a writable directory. A missing one cannot be created: while the
    /// command runs, an empty directory takes the place of its first missing component.
    pub protected: Vec<PathBuf>,
    /// Files and directories that cannot be read. Missing ones are ignored.
    pub hidden: Vec<PathBuf>,
    pub network: Network,
    pub limits: ProcessLimits,
}

impl Walls {
    /// A workspace that can be read, and nothing more.
    pub fn reading(root: PathBuf) -> Self {
        Self {
            root,
            writable: Vec::new(),
            protected: Vec::new(),
            hidden: Vec::new(),
            network: Network::None,
            limits: ProcessLimits::default(),
        }
    }

    /// A workspace that can be read and written.
    pub fn writing(root: PathBuf) -> Self {
        Self { writable: vec![root.clone()], ..Self::reading(root) }
    }
}

/// Network access of a command. Sockets of this machine's other programs can never be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// No sockets at all. In the namespace tier, in an empty network that all such commands share.
    #[default]
    None,
    /// TCP within a network of its own, in which `Running::listener` answers one port of 127.0.0.1. Only in the
    /// namespace tier.
    Proxy { port: u16 },
    /// TCP and UDP, anywhere.
    All,
}

/// Resource limits of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Bytes of private memory, per process; and of shared memory, for all processes together.
    pub memory: u64,
    /// Processes and threads at the same time. For root at least 301, and only from Linux 6.14 on.
    pub processes: u64,
    /// Size of each file that it writes, in bytes.
    pub file_size: u64,
    /// Seconds of processor time, per process.
    pub cpu_seconds: u64,
    /// Open files, per process.
    pub open_files: u64,
    /// Bytes in the private `/tmp`, and as many in `/dev/shm`.
    pub temporary: u64,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            memory: 4 * GIB,
            processes: 512,
            file_size: 2 * GIB,
            cpu_seconds: 3600,
            open_files: 4096,
            temporary: GIB,
        }
    }
}

/// Strength of the walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// A file-system view of its own, a process namespace, Landlock if available, and a system-call filter.
    Namespaces,
    /// Landlock and the system-call filter. The command sees the machine's processes, connections and `/tmp`, though it
    /// can touch none of them. Before version 6 of Landlock it can send signals to processes of the same user.
    ///
    /// Landlock does not cover mode and times: the keeper changes them for the command, in writable places alone. Next
    /// to a protected or hidden path, and in every directory above it, nothing can be created, removed or renamed. With
    /// something protected at the top of the workspace, this applies to its top level. The names in a hidden directory
    /// can be listed.
    Landlock,
    /// No walls: only the environment is scrubbed, and processes left running are ended. Never chosen automatically,
    /// only on request.
    None,
}
