//! The `result` contract.

use serde_json::{Value, json};
use sortie_contract::{AtMaxDepth, Contract, ReportCap, SystemPrompt, ToolResult, Visible, http_code};
use sortie_protocol::{Failure, FailureCode, Limit, TaskOutcome, TaskRequest};

use crate::sample::{
    FAILURES, LIMITS, REJECTIONS, agents, call, cancelled, check, check_refused, completed, failed, failure, limited,
    timeout,
};

const ARGUMENTS: &str = r#"{"description":"Find it","prompt":"Where?","subagent_type":"unknown-type"}"#;

fn encode(outcome: &TaskOutcome) -> Value {
    ToolResult.encode(&call(ARGUMENTS), Ok(outcome))
}

fn reject(failure: &Failure) -> Value {
    ToolResult.encode(&call(ARGUMENTS), Err(failure))
}

#[test]
fn s1_01_to_s1_08_the_schema_is_the_designs() {
    assert_eq!(ToolResult.tool_name(), "Task", "S1-01");
    let document = r##"{
      "type": "object",
      "properties": {
        "description": {
          "type": "string",
          "description": "A short (3-5 word) description of the task"
        },
        "prompt": {
          "type": "string",
          "description": "The task for the agent to perform"
        },
        "subagent_type": {
          "type": "string",
          "description": "The type of specialized agent to use for this task"
        }
      },
      "required": [
        "description",
        "prompt",
        "subagent_type"
      ],
      "additionalProperties": false,
      "$schema": "http://json-schema.org/draft-07/schema#"
    }"##;
    let document: Value = serde_json::from_str(document).expect("JSON");
    assert_eq!(ToolResult.schema(&agents()), document, "S1-02, S1-03, S1-04, S1-05, S1-06, S1-07, S1-08");
    assert_eq!(ToolResult.schema(&[]), document, "S1-05: for any agents");
}

#[test]
fn s1_01_the_description_lists_the_configured_subagents() {
    let description = ToolResult.description(&agents());
    assert!(description.starts_with("Delegate a specialized task to a configured subagent."), "S1-01");
    assert!(description.ends_with("\n- code-reviewer: Reviews code. Thoroughly."), "S1-01 {description}");
    assert!(ToolResult.description(&[]).contains("None are configured"), "S1-15");
}

#[test]
fn s1_12_s1_19_s1_20_s1_23_s1_39_defaults_of_the_dialect() {
    let defaults = ToolResult.defaults();
    assert_eq!(defaults.report_cap, ReportCap::None, "S1-12");
    assert!(defaults.refuses_circles, "S1-19, S1-44");
    assert!(defaults.refuses_missing_tools, "S1-20");
    assert!(defaults.best_match, "S1-23");
    assert_eq!(defaults.max_concurrent, 5, "S1-39");
    assert_eq!(defaults.visible, Visible::Files, "S1-15, S1-45");
    assert_eq!(defaults.system, SystemPrompt::Role, "S1-45, C-21");
    assert_eq!((defaults.max_depth, defaults.at_max_depth), (2, AtMaxDepth::Refuses), "C-10");
}

