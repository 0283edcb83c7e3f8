//! Tools: what a model can do. One file each, a typed trait, a registry.
//!
//! Tools see files only through `sortie-sandbox` and other tasks only through [`Delegation`]. They do not decide
//! whether they may run: the engine's gate does, before it calls them.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod answer;
mod arguments;
mod bash;
mod bash_output;
mod blocking;
mod cut;
mod diff;
mod edit;
mod glob;
mod globs;
mod grep;
mod interruptible;
mod kill_shell;
mod ls;
mod multi_edit;
mod parallel;
mod port;
mod problem;
mod read;
mod registry;
mod rules;
mod seen;
mod shell;
mod task;
mod todo_write;
mod walk;
mod web_fetch;
mod write;

pub use port::{AnswerParts, Assistant, BoxFuture, CallContext, Delegation, Progress, Tool, TypedTool};
pub use registry::Registry;
pub use seen::Seen;
pub use shell::{Changes, NetworkReach, Repositories, ShellReach, ShellSetup, Shells, Standing, Writable};
pub use task::{NOT_STARTED, TaskTool};
pub use web_fetch::{Lookup, Reach, WebFetch, WebRules, WebRulesError};
