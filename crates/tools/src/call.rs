//! The traits of a tool, and the context of one call.
//!
//! A tool does not decide whether it may run: the engine's gate does, before it makes the call.

pub(crate) mod context;
pub(crate) mod decoded_call;
pub(crate) mod tool;
pub(crate) mod typed_tool;