#[test]
fn s1_22_a_call_is_decoded_literally() {
    let request = ToolResult.decode(r#"{"description":"d","prompt":" p\n","subagent_type":"Code Reviewer"}"#);
    let expected = TaskRequest {
        title: "d".to_owned(),
        prompt: " p\n".to_owned(),
        agent: "Code Reviewer".to_owned(),
        ..TaskRequest::default()
    };
    assert_eq!(request, Ok(expected), "S1-22, S1-23");
}

#[test]
fn s1_06_s1_07_s1_22_wrong_calls_are_refused_by_field() {
    let row = |name: &str, value: Option<Value>| {
        let mut arguments = json!({"description": "d", "prompt": "p", "subagent_type": "a"});
        match value {
            None => drop(arguments.as_object_mut().expect("an object").remove(name)),
            Some(value) => arguments[name] = value,
        }
        arguments.to_string()
    };
    for name in ["description", "prompt", "subagent_type"] {
        for (id, value, what) in [
            ("S1-06", None, "is missing; it must be a non-empty string"),
            ("S1-22", Some(Value::Null), "is missing; it must be a non-empty string"),
            ("S1-22", Some(json!(["p"])), "must be a non-empty string, not an array"),
            ("S1-22", Some(json!({})), "must be a non-empty string, not an object"),
            ("S1-22", Some(json!(true)), "must be a non-empty string, not a boolean"),
            ("S1-22", Some(json!("  ")), "is empty; it must be a non-empty string"),
        ] {
            check_refused(&ToolResult, &[(id, &row(name, value), &format!("`{name}` {what}"))]);
        }
    }
    let extra = "`model` is not a field of this tool; there are description, prompt and subagent_type";
    check_refused(
        &ToolResult,
        &[
            ("S1-07, C-18", &row("model", Some(json!("opus"))), extra),
            ("S1-07, C-18", &row("model", Some(Value::Null)), extra),
            ("K02", "null", "the arguments must be a JSON object, not null"),
        ],
    );
}

#[test]
fn s1_09_s1_10_s1_12_s1_13_success_is_the_last_message_byte_for_byte() {
    let long = "Zeile mit Ende  \n\n".repeat(6000) + "  \n";
    for text in ["FINAL", " spaces  ", &long] {
        let expected = json!({"success": true, "content": text, "shortResult": "Task completed by explore"});
        assert_eq!(encode(&completed(text)), expected, "S1-09, S1-10, S1-12, S1-13, S1-27");
    }
    assert!(!ToolResult.is_error(Ok(&completed("x"))));
}

#[test]
fn s1_14_to_s1_21_the_six_errors_word_for_word() {
    let listed = failure("unknown_agent").about(["code-reviewer", "documentation-writer", "test-generator"]);
    for (id, failure, error, code) in [
        ("S1-15", failure("no_agents"), "No subagents available for delegation", 404),
        ("S1-15", Failure::new(FailureCode::UnknownAgent, "m"), "No subagents available for delegation", 404),
        (
            "S1-16",
            listed,
            "Subagent 'unknown-type' not found. Available: code-reviewer, documentation-writer, test-generator",
            404,
        ),
        ("S1-17", failure("unknown_model"), "Failed to initialize subagent: what unknown_model means", 500),
        ("S1-17", failure("journal"), "Failed to initialize subagent: what journal means", 500),
        ("S1-19", failure("circular"), "Circular delegation prevented: a -> b -> a", 409),
        ("S1-20", failure("tool_access"), "Subagent lacks permission for required tools: Write, Bash", 403),
        ("S1-17", failure("unusable_agent"), "Failed to initialize subagent: what unusable_agent means", 500),
        ("S1-17", Failure::new(FailureCode::UnusableAgent, "m"), "Failed to initialize subagent: m", 500),
        ("S1-17", failure("model_setup"), "Failed to initialize subagent: what model_setup means", 500),
        ("S1-11", failure("permission"), "Task delegation failed: what permission means", 403),
        ("S2-64", failure("delegation_off"), "Task delegation failed: what delegation_off means", 403),
        ("C-10", failure("depth"), "maximum sub-agent depth exceeded", 403),
        ("S1-22", failure("invalid_arguments"), "what invalid_arguments means", 400),
        ("S1-22", failure("prompt_too_long"), "what prompt_too_long means", 400),
        ("S2-76", failure("max_children"), "what max_children means", 429),
    ] {
        let expected =
            json!({"success": false, "content": "", "error": error, "shortResult": "Task delegation failed"});
        assert_eq!(reject(&failure), expected, "{id}, S1-11, S1-14");
        assert_eq!(http_code(&failure), code, "{id}, S1-21");
        assert!(ToolResult.is_error(Err(&failure)), "C-17");
    }
}

#[test]
fn s1_18_a_timeout_names_its_time() {
    for (outcome, ms) in [
        (failed(timeout(), ""), 500),
        (limited(Limit::Deadline, "so far"), 300_000),
        (limited(Limit::Stalled, "so far"), 1234),
        (failed(failure("stalled"), ""), 1234),
    ] {
        let expected = json!({
            "success": false,
            "content": "",
            "error": format!("Subagent task timed out after {ms}ms"),
            "shortResult": format!("Task failed: timed out after {ms}ms"),
        });
        assert_eq!(encode(&outcome), expected, "S1-18, S1-14, C-16");
    }
    assert_eq!(http_code(&timeout()), 408, "S1-21");
}

#[test]
fn s1_17_a_route_that_never_worked_is_a_failed_initialization() {
    for code in ["model_auth", "model_not_found", "model_unreachable", "model_setup"] {
        let mut outcome = failed(failure(code), "");
        check(&encode(&outcome), &[("S1-14", "/shortResult", json!(format!("Task failed: what {code} means")))]);
        outcome.usage.turns = 0;
        check(
            &encode(&outcome),
            &[
                ("S1-17", "/error", json!(format!("Failed to initialize subagent: what {code} means"))),
                ("S1-14", "/shortResult", json!("Task delegation failed")),
            ],
        );
        assert_eq!(http_code(&failure(code)), 500, "S1-21");
    }
}

#[test]
fn c_23_a_limit_is_a_failed_task_that_keeps_its_text() {
    for limit in LIMITS {
        let value = encode(&limited(limit, "so far"));
        check(&value, &[("C-23", "/success", json!(false)), ("S1-11", "/content", json!(""))]);
        let short = value["shortResult"].as_str().expect("text");
        assert!(short.starts_with("Task failed: the "), "C-23, S1-14 {short}");
        assert!(value["error"].as_str().expect("text").ends_with("What it had so far:\n\nso far"), "C-23");
    }
}

#[test]
fn s1_14_a_failed_task_has_a_brief_error() {
    for code in FAILURES.into_iter().filter(|code| !["timeout", "stalled"].contains(code)) {
        let message = format!("what {code} means");
        let expected = json!({
            "success": false, "content": "", "error": message, "shortResult": format!("Task failed: {message}"),
        });
        assert_eq!(encode(&failed(failure(code), "half")), expected, "S1-11, S1-14");
    }
    check(
        &encode(&cancelled("half")),
        &[("S1-14", "/shortResult", json!("Task failed: cancelled before it was done"))],
    );
    let long = Failure::new(FailureCode::Internal, "ä".repeat(81) + "\nmore");
    let short = format!("Task failed: {}…", "ä".repeat(79));
    check(&encode(&failed(long, "")), &[("S1-14", "/shortResult", json!(short))]);
    let fits = Failure::new(FailureCode::Internal, "ä".repeat(80) + "\nmore");
    let short = format!("Task failed: {}", "ä".repeat(80));
    check(&encode(&failed(fits, "")), &[("S1-14", "/shortResult", json!(short))]);
}

#[test]
fn s1_21_every_failure_has_a_code() {
    for code in REJECTIONS.into_iter().chain(FAILURES) {
        assert!((400..=500).contains(&http_code(&failure(code))), "S1-21 {code}");
    }
}
