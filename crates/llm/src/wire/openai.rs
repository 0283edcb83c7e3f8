//! What the two wires of OpenAI have in common.

use std::borrow::Cow;

/// A failed output has no mark on these wires; its text says so.
const FAILURE: &str = "Error: ";

/// The text of an output, which tells a failure in words.
pub(super) fn told(text: Cow<'_, str>, failed: bool) -> Cow<'_, str> {
    if failed && !text.starts_with(FAILURE) { Cow::Owned(format!("{FAILURE}{text}")) } else { text }
}
