//! Command lines analysed through the crate's public API, and checked against `bash` itself.

#![expect(clippy::expect_used, reason = "a test that cannot go on fails where it stands")]

mod analysis;
mod bash;
mod draw;
