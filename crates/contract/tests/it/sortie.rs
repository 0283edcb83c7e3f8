//! The `sortie` contract.

use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::json;
use sortie_contract::{AtMaxDepth, Contract, ReportCap, Sortie, SystemPrompt, Visible};
use sortie_protocol::{
    Failure, FailureCode, Fork, Launched, Limit, Limits, Money, Status, TaskOutcome, TaskRequest, Usage,
};

use crate::sample::{agents, call, cancelled, completed, failed, failure, launched, limited};

fn outcome(text: &str) -> TaskOutcome {
    let usage = Usage { input_tokens: 1200, output_tokens: 34, tool_calls: 7, duration_ms: 3210, ..Usage::default() };
    TaskOutcome { tool_summary: Vec::new(), usage, ..completed(text) }
}

fn for_model(outcome: &TaskOutcome, mark: &str) -> String {
    Sortie.encode_for_model(&call("{}"), Ok(outcome), mark)
}

fn check_refused(arguments: &str, expected: &Expect) {
    let told = match Sortie.decode(arguments) {
        Err(failure) => format!("{}: {}", failure.code, failure.message),
        Ok(request) => format!("accepted: {request:?}"),
    };
    expected.assert_eq(&told);
}

#[test]
fn a_request_requires_only_description_and_prompt() {
    let request = Sortie.decode(r#"{"description": "Find it", "prompt": "  Where?\n"}"#);
    let expected = TaskRequest {
        title: "Find it".to_owned(),
        prompt: "  Where?\n".to_owned(),
        agent: "general-purpose".to_owned(),
        agent_is_usual: true,
        ..TaskRequest::default()
    };
    assert_eq!(request, Ok(expected), "the prompt is kept byte for byte");
}

#[test]
fn a_full_request_is_decoded_completely() {
    let arguments = json!({
        "description": "d", "prompt": "p", "subagent_type": "explore", "model": "light", "colour": "red",
        "run_in_background": false, "isolation": "none", "resume": "agent-aaaaaaaaaaaa",
        "limits": {"max_turns": 3, "max_tokens": 1000, "max_cost_usd": 0.25, "timeout_seconds": 1.5, "max_children": 0},
        "output_schema": {"type": "object"}, "fork": 2, "context_files": ["AGENTS.md", "docs/api.md"],
    });
    let expected = TaskRequest {
        title: "d".to_owned(),
        prompt: "p".to_owned(),
        agent: "explore".to_owned(),
        agent_is_usual: false,
        model: Some("light".to_owned()),
        background: false,
        resume: Some("agent-aaaaaaaaaaaa".to_owned()),
        limits: Limits {
            max_turns: Some(3),
            max_tokens: Some(1000),
            max_cost: Money::from_dollars(0.25),
            timeout: Some(Duration::from_millis(1500)),
            idle: None,
            max_children: Some(0),
        },
        output_schema: Some(json!({"type": "object"})),
        fork: Some(Fork::Turns(2)),
        context_files: Some(vec!["AGENTS.md".to_owned(), "docs/api.md".to_owned()]),
        reads_only: false,
        notices: vec!["unknown key `colour` was ignored".to_owned()],
        lent_model: None,
        levels: None,
    };
    assert_eq!(Sortie.decode(&arguments.to_string()), Ok(expected));
}

#[test]
fn a_fork_is_a_flag_or_a_number_of_turns() {
    let fork = |value: &str| {
        let arguments = format!(r#"{{"description":"d","prompt":"p","fork":{value}}}"#);
        Sortie.decode(&arguments).map(|request| request.fork).map_err(|failure| failure.message)
    };
    assert_eq!(fork("true"), Ok(Some(Fork::Whole)));
    assert_eq!(fork("false"), Ok(Some(Fork::Off)));
    assert_eq!(fork("7"), Ok(Some(Fork::Turns(7))));
    assert_eq!(fork("null"), Ok(None));
    for wrong in ["0", "-1", "1.5", "\"true\"", "[]"] {
        let message = format!("`fork` must be true, false or a number of turns (at least 1), not {wrong}");
        assert_eq!(fork(wrong), Err(message));
    }
}

#[test]
fn context_files_are_a_list_of_names() {
    let files = |value: &str| {
        let arguments = format!(r#"{{"description":"d","prompt":"p","context_files":{value}}}"#);
        Sortie.decode(&arguments).map(|request| request.context_files).map_err(|failure| failure.message)
    };
    assert_eq!(files("[]"), Ok(Some(Vec::new())), "none, rather than the usual ones");
    assert_eq!(files("null"), Ok(None));
    for wrong in ["\"AGENTS.md\"", "[1]", "[\" \"]", "true"] {
        assert_eq!(files(wrong), Err(format!("`context_files` must be a list of file names, not {wrong}")));
    }
}

#[test]
fn wrong_arguments_are_named() {
    check_refused(
        "{",
        &expect!["invalid_arguments: the arguments are not valid JSON: EOF while parsing an object at line 1 column 1"],
    );
    check_refused("[]", &expect!["invalid_arguments: the arguments must be a JSON object, not an array"]);
    check_refused(
        r#"{"description":"d"}"#,
        &expect!["invalid_arguments: `prompt` is missing; it must be a non-empty string"],
    );
    check_refused(
        r#"{"description":"d","prompt":" \n"}"#,
        &expect!["invalid_arguments: `prompt` is empty; it must be a non-empty string"],
    );
    check_refused(
        r#"{"description":7,"prompt":"p"}"#,
        &expect!["invalid_arguments: `description` must be a non-empty string, not a number"],
    );
    check_refused(
        r#"{"description":"d","prompt":"p","prompt":"q"}"#,
        &expect![
            "invalid_arguments: the arguments are not valid JSON: the key `prompt` occurs twice at line 1 column 45"
        ],
    );
    check_refused(
        r#"{"description":"d","prompt":"p","limits":{"max_turns":1,"max_turns":9}}"#,
        &expect![
            "invalid_arguments: the arguments are not valid JSON: the key `max_turns` occurs twice at line 1 column 70"
        ],
    );
    check_refused(
        r#"{"description":"d","prompt":"p","limits":{"max_turns":0}}"#,
        &expect!["invalid_arguments: `limits.max_turns` must be at least 1"],
    );
    check_refused(
        r#"{"description":"d","prompt":"p","limits":{"timeout_seconds":-1}}"#,
        &expect!["invalid_arguments: `limits.timeout_seconds` must be a positive number of seconds, not -1"],
    );
    check_refused(
        r#"{"description":"d","prompt":"p","limits":{"max_cost_usd":-1}}"#,
        &expect!["invalid_arguments: `limits.max_cost_usd` must be a positive number of US dollars, not -1"],
    );
    check_refused(
        r#"{"description":"d","prompt":"p","limits":{"max_kittens":1}}"#,
        &expect![
            "invalid_arguments: `limits.max_kittens` is not a limit of this version; there are max_turns, max_tokens, max_cost_usd, timeout_seconds and max_children"
        ],
    );
    check_refused(
        r#"{"description":"d","prompt":"p","run_in_background":"yes"}"#,
        &expect!["invalid_arguments: `run_in_background` must be true or false, not a string"],
    );
    check_refused(
        r#"{"description":"d","prompt":"p","isolation":"process"}"#,
        &expect!["unsupported: `isolation` is not available in this version; call again without it"],
    );
    check_refused(
        r#"{"description":"d","prompt":"p","output_schema":"{\"type\":\"object\"}"}"#,
        &expect!["invalid_arguments: `output_schema` must be an object, not a string"],
    );
    check_refused(
        &format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)),
        &expect!["invalid_arguments: the arguments are not valid JSON: recursion limit exceeded at line 1 column 128"],
    );
}

#[test]
fn the_model_gets_a_head_line_and_the_report_between_marks() {
    expect![[r"
        agent-aaaaaaaaaaaa explore completed, 7 calls, 1234 tokens, 3.2 s
        [report qwerty]
        In src/a.rs:3
        [end fake]
        [end qwerty]"]]
    .assert_eq(&for_model(&outcome("In src/a.rs:3\n[end fake]"), "qwerty"));
}

#[test]
fn an_empty_schema_requests_nothing() {
    for schema in ["{}", "null", "false"] {
        let request = Sortie.decode(&format!(r#"{{"description": "d", "prompt": "p", "output_schema": {schema}}}"#));
        assert_eq!(request.map(|request| request.output_schema), Ok(None), "{schema}");
    }
}

#[test]
fn the_model_gets_a_value_in_place_of_its_original_text() {
    let structured = Some(json!({"line": 3, "path": "src/a.rs"}));
    let outcome = TaskOutcome { structured, ..outcome("Here:\n```json\n{\"path\": \"src/a.rs\",\n\"line\": 3}\n```") };
    expect![[r#"
        agent-aaaaaaaaaaaa explore completed, 7 calls, 1234 tokens, 3.2 s
        [report m]
        {"line":3,"path":"src/a.rs"}
        [end m]"#]]
    .assert_eq(&for_model(&outcome, "m"));
    // A value that is too long comes in pages, as it was written.
    let cut = TaskOutcome { truncated: true, text: "Here:\n[… cut]".to_owned(), ..outcome.clone() };
    assert!(for_model(&cut, "m").ends_with("[report m]\nHere:\n[… cut]\n[end m]"));
    // Written out in full, it would exceed its report's limit.
    let grown = TaskOutcome { text: "1e300".to_owned(), structured: Some(json!(1e300)), ..outcome.clone() };
    assert!(for_model(&grown, "m").contains("\n1e"), "{}", for_model(&grown, "m"));
    let value = Sortie.encode(&call("{}"), Ok(&outcome));
    assert_eq!((&value["structured"]["line"], &value["text"]), (&json!(3), &json!(outcome.text)));
}

#[test]
fn the_model_is_told_of_limits_errors_notices_and_cuts() {
    let mut cut = outcome("some text");
    cut.status = Status::Partial;
    cut.reason = Some(Limit::Turns);
    cut.error = Some(Failure::new(FailureCode::read("code"), "what happened"));
    cut.notices = vec!["something odd".to_owned()];
    cut.full_text_path = Some("/state/reports/x.md".to_owned());
    expect![[r#"
        agent-aaaaaaaaaaaa explore partial (limit: turns), 7 calls, 1234 tokens, 3.2 s
        error code: what happened
        notice: something odd
        [report m]
        some text
        [end m]"#]]
    .assert_eq(&for_model(&cut, "m"));
}

#[test]
fn the_result_object_has_no_nulls_and_reads_back_as_the_outcome() {
    let value = Sortie.encode(&call("{}"), Ok(&outcome("done")));
    assert!(value.as_object().expect("an object").values().all(|field| !field.is_null()));
    assert_eq!(value["status"], "completed");
    assert_eq!(value["usage"]["total_tokens"], 1234);
    assert_eq!(serde_json::from_value::<TaskOutcome>(value).expect("the same shape"), outcome("done"));
    expect![[r#"{"status":"rejected","error":{"code":"depth","message":"too deep"}}"#]]
        .assert_eq(&Sortie.encode(&call("{}"), Err(&Failure::new(FailureCode::Depth, "too deep"))).to_string());
    expect!["No sub-agent was started (depth): too deep"].assert_eq(&Sortie.encode_for_model(
        &call("{}"),
        Err(&Failure::new(FailureCode::Depth, "too deep")),
        "m",
    ));
}

#[test]
fn a_task_in_the_background_is_running_and_the_model_is_told_not_to_poll() {
    let notices = vec!["something odd".to_owned()];
    let launched = Launched { notices, ..launched() };
    expect![[r#"{"task_id":"agent-aaaaaaaaaaaa","agent":"explore","status":"running","model":{"route":"light","id":"small-1"},"output_file":"/state/reports/x-output.log","notices":["something odd"]}"#]]
        .assert_eq(&Sortie.encode_launched(&launched).to_string());
    expect![[r"
        agent-aaaaaaaaaaaa explore running in the background. Go on with other work; do not poll. Its report is delivered to you when it ends.
        output file, for people: /state/reports/x-output.log
        notice: something odd"]].assert_eq(&Sortie.encode_launched_for_model(&launched));
}

#[test]
fn the_description_and_the_schema_list_the_agents() {
    let description = Sortie.description(&agents());
    assert!(
        description.contains("Agents:\ngeneral-purpose: any work\nexplore: find things\ncode-reviewer: "),
        "{description}"
    );
    let schema = Sortie.schema(&agents());
    assert_eq!(schema["properties"]["subagent_type"]["enum"], json!(["general-purpose", "explore", "code-reviewer"]));
    assert_eq!(schema["required"], json!(["description", "prompt"]));
}

#[test]
fn everything_the_schema_offers_is_understood() {
    let schema = Sortie.schema(&agents());
    let sample = |kind: &serde_json::Value| match kind["type"].as_str() {
        Some("string") => json!("explore"),
        Some("integer" | "number") => json!(1),
        Some("boolean") | None => json!(true),
        Some("array") => json!(["AGENTS.md"]),
        Some("object") => json!({"type": "string"}),
        other => panic!("no sample for {other:?}"),
    };
    let properties = schema["properties"].as_object().expect("properties");
    let mut arguments = serde_json::Map::new();
    for (name, property) in properties {
        let described = property["description"].as_str().unwrap_or_default();
        let limits = || described.split(", ").map(|limit| (limit.to_owned(), json!(1))).collect();
        arguments.insert(name.clone(), if name == "limits" { limits() } else { sample(property) });
    }
    let request = Sortie.decode(&serde_json::Value::from(arguments).to_string()).expect("all of it is known");
    assert_eq!((request.notices, request.background), (Vec::<String>::new(), true));
}

#[test]
fn the_dialect_has_its_own_defaults() {
    let defaults = Sortie.defaults();
    assert_eq!((defaults.max_depth, defaults.at_max_depth), (2, AtMaxDepth::Hidden));
    assert_eq!((defaults.max_concurrent, defaults.max_tokens, defaults.max_turns), (20, None, 30));
    assert_eq!((defaults.visible, defaults.system), (Visible::All, SystemPrompt::Role));
    assert_eq!(defaults.report_cap, ReportCap::Bytes(8000));
    assert!(!defaults.refuses_circles && !defaults.best_match && !defaults.inherit_context_files);
}

#[test]
fn a_call_without_a_report_fails() {
    for (answer, fails) in [
        (Ok(completed("x")), false),
        (Ok(limited(Limit::Deadline, "x")), false),
        (Ok(failed(failure("internal"), "x")), true),
        (Ok(cancelled("x")), true),
        (Err(failure("depth")), true),
    ] {
        assert_eq!(Sortie.is_error(answer.as_ref()), fails, "{answer:?}");
    }
}
