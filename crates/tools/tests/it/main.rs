//! The built-in tools, called as the engine calls them, on real temporary workspaces.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod another_user;
mod bounds;
mod cancel;
mod confinement;
mod glob;
mod grep;
mod ls;
mod media;
mod memory;
mod project;
mod read;
mod registry;
mod todo_write;
