//! Source code read by simple patterns: definitions, passages, and locations worth pointing at.

pub(crate) mod location;
pub(crate) mod passages;
pub(crate) mod syntax;
