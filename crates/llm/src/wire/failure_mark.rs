//! Mark of a failed output on the two wires of OpenAI: their outputs have no field for it, so the text says it.

use std::borrow::Cow;

use sortie_protocol::ToolOutput;

/// A failed output has no mark on these wires; its text says so.
const FAILURE: &str = "Error: ";

/// Marks the text of a failed output, unless its own words already tell the failure.
pub(super) fn with_mark<'a>(text: Cow<'a, str>, output: &ToolOutput) -> Cow<'a, str> {
    let tells = !output.failed || output.verbatim || text.starts_with(FAILURE);
    if tells { text } else { Cow::Owned(format!("{FAILURE}{text}")) }
}
