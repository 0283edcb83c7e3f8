//! Front matter: the keys and values at the head of a Markdown file, and their errors.

mod blocks;
pub(crate) mod document;
pub(crate) mod entries;
pub(crate) mod file_findings;
pub(crate) mod keys;
pub(crate) mod yaml;
