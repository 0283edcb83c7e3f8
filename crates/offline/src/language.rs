//! Words of prose and code: stems, word lists, sentences, and the pieces of identifiers.

pub(crate) mod lexicon;
pub(crate) mod sentences;
pub(crate) mod stem;
pub(crate) mod words;
