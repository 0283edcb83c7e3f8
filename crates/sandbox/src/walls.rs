//! The walls around a command, described: what it may touch, and the plan by which its keeper builds them.
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

/// The walls around one command. Everything can be read but what is hidden; nothing can be written but what is named.
#[derive(Debug, Clone)]
pub struct Walls {
    /// The workspace. The command's directory lies in it, or in something writable.
    pub root: PathBuf,
    /// Existing directories in which everything may be written, but what is protected. No link may be on the way to
    /// one; only `root`, and what is named beneath it, may be reached through the links that lead to `root` itself.
    pub writable: Vec<PathBuf>,
    /// Absolute paths that stay as they are even where they lie in something writable. One that does not exist cannot
    /// be made: while the command runs, an empty directory stands for the first part of it that is missing.
    pub protected: Vec<PathBuf>,
    /// Files and directories that cannot be read. One that does not exist is no concern.
    pub hidden: Vec<PathBuf>,
    pub network: Network,
    pub limits: ProcessLimits,
}

impl Walls {
    /// A workspace that can be read, and nothing else.
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

/// Whom a command can talk to. Sockets of this machine's other programs can never be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// No sockets at all.
    #[default]
    None,
    /// TCP within a network of its own, in which one port of 127.0.0.1 is answered by whoever takes
    /// `Running::listener`. Only in the tier of namespaces.
    Proxy { port: u16 },
    /// TCP and UDP, anywhere.
    All,
}

/// What a command may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Bytes of private memory, of each process.
    pub memory: u64,
    /// Processes and threads at the same time. For root at least 301, and only from Linux 6.14 on.
    pub processes: u64,
    /// Bytes of each file that it writes.
    pub file_size: u64,
    /// Seconds of processor time, of each process.
    pub cpu_seconds: u64,
    /// Open files, of each process.
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

/// How strong the walls are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// A view of the file system of its own, a process namespace, Landlock where there is, and a system-call filter.
    Namespaces,
    /// Landlock and the system-call filter. The command sees the machine's processes and `/tmp`, though it can touch
    /// neither; before version 6 of Landlock it can send signals to processes of the same user.
    ///
    /// Mode and times of all that belongs to the user can be changed, inside the walls and outside: Landlock has no
    /// word for that. Where something is protected or hidden, nothing can be made, removed or renamed beside it, nor in
    /// any directory above it: with something protected at the top of the workspace, nothing at the top. The names in a
    /// hidden directory can be listed.
    Landlock,
    /// None: only the environment is scrubbed, and what was started is ended. Never chosen, only wished for.
    None,
}
