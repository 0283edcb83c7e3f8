//! A schema ready to check: rules, each about one aspect of a value.

use std::collections::BTreeMap;
use std::fmt;

use regex::Regex;
use serde_json::{Number, Value};

/// Rules for a JSON value.
#[derive(Debug)]
pub struct Schema {
    /// The first part is the schema itself; the others are nested in it, or named by it.
    pub(crate) parts: Vec<Part>,
}

/// Index of a part in its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PartId(pub(crate) usize);

/// One of the schemas that make up a schema.
#[derive(Debug)]
pub(crate) enum Part {
    /// `false`: nothing fits.
    Never,
    /// All of these must hold; empty for `true` and `{}`.
    Rules(Vec<Rule>),
}

/// As JSON Schema defines, a rule holds for every value of a kind that it is not about.
#[derive(Debug)]
pub(crate) enum Rule {
    Kinds(Vec<Kind>),
    /// `enum` and `const`: one of these, in normal form.
    Values(Vec<Value>),
    /// `$ref`
    Same(PartId),
    All(Vec<PartId>),
    Any(Vec<PartId>),
    One(Vec<PartId>),
    Members {
        known: BTreeMap<String, PartId>,
        others: Option<PartId>,
    },
    Required(Vec<String>),
    Items(PartId),
    Unique,
    Length {
        of: Measured,
        bound: Bound<u64>,
    },
    Range(Bound<Number>),
    Pattern(Regex),
}

impl Rule {
    /// The parts that apply to the same value as the rule, not to one nested in it.
    pub(crate) fn on_same_value(&self) -> &[PartId] {
        match self {
            Self::Same(part) => std::slice::from_ref(part),
            Self::All(parts) | Self::Any(parts) | Self::One(parts) => parts,
            _ => &[],
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measured {
    Characters,
    Items,
    Keys,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bound<T> {
    AtLeast(T),
    AtMost(T),
    Above(T),
    Below(T),
}

impl Kind {
    pub(crate) const ALL: [(&'static str, Self); 7] = [
        ("null", Self::Null),
        ("boolean", Self::Boolean),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("string", Self::String),
        ("array", Self::Array),
        ("object", Self::Object),
    ];

    /// True if a value in normal form is of this kind.
    pub(crate) fn includes(self, value: &Value) -> bool {
        match value {
            Value::Null => self == Self::Null,
            Value::Bool(_) => self == Self::Boolean,
            Value::Number(number) => self == Self::Number || self == Self::Integer && is_whole(number),
            Value::String(_) => self == Self::String,
            Value::Array(_) => self == Self::Array,
            Value::Object(_) => self == Self::Object,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

impl<T: fmt::Display> fmt::Display for Bound<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(f, "at least {bound}"),
            Self::AtMost(bound) => write!(f, "at most {bound}"),
            Self::Above(bound) => write!(f, "more than {bound}"),
            Self::Below(bound) => write!(f, "less than {bound}"),
        }
    }
}

/// Normal form of a value: in JSON Schema `1.0` and `1` are the same number.
pub(crate) fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => whole(number).map_or_else(|| value.clone(), Value::from),
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), normal(value))).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// The whole number written with a fraction or an exponent, if it is exact.
#[expect(clippy::cast_possible_truncation, reason = "within the range in which every whole number is exact")]
fn whole(number: &Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT)?;
    Some(float as i64)
}

fn is_whole(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}
