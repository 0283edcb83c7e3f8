//! The only door to files and processes. A workspace root is pinned once, opens cannot leave it, and commands run in
//! walls that the kernel enforces.
//!
//! Every path is judged by where it leads, never by how it is written. This crate does not decide which tool or task
//! may ask (that is policy; a [`Guard`] brings its decisions here). It keeps no open files of its own beyond the pinned
//! directories.

mod files;
mod git;
mod keeper;
mod paths;
pub mod process;
mod programs;
mod spill;
mod system;
mod walls;

pub use files::{Entries, Entry, Expected, Resolved, Workspace, WriteError, Written};
pub use git::{Git, GitDirectory, GitError, GitStatus, GitVersion, git_directory};
pub use paths::{Access, AccessError, FileKind, Guard, Stamp, WorkspaceError};
pub use programs::{
    OwnProgram, OwnProgramEnded, OwnProgramError, OwnService, OwnServiceError, RunningService, ServicePipes,
};
pub use spill::{GrowingFile, SpillDir, SpillError};
pub use system::{give_memory_back, share_memory};
