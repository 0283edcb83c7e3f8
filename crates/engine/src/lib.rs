//! The engine: one loop that runs every task, one gate before every tool, one tree of tasks.
//!
//! Main agents and sub-agents run in the same loop (`run.rs`) with different configurations. The engine never prints,
//! reads the environment or opens a socket: models, tools, the journal, time and ids come in through ports. Everything
//! it does is in the journal; nobody watches the loop itself.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod budget;
mod conversation;
mod engine;
mod gate;
mod log;
mod messages;
mod ports;
mod resolve;
mod run;
mod tasks;

pub use budget::account::Footprint;
pub use conversation::load_task::footprint_so_far;
pub use engine::agent_runs::{AgentRuns, RunStatus};
pub use engine::host::{Host, HostReach, Person, TaskObserver};
pub use engine::subagents::{
    Configurations, Observation, ObserveError, Observed, Parameters, Subagent, SubagentError, SubagentObserver,
    SubagentStatus, Subagents,
};
pub use engine::{Engine, EngineParts};
pub use log::cost::CostStatement;
pub use log::progress_file::Narrator;
pub use ports::approval::{Approval, Approver, Inquiry, NoApprover, Question};
pub use ports::background::BackgroundProcess;
pub use ports::clock::{Clock, Ids, RandomIds, SystemClock};
pub use ports::hooks::{Asking, Hooks, NoHooks, Verdict};
pub use resolve::agent_folders::{AgentFolders, Folder, FolderFiles, Holds, TrustCheck, files_in};
pub use resolve::choose_model::MAIN_ROUTE_SETTING;
pub use resolve::contract_agents::cast;
pub use resolve::instructions::{InstructionFile, InstructionRules, Instructions};
pub use resolve::permissions::Permissions;
pub use resolve::permissions::git_files::obeyed_by_git;
pub use resolve::remote_tools::{Gathered, NoRemoteTools, RemoteTools, Wanted};
pub use resolve::roster::{task_tool, tool_names};
pub use resolve::settings::{EngineSettings, TaskKind};
pub use tasks::result_cache::ResultCache;
pub use tasks::resume::Resumption;
pub use tasks::running::Running;
pub use tasks::start::dry_run::DryRun;
pub use tasks::state::EngineError;
