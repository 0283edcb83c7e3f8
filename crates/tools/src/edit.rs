//! Changing a file: checks, replacements, the write to disk, and the report or refusal.
//!
//! `Write`, `Edit` and `MultiEdit` share this room. See [`change`] for the steps of one change.

pub(crate) mod change;
pub(crate) mod file_change;
pub(crate) mod file_text;
mod hidden_parts;
mod near_miss;
pub(crate) mod refusal;
pub(crate) mod replace;
pub(crate) mod replacements;
mod report;
