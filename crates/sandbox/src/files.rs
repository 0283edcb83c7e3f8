//! The files of a workspace: opened, read, listed, written, and moved out of it.

mod entries;
mod error;
mod make_directory;
mod move_out;
mod open;
mod read_whole;
mod workspace;
mod write;

pub use entries::{Entries, Entry};
pub use error::WriteError;
pub use workspace::{Resolved, Workspace};
pub use write::{Expected, Written};
