//! Outputs of the other tools: the same object as the Task tool's, with each tool's own payload as its data.

use serde_json::{Map, Value, json};
use sortie_protocol::{Fault, Payload, ToolOutput};

use super::object::{Context, Error, Object};
use super::sentence;
use super::truncation::Cut;
use super::{MAX_BYTES, MAX_LINES};
use crate::OutputCall;

/// Key for the payload of a tool without names of its own.
const OUTPUT: &str = "output";

/// The tool whose arguments are addresses, not paths.
const WEB: &str = "WebFetch";

/// Advice for an incomplete output.
const NARROWER: &str = "try again with a narrower request";

/// Encodes the output of any tool but Task.
pub(super) fn encode<'a>(call: &OutputCall<'a>, output: &'a ToolOutput) -> Object<'a> {
    let stats = json!({"time_ms": u64::try_from(call.elapsed.as_millis()).unwrap_or(u64::MAX).max(1)});
    let mut context = Context::shortened(call.cwd, call.arguments);
    if output.failed {
        let (data, status) = (Map::new(), "error");
        return Object {
            status,
            data,
            text: failure_text(call.tool, output),
            error: Some(error(output)),
            stats,
            context,
        };
    }
    let payload = output.payload.as_deref();
    context.path_resolved = payload.and_then(|payload| payload.path.as_deref());
    context.truncation_skip = payload.is_some_and(|payload| payload.is_page);
    let said = sentence(&output.for_people);
    let said = if said.is_empty() { "Done" } else { said };
    if is_too_long(output) {
        let (text, path) = (output.for_model.as_str(), call.full_text_path);
        let cut = Cut::of_text(text);
        let status = "partial";
        // The tool's own omissions come first: the figures of the cut do not include them.
        let text_said = format!("{} {}", noted(said, payload), cut.note(path, NARROWER));
        let data = short_fields(payload).chain(cut.fields(text, path)).collect();
        return Object { status, data, text: text_said, error: None, stats, context };
    }
    let is_partial = payload.is_some_and(|payload| payload.is_partial);
    let status = if is_partial { "partial" } else { "success" };
    Object { status, data: data(output), text: text(said, payload), error: None, stats, context }
}

/// True if the data would exceed the limit of a result. A page never does: its reader chose its length.
pub(super) fn is_too_long(output: &ToolOutput) -> bool {
    let is_page = output.payload.as_ref().is_some_and(|payload| payload.is_page);
    if output.failed || output.verbatim || is_page {
        return false;
    }
    let data = Value::from(data(output));
    lines(&data) > MAX_LINES || data.to_string().len() > MAX_BYTES
}

/// Returns the short fields of a payload, which stay next to the preview.
fn short_fields(payload: Option<&Payload>) -> impl Iterator<Item = (String, Value)> {
    const MAX_FIELD_BYTES: usize = 4096;
    let is_short = |value: &Value| match value {
        Value::Array(_) | Value::Object(_) => false,
        Value::String(text) => text.len() <= MAX_FIELD_BYTES && !text.contains('\n'),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    };
    let fields = payload.into_iter().flat_map(|payload| &payload.data);
    fields.filter(move |(_, value)| is_short(value)).map(|(name, value)| (name.clone(), value.clone()))
}

fn data(output: &ToolOutput) -> Map<String, Value> {
    match &output.payload {
        Some(payload) => payload.data.clone(),
        None => Map::from_iter([(OUTPUT.to_owned(), json!(output.for_model))]),
    }
}

/// Counts the lines of a value: each item of a list has at least one.
fn lines(value: &Value) -> usize {
    match value {
        Value::String(text) => text.lines().count(),
        Value::Array(items) => items.iter().map(|item| lines(item).max(1)).sum(),
        Value::Object(fields) => fields.values().map(lines).max().unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

/// Writes the output, remarks about it, and, if it is incomplete, the reason and advice.
fn text(said: &str, payload: Option<&Payload>) -> String {
    let noted = noted(said, payload);
    let is_partial = payload.is_some_and(|payload| payload.is_partial && !payload.notes.is_empty());
    if is_partial { format!("{noted} Use what is here, or {NARROWER}.") } else { noted }
}

/// Writes the output, remarks about it, and, if it is incomplete, the reason.
fn noted(said: &str, payload: Option<&Payload>) -> String {
    let notes = payload.map(|payload| payload.notes.join("; ")).filter(|notes| !notes.is_empty());
    match (notes, payload.is_some_and(|payload| payload.is_partial)) {
        (None, _) => format!("{said}."),
        (Some(notes), false) => format!("{said}. Note: {}.", sentence(&notes)),
        (Some(notes), true) => format!("{said}. Partial, because not all is here: {}.", sentence(&notes)),
    }
}

fn error(output: &ToolOutput) -> Error {
    // It may lead over to lines that only the model gets.
    let message = sentence(&output.for_people).trim_end_matches(':');
    let message = if message.is_empty() { "the tool failed without saying why" } else { message };
    Error { code: code(output.fault), message: message.to_owned() }
}

fn failure_text(tool: &str, output: &ToolOutput) -> String {
    let next = if tool == WEB { next_step_on_the_web(output.fault) } else { next_step(output.fault) };
    let said = sentence(&output.for_model);
    if said.is_empty() { next.to_owned() } else { format!("{said}. {next}") }
}

fn code(fault: Option<Fault>) -> &'static str {
    match fault {
        Some(Fault::NotFound | Fault::NoSuchTool) => "NOT_FOUND",
        Some(Fault::NoAccess) => "ACCESS_DENIED",
        Some(Fault::IsDirectory) => "IS_DIRECTORY",
        Some(Fault::Binary) => "BINARY_FILE",
        Some(Fault::Arguments) => "INVALID_PARAM",
        Some(Fault::NotAllowed) => "PERMISSION_DENIED",
        Some(Fault::TimedOut) => "TIMEOUT",
        Some(Fault::Conflict) => "CONFLICT",
        Some(Fault::Internal) => "INTERNAL_ERROR",
        Some(Fault::TooMany) | None => "EXECUTION_ERROR",
    }
}

fn next_step(fault: Option<Fault>) -> &'static str {
    match fault {
        Some(Fault::NotFound) => "Check the name with LS or Glob.",
        Some(Fault::NoAccess) => "Use a path inside the workspace that can be read.",
        Some(Fault::IsDirectory) => "Use LS for a directory.",
        Some(Fault::Binary) => "Use another file.",
        Some(Fault::Arguments) => "Check the parameters and try again.",
        Some(Fault::NotAllowed) => "Use a path or a tool that is allowed, or say what you could not do.",
        Some(Fault::NoSuchTool) => "Use the tools that you have.",
        Some(Fault::TimedOut) => "Try again with a narrower request.",
        Some(Fault::Conflict) => "Use Read to see it as it is now, then try again.",
        Some(Fault::TooMany) => "Make the rest of the calls in your next turns.",
        Some(Fault::Internal) | None => "Check the message, then try again or in another way.",
    }
}

fn next_step_on_the_web(fault: Option<Fault>) -> &'static str {
    match fault {
        Some(Fault::NotFound | Fault::Arguments) => "Check the URL and try again.",
        Some(Fault::Binary) => "Use another URL.",
        Some(Fault::NotAllowed) => "Use a URL that is allowed, or say what you could not do.",
        Some(Fault::TimedOut) => "Try again later, or use another URL.",
        Some(Fault::NoAccess) => "Use a URL on the internet.",
        other => next_step(other),
    }
}
