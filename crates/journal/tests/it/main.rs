//! Tests of the journals through the public API: one suite for both, and what only the one on disk can do.

#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

mod crash;
mod damage;
mod disk;
mod fault;
mod group_commit;
mod migration;
mod opening;
mod place;
mod process;
mod suite;
mod support;
