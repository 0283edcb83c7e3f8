//! The rule-based model.
