//! What an answer says: complete, partial for one or more reasons, or an error. Always with a next step unless complete.

use serde_json::{Map, Value, json};
use sortie_protocol::{Failure, TaskOutcome};

use super::Envelope;
use super::fallback::{self, Fallback};
use super::truncation::Cut;
use crate::cause::Cause;
use crate::ending::{Ending, own_calls};
use crate::{Call, Contract as _, json};

/// An error as the protocol has it.
pub(super) struct Error {
    code: &'static str,
    message: String,
}

/// The answer to a call that started a task.
pub(super) fn reported(call: &Call<'_>, outcome: &TaskOutcome) -> Value {
    let stats = json!({
        "time_ms": outcome.usage.duration_ms.max(1),
        "tool_calls": own_calls(outcome),
        "model": outcome.model.route,
    });
    match error(outcome) {
        Some(error) => failed(call, outcome, &error, &stats),
        None => delivered(call, outcome, &stats),
    }
}

/// The answer to a call that started nothing.
pub(super) fn rejected(call: &Call<'_>, failure: &Failure) -> Value {
    let error = Error { code: code(Cause::of(failure)), message: failure.message.clone() };
    let text = format!("Task was not started: {}. {}", sentence(&error.message), next_step(error.code));
    error_object(call, &error, &text, &json!({"time_ms": 1, "tool_calls": 0}))
}

/// Why the task brought nothing that counts as a result; a limit other than time leaves one.
pub(super) fn error(outcome: &TaskOutcome) -> Option<Error> {
    let ending = Ending::of(outcome);
    let code = match ending {
        Ending::Completed | Ending::Limited(_) => return None,
        Ending::TimedOut { .. } => "TIMEOUT",
        Ending::Cancelled => "EXECUTION_ERROR",
        Ending::Failed { cause, .. } => code(cause),
    };
    Some(Error { code, message: ending.shortfall().unwrap_or_default() })
}

fn delivered(call: &Call<'_>, outcome: &TaskOutcome, stats: &Value) -> Value {
    let ending = Ending::of(outcome);
    let fallback = fallback::find(call, outcome);
    let mut data = Map::from_iter([
        ("status".to_owned(), json!(if ending == Ending::Completed { "completed" } else { "incomplete" })),
        ("tool_summary".to_owned(), json!(outcome.tool_summary)),
        ("model_used".to_owned(), json!(outcome.model.route)),
        ("subagent_type".to_owned(), json!(type_name(outcome))),
    ]);
    let cut = Cut::of(outcome);
    match &cut {
        Some(cut) => data.extend(cut.fields(outcome)),
        None => data.extend([("result".to_owned(), json!(outcome.text))]),
    }
    if let Some(fallback) = &fallback {
        data.insert("fallback".to_owned(), json!({"from": fallback.from, "to": fallback.to}));
    }
    let whole = ending == Ending::Completed && fallback.is_none() && cut.is_none();
    json!({
        "status": if whole { "success" } else { "partial" },
        "data": data,
        "text": text(outcome, ending, fallback.as_ref()),
        "stats": stats,
        "context": context(call),
    })
}

/// The head line, the reasons why it is partial with what to do about each, and the result where it is whole.
fn text(outcome: &TaskOutcome, ending: Ending<'_>, fallback: Option<&Fallback>) -> String {
    let mut text = match ending.shortfall() {
        None => format!("{} completed.", subject(outcome)),
        Some(why) => format!(
            "{} is incomplete: {why}. Use the partial result, or try Task again with a smaller task.",
            subject(outcome)
        ),
    };
    if let Some(Fallback { why, .. }) = fallback {
        text += &format!(
            " Partial, because a fallback served: {}. Use the result, or check the configuration.",
            sentence(why)
        );
    }
    match Cut::of(outcome) {
        Some(cut) => text + " " + &cut.note(outcome),
        None => text + "\n\n" + &outcome.text,
    }
}

fn failed(call: &Call<'_>, outcome: &TaskOutcome, error: &Error, stats: &Value) -> Value {
    let mut text = format!("{} failed: {}. {}", subject(outcome), sentence(&error.message), next_step(error.code));
    if !outcome.text.trim().is_empty() {
        text += &format!("\n\nIts text so far:\n\n{}", outcome.text);
    }
    if let Some(path) = outcome.full_text_path.as_ref().filter(|_| outcome.truncated) {
        text += &format!("\n\nThe whole text is in {path}.");
    }
    error_object(call, error, &text, stats)
}

fn error_object(call: &Call<'_>, error: &Error, text: &str, stats: &Value) -> Value {
    json!({
        "status": "error",
        "data": {},
        "text": text,
        "error": {"code": error.code, "message": error.message},
        "stats": stats,
        "context": context(call),
    })
}

/// The arguments as given; as a string where they are not an object that could be read.
fn context(call: &Call<'_>) -> Value {
    let params = json::object(call.arguments).map_or_else(|_| json!(call.arguments), Value::from);
    json!({"cwd": call.cwd, "params_input": params})
}

fn subject(outcome: &TaskOutcome) -> String {
    format!("Subagent ({}, {})", type_name(outcome), outcome.model.route)
}

fn type_name(outcome: &TaskOutcome) -> &str {
    Envelope.defaults().type_named(&outcome.agent).map_or(&outcome.agent, |known| known.name)
}

/// A message as a part of a sentence.
fn sentence(message: &str) -> &str {
    message.trim().trim_end_matches('.')
}

fn code(cause: Cause) -> &'static str {
    match cause {
        Cause::Arguments | Cause::UnknownModel | Cause::UnknownAgent => "INVALID_PARAM",
        Cause::NoAgents => "NOT_FOUND",
        Cause::Circle => "CONFLICT",
        Cause::Depth | Cause::ToolAccess => "PERMISSION_DENIED",
        Cause::TooMany => "EXECUTION_ERROR",
        Cause::Timeout => "TIMEOUT",
        Cause::Route | Cause::Breakdown | Cause::Limit(_) => "INTERNAL_ERROR",
    }
}

fn next_step(code: &str) -> &'static str {
    match code {
        "INVALID_PARAM" => "Check the parameters and try again.",
        "TIMEOUT" => "Try a smaller task, or use a longer timeout.",
        "INTERNAL_ERROR" => "Check the message, then try again or do this part without a subagent.",
        _ => "Try to do this part without a subagent.",
    }
}
