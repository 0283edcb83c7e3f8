//! Tools: what a model can do. One file each, a typed trait, a registry.
//!
//! Tools see files only through `sortie-sandbox` and other tasks only through [`Delegation`] and [`Kin`]. They do
//! not decide whether they may run: the engine's gate does, before it calls them.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod answer;
mod arguments;
mod ask;
mod bash;
mod bash_output;
mod blocking;
mod cut;
mod diff;
mod edit;
mod essence;
mod glance;
mod glob;
mod globs;
mod grep;
mod interruptible;
mod kill_shell;
mod kin;
mod ls;
mod multi_edit;
mod note;
mod parallel;
mod port;
mod problem;
mod read;
mod registry;
mod rules;
mod seen;
mod send_message;
mod shell;
mod snapshot;
mod task;
mod task_list;
mod task_output;
mod task_stop;
mod todo_write;
mod walk;
mod web_fetch;
mod write;

pub use essence::essence;
pub use glance::line as glance_line;
pub use kin::{Alone, Answered, Choice, Glance, Kin, Listing, Note, Receipt, ReportPage, Sought, Stand, Work};
pub use port::{
    AnswerParts, Assistant, BoxFuture, CallContext, Delegated, Delegation, Order, Progress, Tool, TypedTool,
};
pub use registry::Registry;
pub use seen::Seen;
pub use send_message::MAX_MESSAGE_BYTES;
pub use shell::{
    Changes, EarlierShells, NetworkReach, Repositories, ShellReach, ShellSetup, Shells, Standing, TASK_VARIABLE,
    Writable, shell_name,
};
pub use snapshot::{Snapshot, SnapshotBounds, SnapshotError};
pub use task::{NOT_STARTED, TaskTool, task_answer};
pub use web_fetch::{Lookup, Reach, WebFetch, WebRules, WebRulesError};
