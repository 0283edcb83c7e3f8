//! Source code, read with simple patterns: definitions, passages, and locations to report.

pub(crate) mod location;
pub(crate) mod passages;
pub(crate) mod syntax;
