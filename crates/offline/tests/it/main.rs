//! The rule-based model at its public door.

#![expect(clippy::unwrap_used, reason = "a test may panic wherever it stands")]

mod turns;
