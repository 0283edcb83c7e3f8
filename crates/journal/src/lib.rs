//! The durable log of every task: the truth that everything else is a projection of.
//!
//! [`Journal`] is the port. It knows tasks, legs and the order of facts; it does not know what a model is.

mod error;
mod port;

pub use error::JournalError;
pub use port::{Durability, Entry, Journal, Position, TaskHeader, TaskState};
