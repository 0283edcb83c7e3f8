//! The engine: one loop that runs every task, one gate before every tool, one tree of tasks.
//!
//! A main agent and a sub-agent are the same loop (`run.rs`) with another configuration. The engine never
//! prints, reads the environment or opens a socket: models, tools, the journal, time and ids come in through ports.
//! All that it does is in the journal; nobody watches the loop itself.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod abandon;
mod account;
mod address;
mod approval;
mod assistant;
mod attached;
mod authority;
mod auto;
mod believed;
mod bill;
mod blocking;
mod board;
mod bounded;
mod cache;
mod cast;
mod charges;
mod clearance;
mod closing;
mod context;
mod deadline;
mod delegate;
mod delegation_rate;
mod end;
mod engine;
mod folders;
mod follow_up;
mod gate;
mod gauge;
mod handover;
mod history;
mod hooks;
mod inbox;
mod instructions;
mod kin;
mod lately;
mod left_over;
mod leg;
mod limits;
mod mail;
mod order;
mod output_file;
mod parking;
mod patience;
mod permissions;
mod place;
mod port;
mod question;
mod recall;
mod remember;
mod remote_tools;
mod renewal;
mod repeats;
mod replay;
mod report;
mod resident;
mod resume;
mod roster;
mod rules;
mod run;
mod secrets;
mod server_tools;
mod settle;
mod sink;
mod slot;
mod stopping;
mod structured;
mod subagents;
mod task;
mod together;
mod turn;
mod visitor;
mod voice;
mod walls;
mod wording;

pub use account::Footprint;
pub use approval::{Approval, Approver, Inquiry, NoApprover, Question};
pub use authority::Authority;
pub use bill::Bill;
pub use cache::Cache;
pub use cast::cast;
pub use engine::{Engine, EngineError, EngineParts, Running};
pub use folders::{AgentFolders, Folder, FolderFiles, Holds, TrustCheck, files_in};
pub use hooks::{Asking, Hooks, NoHooks, Verdict};
pub use instructions::{InstructionFile, InstructionRules, Instructions};
pub use output_file::Narrator;
pub use permissions::Permissions;
pub use port::{Clock, Ids, RandomIds, SystemClock};
pub use remember::footprint_so_far;
pub use remote_tools::{Gathered, NoRemoteTools, RemoteTools, Wanted};
pub use resume::Resumption;
pub use roster::{task_tool, tool_names};
pub use rules::{Kind, Rules, preflight};
pub use subagents::{
    Configurations, Observation, ObserveError, Observed, Parameters, Subagent, SubagentError, SubagentObserver,
    SubagentStatus, Subagents,
};
pub use visitor::Visitor;
