//! Mark of a failed output on the two OpenAI wires: their outputs have no field for it, so the text says it.

use std::borrow::Cow;

use sortie_protocol::ToolOutput;

/// Prefix of a failed output's text.
const FAILURE: &str = "Error: ";

/// Marks the text of a failed output, unless its own words already report the failure.
pub(super) fn with_mark<'a>(text: Cow<'a, str>, output: &ToolOutput) -> Cow<'a, str> {
    let tells = !output.failed || output.verbatim || text.starts_with(FAILURE);
    if tells { text } else { Cow::Owned(format!("{FAILURE}{text}")) }
}
