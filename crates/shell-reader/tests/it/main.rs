//! What is found in command lines, seen from the crate's public door, and held against `bash` itself.

#![expect(clippy::expect_used, reason = "a test that cannot go on fails where it stands")]

mod analysis;
mod bash;
mod draw;
