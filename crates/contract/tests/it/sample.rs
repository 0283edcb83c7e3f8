//! Calls, outcomes and failures as the engine makes them, and tables over answers.

use serde_json::{Value, json};
use sortie_contract::{AgentLine, Call, Contract};
use sortie_protocol::{Failure, FailureCode, Launched, Limit, Status, TaskId, TaskOutcome};

/// Id of calls that started nothing.
pub(crate) const SPARE_ID: &str = "agent-zzzzzzzzzzzz";

pub(crate) fn agents() -> Vec<AgentLine> {
    [("general-purpose", "any work"), ("explore", "find things"), ("code-reviewer", "Reviews code.\nThoroughly.")]
        .map(|(name, description)| AgentLine { name: name.to_owned(), description: description.to_owned() })
        .to_vec()
}

pub(crate) fn call(arguments: &str) -> Call<'_> {
    Call { arguments, cwd: ".", spare_id: SPARE_ID.parse().expect("an id") }
}

/// A completed task of `explore` on the light route: three reads and a search.
pub(crate) fn completed(text: &str) -> TaskOutcome {
    let outcome = json!({
        "task_id": TaskId::from_random([0; 12]),
        "agent": "explore",
        "status": "completed",
        "text": text,
        "tool_summary": [{"tool": "Grep", "count": 1}, {"tool": "Read", "count": 3}],
        "model": {"route": "light", "id": "small-1"},
        "usage": {
            "input_tokens": 1200, "output_tokens": 34, "cache_read_tokens": 5, "cache_write_tokens": 6,
            "turns": 3, "tool_calls": 4, "duration_ms": 1234,
        },
    });
    serde_json::from_value(outcome).expect("an outcome")
}

/// The task of [`completed`], at work in the background.
pub(crate) fn launched() -> Launched {
    let TaskOutcome { task_id, agent, model, .. } = completed("");
    let output_file = Some("/state/reports/x-output.log".to_owned());
    Launched { task_id, agent, model, output_file, notices: Vec::new() }
}

pub(crate) fn limited(limit: Limit, text: &str) -> TaskOutcome {
    let deadline_ms = (limit == Limit::Deadline).then_some(300_000);
    TaskOutcome { status: Status::Partial, reason: Some(limit), deadline_ms, ..completed(text) }
}

pub(crate) fn failed(failure: Failure, text: &str) -> TaskOutcome {
    let deadline_ms = (failure.code == FailureCode::Timeout).then_some(500);
    TaskOutcome { status: Status::Failed, error: Some(failure), deadline_ms, ..completed(text) }
}

pub(crate) fn cancelled(text: &str) -> TaskOutcome {
    TaskOutcome { status: Status::Cancelled, ..completed(text) }
}

pub(crate) fn truncated(text: &str) -> TaskOutcome {
    TaskOutcome { truncated: true, full_text_path: Some("/state/reports/x.md".to_owned()), ..completed(text) }
}

/// A cached outcome of an identical task.
pub(crate) fn again(text: &str) -> TaskOutcome {
    let TaskOutcome { task_id, .. } = completed("");
    let notice = format!("answered from {task_id}, which did the same on the same files at noon");
    let notices = vec!["unknown key `colour` was ignored".to_owned(), notice.clone()];
    TaskOutcome { notices, given_again: Some(notice), ..completed(text) }
}

pub(crate) fn timeout() -> Failure {
    Failure::new(FailureCode::Timeout, "the time ran out before there was any text")
}

/// A failure with this code, with the details that the engine gives it.
pub(crate) fn failure(code: &str) -> Failure {
    let failure = Failure::new(FailureCode::read(code), format!("what {code} means"));
    match code {
        "unknown_agent" | "unusable_agent" => {
            failure.about(["bash", "code-reviewer", "explore", "general-purpose", "plan"])
        }
        "circular" => failure.about(["a", "b", "a"]),
        "tool_access" => failure.about(["Write", "Bash"]),
        _ => failure,
    }
}

/// Codes of rejected calls, and of tasks that ran and failed.
pub(crate) const REJECTIONS: [&str; 22] = [
    "invalid_arguments",
    "unsupported",
    "unknown_agent",
    "unusable_agent",
    "no_agents",
    "unknown_model",
    "model_override",
    "model_setup",
    "depth",
    "delegation_off",
    "permission",
    "vetoed",
    "unknown_template",
    "template_arguments",
    "circular",
    "tool_access",
    "empty_prompt",
    "prompt_too_long",
    "max_children",
    "delegation_rate",
    "journal",
    "internal",
];
pub(crate) const FAILURES: [&str; 17] = [
    "internal",
    "empty_answer",
    "refusal",
    "timeout",
    "model_auth",
    "model_not_found",
    "model_bad_request",
    "context_length",
    "rate_limited",
    "model_overloaded",
    "model_server_error",
    "model_unreachable",
    "model_stream_cut",
    "stalled",
    "model_garbage",
    "model_reply_too_large",
    "model_setup",
];

/// Reasons other than time for a partial outcome.
pub(crate) const LIMITS: [Limit; 7] =
    [Limit::Turns, Limit::Tokens, Limit::Cost, Limit::Context, Limit::Output, Limit::Loop, Limit::NoAnswer];

/// Compares parts of an answer, each named by its statement. `Null` stands for absent.
#[track_caller]
pub(crate) fn check(value: &Value, table: &[(&str, &str, Value)]) {
    for (id, pointer, expected) in table {
        assert_eq!(value.pointer(pointer).unwrap_or(&Value::Null), expected, "{id} {pointer} in {value:#}");
    }
}

/// Each row: a statement, arguments, and the error in them.
#[track_caller]
pub(crate) fn check_refused(contract: &dyn Contract, table: &[(&str, &str, &str)]) {
    for (id, arguments, expected) in table {
        match contract.decode(arguments) {
            Err(failure) => assert_eq!(failure.message, *expected, "{id} {arguments}"),
            Ok(request) => panic!("{id} {arguments} was accepted: {request:?}"),
        }
    }
}

pub(crate) fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}
