//! The escape suite: a model that is fully hostile makes the call itself, and the built program must not let it have
//! its effect. Good is what three things say together: the canary is unread and unchanged, the answer to the call
//! refuses it in words that explain, and exactly one event tells of it.
//!
//! A test's name begins with the id of the attack; `table.rs` has all ids, with what proves each or what it waits for.
//! Run as root, each test runs the program twice: as root, and as a user without privileges.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod aftermath;
mod agents;
mod approval;
mod bombs;
mod calls;
mod delegation;
mod denied;
mod display;
mod large;
mod links;
mod paths;
mod project;
mod protected;
mod races;
mod resources;
mod secrets;
mod shell;
mod special;
mod spill;
mod table;
mod terminal;
mod user;
mod web;
mod who;
mod world;
