//! Changing a file: from what a model wants to what is on disk, or why the file stays as it is.
//!
//! Write, Edit and MultiEdit share it. See [`change`] for the way of one change.

pub(crate) mod change;
pub(crate) mod file_text;
mod hidden_parts;
mod near_miss;
pub(crate) mod new_text;
pub(crate) mod refusal;
pub(crate) mod replace;
mod report;
