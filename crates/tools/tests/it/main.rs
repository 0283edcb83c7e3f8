//! The built-in tools, called as the engine calls them, on real temporary workspaces.

#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

mod another_user;
mod bash;
mod bounds;
mod cancel;
mod companions;
mod confinement;
mod conflict;
mod edit;
mod glob;
mod grep;
mod guarded;
mod hidden;
mod line_ends;
mod ls;
mod media;
mod memory;
mod multi_edit;
mod odd_names;
mod project;
mod read;
mod registry;
mod snapshot;
mod stale;
mod structured;
mod todo_write;
mod web_fetch;
mod write;

sortie_sandbox::enter_before_main!();
