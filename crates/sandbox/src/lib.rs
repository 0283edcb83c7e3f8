//! The only door to files and processes: a workspace root that is pinned once, opens that cannot leave it, and commands
//! in walls that the kernel holds up.
//!
//! Every path is judged by where it leads, never by how it is written. This crate does not decide which tool or task
//! may ask (that is policy; a [`Guard`] brings its word here), and it keeps no open files of its own beyond the pinned
//! directories.

mod beneath;
mod child;
mod entries;
mod error;
mod follow;
mod git;
mod guard;
mod kind;
mod own_memory;
mod own_program;
mod own_service;
pub mod process;
mod roots;
mod spill;
mod stamp;
mod taken;
mod whole;
mod workspace;
mod write;

pub use entries::{Entries, Entry};
pub use error::{AccessError, SpillError, WorkspaceError, WriteError};
pub use git::{Git, GitDirectory, GitError, GitStatus, GitVersion, git_directory};
pub use guard::{Access, Guard};
pub use kind::FileKind;
pub use own_memory::{give_memory_back, share_memory};
pub use own_program::{OwnProgram, OwnProgramEnded, OwnProgramError};
pub use own_service::{OwnService, OwnServiceError, RunningService, ServicePipes};
pub use spill::{GrowingFile, SpillDir};
pub use stamp::Stamp;
pub use workspace::{Resolved, Workspace};
pub use write::{Expected, Written};
