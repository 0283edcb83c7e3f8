//! The durable log of every task: the truth that everything else is a projection of.
//!
//! [`Journal`] is the port. It knows tasks, legs and the order of facts; it does not know what a model is.
//! [`SqliteJournal`] keeps the log on disk, [`MemoryJournal`] is its twin for tests and embedding.

mod error;
mod horizon;
mod listing;
mod memory;
mod owner;
mod plan;
mod port;
mod prune;
mod sqlite;
mod standing;
mod task;
mod worked;

pub use error::JournalError;
pub use listing::TaskQuery;
pub use memory::MemoryJournal;
pub use port::{CommandId, Durability, Entry, Journal, Position, Scope, TaskHeader, TaskState};
pub use prune::{Kept, KeptFor, Pruned};
pub use sqlite::SqliteJournal;
pub use standing::{Holder, Standing};
pub use worked::Worked;
