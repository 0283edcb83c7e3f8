//! Replacements within a text, each applied to the result of the previous one.
//!
//! Pure: it knows no files, and lines end with `\n`. Nothing is replaced unless everything can be.

use std::borrow::Cow;

use serde::Deserialize;

use super::file_text::plain;
use super::{hidden_parts, near_miss};
use crate::answer::arguments::{Unknown, optional_flag};
use crate::answer::halt::{Halt, Stop};
use crate::answer::phrases::grouped;
use crate::files::encoding::BYTE_ORDER_MARK;

/// Maximum length of the text, intermediate results included.
pub(crate) const MAX_BYTES: usize = 10 * 1024 * 1024;

/// One replacement, as requested by a model.
#[derive(Debug, Deserialize)]
pub(crate) struct Replacement {
    pub(crate) old_string: String,
    pub(crate) new_string: String,
    #[serde(default, deserialize_with = "optional_flag")]
    pub(crate) replace_all: Option<bool>,
    #[serde(flatten)]
    pub(crate) unknown: Unknown,
}

/// A text after its replacements, and their number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub(crate) text: String,
    pub(crate) n_replacements: usize,
}

/// The reason, in words, why not everything could be replaced, and the index of the failed replacement, from 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreplaced {
    pub(crate) index: usize,
    pub(crate) why: Why,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The arguments have to change.
    Misfit(String),
    Halted(Halt),
}

/// Makes all replacements in `text`, in order.
pub(crate) fn replace(text: &str, replacements: &[Replacement], stop: &Stop) -> Result<Replaced, Unreplaced> {
    let mut replaced = Replaced { text: text.to_owned(), n_replacements: 0 };
    for (index, replacement) in replacements.iter().enumerate() {
        if let Some(halt) = stop.halt() {
            return Err(Unreplaced { index, why: Why::Halted(halt) });
        }
        let (old, new) = (unified(&replacement.old_string), unified(&replacement.new_string));
        let (old, new) = without_marks(&replaced.text, &old, &new);
        let n_places = n_places(&replaced.text, old, new, replacement.replace_all == Some(true));
        match n_places.and_then(|n_places| Ok((n_places, put(&replaced.text, old, new, n_places)?))) {
            Ok((n_places, text)) => {
                replaced.text = text;
                replaced.n_replacements += n_places;
            }
            Err(why) => {
                let was_there = !old.is_empty() && !replaced.text.contains(old) && text.contains(old);
                let note = if was_there { " An edit before this one changed that place." } else { "" };
                return Err(Unreplaced { index, why: Why::Misfit(why + note) });
            }
        }
    }
    Ok(replaced)
}

/// Models copy `\r\n` from elsewhere; the compared text only has `\n`.
fn unified(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { plain(text).into() } else { text.into() }
}

/// A model may repeat a byte order mark with the first line; the text here has none.
fn without_marks<'a>(text: &str, old: &'a str, new: &'a str) -> (&'a str, &'a str) {
    match old.strip_prefix(BYTE_ORDER_MARK) {
        Some(bare) if !text.contains(old) && text.starts_with(bare) => {
            (bare, new.strip_prefix(BYTE_ORDER_MARK).unwrap_or(new))
        }
        _ => (old, new),
    }
}

/// Counts the places in which `old` is replaced. The error says why it cannot be.
fn n_places(text: &str, old: &str, new: &str, all: bool) -> Result<usize, String> {
    if old == new {
        return Err("old_string and new_string are the same.".to_owned());
    }
    if old.is_empty() && !text.is_empty() {
        return Err("old_string is empty, but the file is not; to replace all of it use Write.".to_owned());
    }
    let mut places = text.match_indices(old);
    match (places.next(), places.next()) {
        (None, _) => {
            let hint = hidden_parts::hint(old).unwrap_or_else(|| near_miss::hint(text, old));
            Err(format!("old_string is not in the file. {hint}"))
        }
        (Some(_), None) => Ok(1),
        (Some(_), Some(_)) if all => Ok(2 + places.count()),
        (Some(_), Some(_)) => Err(several(text, old)),
    }
}

fn several(text: &str, old: &str) -> String {
    const MAX_NAMED: usize = 10;
    let n_places = text.matches(old).count();
    let (mut line, mut from) = (1, 0);
    let mut lines: Vec<String> = Vec::new();
    for (at, _) in text.match_indices(old).take(MAX_NAMED) {
        line += text[from..at].matches('\n').count();
        from = at;
        lines.push(line.to_string());
    }
    let more = if n_places > MAX_NAMED { ", …" } else { "" };
    format!(
        "old_string is in the file {n_places} times, at lines {}{more}; add text around it until only one place fits, or \
         set replace_all.",
        lines.join(", ")
    )
}

/// Replaces the first `n_places` of `old` by `new`, unless the text would be too long.
fn put(text: &str, old: &str, new: &str, n_places: usize) -> Result<String, String> {
    let n_bytes = (text.len() - n_places * old.len()).saturating_add(n_places.saturating_mul(new.len()));
    if n_bytes > MAX_BYTES {
        let (n_bytes, most) = (grouped(n_bytes as u64), grouped(MAX_BYTES as u64));
        return Err(format!("The file would have {n_bytes} bytes; at most {most} can be edited."));
    }
    let mut result = String::with_capacity(n_bytes);
    let mut from = 0;
    for (at, _) in text.match_indices(old).take(n_places) {
        result.push_str(&text[from..at]);
        result.push_str(new);
        from = at + old.len();
    }
    result.push_str(&text[from..]);
    Ok(result)
}

#[cfg(test)]
mod tests;
