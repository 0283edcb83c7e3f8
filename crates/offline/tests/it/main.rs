//! The rule-based model, tested through its public API.

mod answers;
mod turns;
