//! Tests of the workspace and the spill directory through the public API.
//!
//! A test whose name begins with a number such as `s05` tries the attack of that number in the catalogue of attacks.

#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

mod another_user;
mod attributes;
mod conflict;
mod directories;
mod fixture;
mod git;
mod guard;
mod move_out;
mod process;
mod race;
mod read_whole;
mod special;
mod spellings;
mod spill;
mod spill_known;
mod stopped;
mod write;
