//! What the two wires of OpenAI have in common.

use std::borrow::Cow;

use sortie_protocol::ToolOutput;

/// A failed output has no mark on these wires; its text says so.
const FAILURE: &str = "Error: ";

/// The text of an output, which tells a failure in words: in its own where it has them.
pub(super) fn told<'a>(text: Cow<'a, str>, output: &ToolOutput) -> Cow<'a, str> {
    let tells = !output.failed || output.verbatim || text.starts_with(FAILURE);
    if tells { text } else { Cow::Owned(format!("{FAILURE}{text}")) }
}
