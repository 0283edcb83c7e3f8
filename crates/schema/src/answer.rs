//! Finds the JSON value in an answer, alone or between other words.

use serde_json::{Deserializer, Value};

use crate::check::cut;
use crate::exact::first_inexact;
use crate::{Problem, Schema};

/// Reason why an answer does not fit, worded for its author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("it has no JSON value ({reason})")]
    NoValue { reason: String },
    #[error("it has {count} JSON values that fit, and must have one")]
    Several { count: usize },
    #[error("it has the whole number {number}, which cannot be kept exactly; those up to {} can", u64::MAX)]
    Inexact { number: String },
    /// Problems of the last value, if the answer has several.
    #[error("{}", joined(problems))]
    Wrong { problems: Vec<Problem> },
}

impl Schema {
    /// Finds the one value in a text that fits. Words around it do no harm, nor do other values that do not fit.
    pub fn find(&self, text: &str) -> Result<Value, Unfit> {
        let mut values = values(text)?;
        let last = values.last().map(|last| self.check(&last.value)).unwrap_or_default();
        values.retain(|found| self.check(&found.value).is_empty());
        values.dedup_by(|later, earlier| later.value == earlier.value);
        match (values.len(), values.pop()) {
            (1, Some(Found { value, written })) => match first_inexact(written) {
                None => Ok(value),
                Some(number) => Err(Unfit::Inexact { number: cut(number) }),
            },
            (0, _) | (_, None) => Err(Unfit::Wrong { problems: last }),
            (count, _) => Err(Unfit::Several { count }),
        }
    }
}

/// A value, and its text as written.
struct Found<'a> {
    value: Value,
    written: &'a str,
}

/// The text as one value; otherwise all objects and arrays in it, of which there is at least one.
fn values(text: &str) -> Result<Vec<Found<'_>>, Unfit> {
    let written = text.trim();
    let whole = match serde_json::from_str(written) {
        Ok(value) => return Ok(vec![Found { value, written }]),
        Err(error) => error,
    };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(['{', '[']) {
        rest = &rest[start..];
        let mut stream = Deserializer::from_str(rest).into_iter();
        match stream.next() {
            Some(Ok(value)) => {
                let (written, behind) = rest.split_at(stream.byte_offset());
                found.push(Found { value, written });
                rest = behind;
            }
            // A value nested in a broken one is not the answer.
            Some(Err(error)) if is_meant_as_value(rest) => return Err(Unfit::NoValue { reason: error.to_string() }),
            Some(Err(_)) | None => rest = &rest[1..],
        }
    }
    if found.is_empty() { Err(Unfit::NoValue { reason: whole.to_string() }) } else { Ok(found) }
}

/// True if a bracket begins a JSON value rather than other words: `{"`, `[{`.
fn is_meant_as_value(text: &str) -> bool {
    let is_list = text.starts_with('[');
    match text[1..].trim_start().chars().next() {
        Some('"') => true,
        Some('{' | '[') => is_list,
        _ => false,
    }
}

fn joined(problems: &[Problem]) -> String {
    let problems: Vec<String> = problems.iter().map(Problem::to_string).collect();
    problems.join("; ")
}
