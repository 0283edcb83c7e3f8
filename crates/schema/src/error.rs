//! Reasons why a schema cannot be used.

use crate::read::{MAX_BYTES, MAX_DEPTH, MAX_PATTERNS};

/// A fault of a schema. Places are JSON pointers into it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    #[error("the schema has {bytes} bytes, more than {MAX_BYTES}; shorten it")]
    TooLarge { bytes: usize },
    #[error("the schema is nested more than {MAX_DEPTH} deep at {place}; move parts of it to `$defs`")]
    TooDeep { place: Place },
    #[error("the schema has more than {MAX_PATTERNS} patterns; leave some out")]
    TooManyPatterns,
    #[error("`{keyword}` {place} is not supported; leave it out, or use other keywords")]
    Unsupported { place: Place, keyword: String },
    #[error("`{keyword}` {place} must be {expected}")]
    Malformed { place: Place, keyword: String, expected: &'static str },
    #[error("a schema must be an object or a boolean, and {place} is something else")]
    NoSchema { place: Place },
    #[error("`$ref` {place} is `{target}`; it can be `#`, or name a part of `$defs` or `definitions` at the top")]
    Reference { place: Place, target: String },
    #[error(
        "`$ref` {place} refers back to itself without entering the value; refer from within `properties` or `items`"
    )]
    Endless { place: Place },
    #[error("`pattern` {place} cannot be used: {reason}")]
    Pattern { place: Place, reason: String },
}

/// A JSON pointer, as messages show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place(pub(crate) String);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { f.write_str("at the top") } else { write!(f, "at `{}`", self.0) }
    }
}

impl Place {
    /// The place of this key or index below this one.
    pub(crate) fn of(&self, key: &str) -> Self {
        Self(format!("{}/{}", self.0, key.replace('~', "~0").replace('/', "~1")))
    }
}
