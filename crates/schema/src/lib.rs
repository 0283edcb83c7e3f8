//! Schemas of answers: what a JSON value must look like, and what is wrong with one that does not.
//!
//! The part of JSON Schema that people ask models for. A keyword that is not checked is refused when a schema is read,
//! never ignored, and everything is bounded: sizes, nesting, steps; patterns take linear time. It knows nothing of
//! tasks or models, and fetches nothing: references stay within their schema.

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
