//! Test utilities: a scripted model in memory, and a scripted HTTP server that speaks the providers' wires. Also
//! temporary workspaces, a renderer of events for snapshots, and the checker of a killed run's traces.
//!
//! One [`Script`] drives both the [`ScriptedModel`] and the [`ScriptedServer`]. Nothing here is part of the program.

pub mod checker;
mod gate;
pub mod mcp_server;
mod model;
mod pairing;
mod pieces;
mod render;
mod script;
mod seen;
mod server;
mod tempdir;
mod traffic;

pub use gate::Gate;
pub use model::{ScriptedModel, ScriptedModels, WIRE};
pub use render::render;
pub use script::{
    Asked, Fault, Meeting, NoRule, Playback, Rule, Script, ScriptedCall, ScriptedPart, ScriptedReply, StatusFault,
    When, reply, when,
};
pub use seen::Seen;
pub use server::{RecordedRequest, ScriptedServer, ServerEvent, ServerOptions, Watch};
pub use tempdir::workspace;
pub use traffic::Traffic;
