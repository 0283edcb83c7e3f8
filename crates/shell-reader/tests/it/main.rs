//! Command lines analysed through the crate's public API, and checked against `bash` itself.

#![expect(clippy::expect_used, reason = "a failing test may panic")]

mod analysis;
mod bash;
mod draw;
