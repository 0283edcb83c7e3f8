//! The rule-based model at its public door.

mod turns;
