//! The port to a journal: its trait, and the plain data that goes through it.

mod entry;
mod error;
mod journal;
mod pruned;
mod standing;
mod task_header;
mod task_query;
mod working_time;

pub use entry::{CommandId, Durability, Entry, Position, Scope};
pub use error::JournalError;
pub use journal::Journal;
pub use pruned::{Kept, KeptFor, Pruned};
pub use standing::{Holder, Standing};
pub use task_header::{TaskHeader, TaskState};
pub use task_query::TaskQuery;
pub use working_time::Worked;
