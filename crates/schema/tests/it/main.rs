//! Tests of schemas through the public API.

#![expect(clippy::expect_used, reason = "a test says what it relies on")]

mod answers;
mod bounds;
mod schemas;
mod values;
