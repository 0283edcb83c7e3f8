//! The SQLite file of a journal: opening, checking and migrating it, and its rows, each with a checksum.

pub(crate) mod error;
pub(crate) mod event_checksum;
pub(crate) mod file_identity;
pub(crate) mod open;
pub(crate) mod page_cache;
pub(crate) mod row;
pub(crate) mod row_checksum;
pub(crate) mod schema;
pub(crate) mod task_row;
pub(crate) mod totals;
mod working_time_migration;
