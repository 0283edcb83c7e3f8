//! Tools: what a model can do. One file each, a typed trait, a registry.
//!
//! Tools see files only through `sortie-sandbox` and other tasks only through [`Delegation`]. They do not decide
//! whether they may run: the engine's gate does, before it calls them.

mod answer;
mod arguments;
mod blocking;
mod glob;
mod globs;
mod grep;
mod interruptible;
mod ls;
mod parallel;
mod port;
mod read;
mod registry;
mod rules;
mod task;
mod todo_write;
mod walk;

pub use port::{AnswerParts, BoxFuture, CallContext, Delegation, Tool, TypedTool};
pub use registry::Registry;
pub use task::{NOT_STARTED, TaskTool};
