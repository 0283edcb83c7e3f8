//! The only door to files: a workspace root that is pinned once, and opens that cannot leave it.
//!
//! Every path is judged by where it leads, never by how it is written. This crate does not decide which tool or task
//! may ask (that is policy), and it keeps no open files of its own beyond the pinned root.

mod beneath;
mod entries;
mod error;
mod follow;
mod kind;
mod spill;
mod stamp;
mod workspace;

pub use entries::{Entries, Entry};
pub use error::{AccessError, SpillError, WorkspaceError};
pub use kind::FileKind;
pub use spill::SpillDir;
pub use stamp::Stamp;
pub use workspace::{Resolved, Workspace};
