//! The durable log of every task: the truth that everything else is a projection of.
//!
//! [`Journal`] is the port. It knows tasks, legs and the order of facts; it does not know what a model is.
//! [`SqliteJournal`] keeps the log on disk, [`MemoryJournal`] is its twin for tests and embedding.

mod database;
mod memory;
mod port;
mod sqlite;
mod tasks;

pub use memory::MemoryJournal;
pub use port::{
    CommandId, Durability, Entry, Holder, Journal, JournalError, Kept, KeptFor, Position, Pruned, Scope, Standing,
    TaskHeader, TaskQuery, TaskState, Worked,
};
pub use sqlite::SqliteJournal;
