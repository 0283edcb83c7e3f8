//! Conformance of the five contracts, statement by statement. The real binary runs against the scripted server, judged
//! by what the models received and what came back to the caller.
//!
//! A test's name carries the ids of its statements, such as `s2_35` or `p_09`. `statements.toml` lists them all, and
//! `cargo xtask conformance` compares the two.

#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

mod entries;
mod examples;
mod key_order;
#[path = "../it/older.rs"]
mod older;
#[path = "../it/world.rs"]
#[expect(dead_code, reason = "shared with the other suite, which needs more of it")]
mod program;
mod protocol;
mod refusals;
mod s0;
mod s1;
mod s2;
mod s3;
mod s4;
mod schemas;
#[path = "../it/mcp/session.rs"]
#[expect(dead_code, reason = "shared with the other suite, which needs more of it")]
mod session;
mod side_by_side;
#[path = "../it/transcript.rs"]
mod transcript;
mod usage;
mod world;
