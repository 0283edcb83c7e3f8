//! The writer of a task's facts to the journal, and the views made from them: latest activity, progress file, notes,
//! cost.

pub(crate) mod activity;
pub(crate) mod cost;
pub(crate) mod notes;
pub(crate) mod progress_file;
pub(crate) mod recorded_work;
pub(crate) mod writer;
