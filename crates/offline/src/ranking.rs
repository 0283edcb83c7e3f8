//! Worth of files and passages for a question, from everything that its searches have shown.

pub(crate) mod evidence;
mod file_kind;
pub(crate) mod importance;
mod matching;
pub(crate) mod rank;
