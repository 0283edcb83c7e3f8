//! Tools: everything that a model can do. One file each, a typed trait, a registry.
//!
//! Tools see files only through `sortie-sandbox` and other tasks only through [`Delegation`] and [`Kin`]. They do not
//! decide if they may run: the engine's gate does, before it calls them.
//!
//! The rooms, lowest first: `answer`, `port`, `files`, `web`, `proxy`, `changes`, `shell`, `call`, `edit`, `tool`. Each
//! uses only rooms before it in this list. The registry comes above them all.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod answer;
mod call;
mod changes;
mod edit;
mod files;
mod port;
mod proxy;
mod shell;
mod tool;
mod web;

mod registry;

pub use call::context::CallContext;
pub use call::decoded_call::DecodedCall;
pub use call::tool::{Order, Tool};
pub use call::typed_tool::TypedTool;
pub use changes::concurrent::Changes;
pub use files::read_state::Seen;
pub use files::workspace_digest::{Snapshot, SnapshotBounds, SnapshotError};
pub use port::delegation::{AnswerParts, Delegated, Delegation};
pub use port::future::BoxFuture;
pub use port::lender::{Lender, Lent};
pub use port::message::MAX_MESSAGE_BYTES;
pub use port::outcome_digest::essence;
pub use port::progress::Progress;
pub use port::relatives::{
    Alone, Answered, Choice, Glance, Kin, Listing, Note, Receipt, ReportPage, Sought, Stand, Work,
};
pub use port::shell_reach::{NetworkReach, Repositories, ShellReach, Writable};
pub use port::side_model::Assistant;
pub use port::task_line::line as glance_line;
pub use registry::{Commands, Registry};
pub use shell::background::shell_name;
pub use shell::launcher::TASK_VARIABLE;
pub use shell::setup::{ShellSetup, Standing};
pub use shell::shells::{EarlierShells, Shells};
pub use tool::task::{TaskTool, task_answer};
pub use tool::web_fetch::WebFetch;
pub use web::lookup::Lookup;
pub use web::web_rules::{Reach, WebRules, WebRulesError};
