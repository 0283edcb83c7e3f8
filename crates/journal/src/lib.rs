//! The durable log of every task: the truth that everything else is a projection of.
//!
//! [`Journal`] is the port. It knows tasks, legs and the order of facts; it does not know what a model is.
//! [`SqliteJournal`] keeps the log on disk, [`MemoryJournal`] is its twin for tests and embedding.

mod error;
mod horizon;
mod memory;
mod owner;
mod plan;
mod port;
mod sqlite;
mod task;

pub use error::JournalError;
pub use memory::MemoryJournal;
pub use port::{Durability, Entry, Journal, Position, Scope, TaskHeader, TaskState};
pub use sqlite::SqliteJournal;
