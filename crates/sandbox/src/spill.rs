//! Spill directories: private files for texts that are too long for a conversation.

mod error;
mod growing_file;
mod private_file;
mod spill_dir;

pub use error::SpillError;
pub use growing_file::GrowingFile;
pub use spill_dir::SpillDir;
