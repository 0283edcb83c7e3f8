//! What a tool is, and what surrounds one call of it.
//!
//! A tool does not decide whether it may run: the engine's gate does, before it makes the call.

pub(crate) mod context;
pub(crate) mod tool;
pub(crate) mod typed_tool;
