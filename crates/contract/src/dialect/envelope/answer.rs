//! Contents of an answer: complete, partial for one or more reasons, or an error. Always with a next step unless
//! complete.

use serde_json::{Map, Value, json};
use sortie_protocol::{Failure, TaskOutcome};

use super::fallback::{self, Fallback};
use super::object::{Context, Error, Object};
use super::truncation::Cut;
use super::{Envelope, sentence};
use crate::outcome::cause::Cause;
use crate::outcome::ending::{Ending, own_calls};
use crate::outcome::given_again::given_again;
use crate::outcome::without_success::without_success;
use crate::{Answer, Call, Contract as _};

/// Advice for a truncated result.
const ASK_FOR_THE_REST: &str = "try Task again for the part that is missing";

/// Builds the answer to a call.
pub(super) fn object<'a>(call: &Call<'a>, answer: Answer<'_>) -> Object<'a> {
    match answer {
        Ok(outcome) => reported(call, outcome),
        Err(failure) => rejected(call, failure),
    }
}

/// Builds the answer to a call that started a task.
fn reported<'a>(call: &Call<'a>, outcome: &TaskOutcome) -> Object<'a> {
    let stats = json!({
        "time_ms": outcome.usage.duration_ms.max(1),
        "tool_calls": own_calls(outcome),
        "model": outcome.model.route,
    });
    match error(outcome) {
        Some(error) => failed(call, outcome, error, stats),
        None => delivered(call, outcome, stats),
    }
}

/// Builds the answer to a call that started nothing.
fn rejected<'a>(call: &Call<'a>, failure: &Failure) -> Object<'a> {
    let error = Error { code: code(Cause::of(failure)), message: failure.message.clone() };
    let text = format!("Task was not started: {}. {}", sentence(&error.message), next_step(error.code));
    error_object(call, error, text, json!({"time_ms": 1, "tool_calls": 0}))
}

/// Returns the reason why a task brought no usable result; a limit other than time leaves one.
pub(super) fn error(outcome: &TaskOutcome) -> Option<Error> {
    let ending = Ending::of(outcome);
    let code = match ending {
        Ending::Completed | Ending::Limited(_) => return None,
        Ending::TimedOut { .. } => "TIMEOUT",
        Ending::Cancelled | Ending::Interrupted(_) => "EXECUTION_ERROR",
        Ending::Failed { cause, .. } => code(cause),
    };
    Some(Error { code, message: ending.shortfall().unwrap_or_default() })
}

fn delivered<'a>(call: &Call<'a>, outcome: &TaskOutcome, stats: Value) -> Object<'a> {
    let ending = Ending::of(outcome);
    let fallback = fallback::find(call, outcome);
    let status = if ending == Ending::Completed { "completed" } else { "incomplete" };
    let mut data = Map::from_iter([("status".to_owned(), json!(status))]);
    let cut = Cut::of(outcome);
    match &cut {
        Some(cut) => data.extend(cut.fields(&outcome.text, outcome.full_text_path.as_deref())),
        None => data.extend([("result".to_owned(), json!(outcome.text))]),
    }
    data.extend([
        ("tool_summary".to_owned(), json!(outcome.tool_summary)),
        ("model_used".to_owned(), json!(outcome.model.route)),
        ("subagent_type".to_owned(), json!(type_name(outcome))),
    ]);
    data.extend(without_success(outcome));
    if let Some(fallback) = &fallback {
        data.insert("fallback".to_owned(), json!(fallback.to));
    }
    let whole = ending == Ending::Completed && fallback.is_none() && cut.is_none();
    Object {
        status: if whole { "success" } else { "partial" },
        data,
        text: text(outcome, ending, fallback.as_ref()),
        error: None,
        stats,
        context: Context::new(call.cwd, call.arguments),
    }
}

/// Writes the head line, and the reasons why the result is partial with advice for each. A note if it is cached
/// follows, then the result if it is complete.
fn text(outcome: &TaskOutcome, ending: Ending<'_>, fallback: Option<&Fallback<'_>>) -> String {
    let subject = subject(outcome);
    let mut text = match ending.shortfall() {
        None => format!("{subject} completed."),
        Some(why) => {
            format!("{subject} is incomplete: {why}. Use the partial result, or try Task again with a smaller task.")
        }
    };
    if let Some(Fallback { why, .. }) = fallback {
        text += &format!(
            " Partial, because a fallback served: {}. Use the result, or check the configuration.",
            sentence(why)
        );
    }
    if let Some(notice) = given_again(outcome) {
        text += &format!(" It was {}.", sentence(notice));
    }
    match Cut::of(outcome) {
        Some(cut) => text + " " + &cut.note(outcome.full_text_path.as_deref(), ASK_FOR_THE_REST),
        None => text + "\n\n" + &outcome.text,
    }
}

fn failed<'a>(call: &Call<'a>, outcome: &TaskOutcome, error: Error, stats: Value) -> Object<'a> {
    let subject = subject(outcome);
    let mut text = format!("{subject} failed: {}. {}", sentence(&error.message), next_step(error.code));
    if !outcome.text.trim().is_empty() {
        text += &format!("\n\nIts text so far:\n\n{}", outcome.text);
    }
    if let Some(path) = outcome.full_text_path.as_ref().filter(|_| outcome.truncated) {
        text += &format!("\n\nThe whole text is in {path}.");
    }
    error_object(call, error, text, stats)
}

fn error_object<'a>(call: &Call<'a>, error: Error, text: String, stats: Value) -> Object<'a> {
    let context = Context::new(call.cwd, call.arguments);
    Object { status: "error", data: Map::new(), text, error: Some(error), stats, context }
}

fn subject(outcome: &TaskOutcome) -> String {
    format!("Subagent ({}, {})", type_name(outcome), outcome.model.route)
}

fn type_name(outcome: &TaskOutcome) -> &str {
    Envelope.defaults().type_named(&outcome.agent).map_or(&outcome.agent, |known| known.name)
}

fn code(cause: Cause) -> &'static str {
    match cause {
        Cause::Arguments | Cause::UnknownModel | Cause::UnknownAgent => "INVALID_PARAM",
        Cause::NoAgents => "NOT_FOUND",
        Cause::Circle => "CONFLICT",
        Cause::Depth | Cause::SwitchedOff | Cause::Refused | Cause::ToolAccess => "PERMISSION_DENIED",
        Cause::TooMany => "EXECUTION_ERROR",
        Cause::Timeout => "TIMEOUT",
        Cause::UnusableAgent | Cause::Route | Cause::Breakdown | Cause::Limit(_) => "INTERNAL_ERROR",
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
