//! Value of files and passages for a question, from the results of all its searches.

pub(crate) mod evidence;
mod file_kind;
pub(crate) mod importance;
mod matching;
pub(crate) mod rank;
