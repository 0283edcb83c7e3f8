//! The five documents, statement by statement: the real binary against the scripted server, judged by what the models
//! really received and by what came back to the one who delegated.
//!
//! A test's name carries the ids of the statements that it checks, as `s2_35` or `p_09`; `statements.toml` lists all of
//! them, and `cargo xtask conformance` holds the two against each other.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

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
mod side_by_side;
#[path = "../it/transcript.rs"]
mod transcript;
mod usage;
mod world;
