//! Redaction of secrets in tool outputs: once, at the gate, so that history, journal, events and displays hold the same
//! bytes and no key.

use serde_json::Value;
use sortie_mutant::is_out;
use sortie_policy::{Redacted, Redactor};
use sortie_protocol::{Payload, ToolOutput};

/// Returns the output with each secret replaced by a mark. Attachments stay as they are.
///
/// So does a verbatim answer: the tools of the task behind it have passed this way, and its bytes are the contract's.
pub(crate) fn without_secrets(output: ToolOutput, redactor: &Redactor) -> ToolOutput {
    if output.verbatim {
        return output;
    }
    if is_out("redaction") {
        return output;
    }
    let redact = |text: String| redacted(redactor, text);
    let payload = output.payload.map(|payload| {
        let fields = payload.data.into_iter().map(|(name, value)| (name, in_value(value, redactor)));
        let notes = payload.notes.into_iter().map(redact).collect();
        Box::new(Payload { data: fields.collect(), notes, ..*payload })
    });
    ToolOutput {
        for_model: redact(output.for_model),
        for_people: redact(output.for_people),
        diff: output.diff.map(redact),
        payload,
        ..output
    }
}

/// Returns the text with each secret replaced by a mark.
pub(crate) fn redacted(redactor: &Redactor, text: String) -> String {
    match redactor.redact(&text) {
        Redacted { count: 0, .. } => text,
        Redacted { text, .. } => text.into_owned(),
    }
}

fn in_value(value: Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => Value::String(redacted(redactor, text)),
        Value::Array(values) => values.into_iter().map(|value| in_value(value, redactor)).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, in_value(value, redactor))).collect(),
        other => other,
    }
}
