//! The engine: one loop that runs every task, one gate before every tool, one tree of tasks.
//!
//! A main agent and a sub-agent are the same loop (`run.rs`) with another configuration. The engine never
//! prints, reads the environment or opens a socket: models, tools, the journal, time and ids come in through ports.
//! All that it does is in the journal; nobody watches the loop itself.

mod account;
mod delegate;
mod end;
mod engine;
mod gate;
mod history;
mod limits;
mod port;
mod report;
mod rules;
mod run;
mod sink;
mod slot;
mod task;
mod turn;

pub use engine::{Engine, EngineError, EngineParts, Running, agent_lines};
pub use port::{Clock, Ids, RandomIds, SystemClock};
pub use rules::{Kind, Rules, preflight};
