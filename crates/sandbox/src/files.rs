//! The files of a workspace: opening, reading, listing, writing, and moving them out of it.

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
