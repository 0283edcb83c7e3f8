//! The engine: one loop that runs every task, one gate before every tool, one tree of tasks.
//!
//! A main agent and a sub-agent are the same loop (`run.rs`) with another configuration. The engine never
//! prints, reads the environment or opens a socket: models, tools, the journal, time and ids come in through ports.
//! All that it does is in the journal; nobody watches the loop itself.

mod account;
mod bounded;
mod cast;
mod delegate;
mod end;
mod engine;
mod folders;
mod gate;
mod history;
mod instructions;
mod limits;
mod port;
mod report;
mod roster;
mod rules;
mod run;
mod sink;
mod slot;
mod subagents;
mod task;
mod turn;

pub use cast::cast;
pub use engine::{Engine, EngineError, EngineParts, Running};
pub use folders::{AgentFolders, Folder, FolderFiles, Holds, TrustCheck, files_in};
pub use instructions::{InstructionFile, InstructionRules, Instructions};
pub use port::{Clock, Ids, RandomIds, SystemClock};
pub use roster::{agent_lines, tool_names};
pub use rules::{Kind, Rules, preflight};
pub use subagents::{
    Configurations, Observation, ObserveError, Observed, Parameters, Subagent, SubagentError, SubagentObserver,
    SubagentStatus, Subagents,
};
