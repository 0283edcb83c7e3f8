//! Outputs for calls that were under way when their task stopped, and whose effect is unknown.

use serde_json::Value;
use sortie_protocol::{CallOutput, Fault, ToolCall, ToolOutput};

use crate::conversation::task_record::Started;

/// Longest quotation from a call's arguments or progress.
const GIST_CHARS: usize = 300;

/// Arguments that best identify a call, in order of preference.
const TELLING: [&str; 6] = ["command", "file_path", "path", "url", "pattern", "query"];

/// Arguments of calls that may change files and are not idempotent: a command line, or a file's path.
const CHANGING: [&str; 2] = ["command", "file_path"];

/// Returns the output of an unanswered call that will not be made any more.
pub(crate) fn unanswered(call: &ToolCall, started: Option<&Started>) -> CallOutput {
    let output = match started {
        Some(started) if started.child.is_none() && !started.idempotent => unknown(call, started),
        Some(Started { child: Some(child), .. }) => ToolOutput::failure(format!(
            "{} was not answered: the task ended before its sub-agent {child} had reported",
            call.tool
        )),
        _ => ToolOutput::failure(format!("{} was not run: the task ended before", call.tool)),
    };
    CallOutput { call: call.id.clone(), output: output.because(Fault::Internal) }
}

/// Returns the output of a call with unknown effect, with everything that is known about it.
pub(crate) fn unknown(call: &ToolCall, started: &Started) -> ToolOutput {
    let began = started.at.map(|time| format!(" It began at {time}.")).unwrap_or_default();
    let progress = started.progress.as_ref().map(|line| format!(" Its last progress: {}", gist(line)));
    ToolOutput::failure(format!(
        "unknown: the program was stopped while this {} call ran: {}.{began}{} It may have had all of its effect, a \
            part of it or none, and was not repeated. Check the current state before you continue.",
        call.tool,
        gist_of(call),
        progress.unwrap_or_default()
    ))
    .because(Fault::Internal)
}

/// Returns a notice about a call with unknown effect, if it may have changed files.
pub(crate) fn unknown_changes(call: &ToolCall, started: &Started) -> Option<String> {
    let arguments = serde_json::from_str::<Value>(&call.arguments).unwrap_or_default();
    let changes = CHANGING.iter().any(|name| arguments[*name].is_string());
    let is_unknown = !started.idempotent && started.child.is_none();
    (changes && is_unknown).then(|| {
        let (tool, gist) = (&call.tool, gist_of(call));
        format!("{tool} {gist} was interrupted: files that it changed may be missing from files_changed")
    })
}

/// Returns the subject of a call, quoted on one line.
pub(crate) fn gist_of(call: &ToolCall) -> String {
    gist(&about(call))
}

/// Returns the subject of a call: the command line, the path, or all its arguments.
fn about(call: &ToolCall) -> String {
    let arguments = serde_json::from_str::<Value>(&call.arguments).unwrap_or_default();
    let telling = TELLING.iter().find_map(|name| arguments[*name].as_str());
    telling.unwrap_or(&call.arguments).to_owned()
}

/// Quotes a text on one line, and cuts it if it is long.
fn gist(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(GIST_CHARS) {
        Some((end, _)) => format!("`{} …`", &line[..end]),
        None => format!("`{line}`"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use sortie_protocol::{CallId, Timestamp};

    use super::*;

    fn call(arguments: &str) -> ToolCall {
        ToolCall { id: CallId("c".to_owned()), tool: "Bash".to_owned(), arguments: arguments.to_owned() }
    }

    #[test]
    fn an_interrupted_call_is_described_with_everything_known() {
        let started = Started {
            at: Some(Timestamp(951_782_400_000)),
            progress: Some("compiling\n  sortie".to_owned()),
            ..Started::default()
        };
        let told = unknown(&call(r#"{"command":"make all", "description":"Builds"}"#), &started);
        expect!["unknown: the program was stopped while this Bash call ran: `make all`. It began at 2000-02-29T00:00:00.000Z. Its last progress: `compiling sortie` It may have had all of its effect, a part of it or none, and was not repeated. Check the current state before you continue."].assert_eq(&told.for_model);
        let told = unknown(&call(r#"{"n":1}"#), &Started::default());
        expect![[r#"unknown: the program was stopped while this Bash call ran: `{"n":1}`. It may have had all of its effect, a part of it or none, and was not repeated. Check the current state before you continue."#]].assert_eq(&told.for_model);
        assert_eq!(gist(&"ä".repeat(1000)).chars().count(), GIST_CHARS + 4);
    }
}
