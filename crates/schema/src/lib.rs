//! Schemas of answers: checks a JSON value against a schema, and says what is wrong with it.
//!
//! Supports the part of JSON Schema that people ask models for. An unsupported keyword is refused when the schema is
//! read, never ignored. Everything is bounded: sizes, nesting, steps; patterns take linear time. The crate knows
//! nothing of tasks or models, and fetches nothing: references stay within their schema.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod answer;
mod check;
mod error;
mod exact;
mod read;
mod rule;

pub use answer::Unfit;
pub use check::Problem;
pub use error::SchemaError;
pub use rule::Schema;
