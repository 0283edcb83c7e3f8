//! Tools: what a model can do. One file each, a typed trait, a registry.
//!
//! Tools see files only through `sortie-sandbox` and other tasks only through [`Delegation`]. They do not decide
//! whether they may run: the engine's gate does, before it calls them.

mod port;

pub use port::{BoxFuture, CallContext, Delegation, Tool, TypedTool};
