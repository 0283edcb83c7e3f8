//! Values that several keys share: texts, and the name of a model.

use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::{Entry, Value};
use crate::text::hidden_characters::{self, shown};

/// Keeps `inherit`: it means the parent's model, even if this kind of agent has a model of its own.
pub(crate) fn model(entry: &Entry, report: &mut FileFindings<'_>) -> Option<String> {
    let model = optional_text(entry, report)?;
    if model.contains(char::is_whitespace) || hidden_characters::first(&model).is_some() {
        report.error(
            entry.line,
            format!("`{}` cannot be a model", shown(&model)),
            "name a route, an alias or a model id",
        );
        return None;
    }
    let Some((name, suffix)) = suffixed(&model) else { return Some(model) };
    let message = format!("`[{suffix}]` after the model `{}` has no effect here", shown(name));
    report.strict(entry.line, message, format!("write `{}`", shown(name)));
    Some(name.to_owned())
}

/// Splits off options that other programs append to a model's name: `opus[1m]`.
fn suffixed(model: &str) -> Option<(&str, &str)> {
    let (name, suffix) = model.strip_suffix(']')?.split_once('[')?;
    let is_word = !suffix.is_empty() && suffix.chars().all(|character| character.is_ascii_alphanumeric());
    (is_word && !name.is_empty()).then_some((name, suffix))
}

/// A text that is not blank, trimmed.
pub(crate) fn text(entry: &Entry, report: &mut FileFindings<'_>) -> Option<String> {
    match &entry.value.value {
        Value::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Text(_) | Value::Nothing => {
            report.error(entry.line, format!("`{}` has no value", entry.key), "give it one");
            None
        }
        Value::List(_) | Value::Map(_) => {
            report.error(entry.line, format!("`{}` must be a text", entry.key), "write it on one line, in quotes");
            None
        }
    }
}

/// The text of an optional key: in the foreign dialect, a key without a value counts as missing.
pub(crate) fn optional_text(entry: &Entry, report: &mut FileFindings<'_>) -> Option<String> {
    let empty = match &entry.value.value {
        Value::Nothing => true,
        Value::Text(text) => text.trim().is_empty(),
        Value::List(_) | Value::Map(_) => false,
    };
    if empty {
        report.strict(entry.line, format!("`{}` has no value", entry.key), "give it one, or delete the line");
        return None;
    }
    text(entry, report)
}
