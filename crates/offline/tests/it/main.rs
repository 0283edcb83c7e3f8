//! The rule-based model, tested through its public API.

#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

mod answers;
mod turns;
