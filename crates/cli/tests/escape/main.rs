//! Escape suite: a fully hostile model makes the call itself, and the built program must prevent its effect. Three
//! things must agree: the canary is unread and unchanged, the answer refuses the call with a reason, and exactly one
//! event records it.
//!
//! A test's name begins with the id of the attack. `table.rs` lists all ids, with the proof of each or its obstacle. As
//! root, each test runs the program twice: as root, and as an unprivileged user.

#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

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
