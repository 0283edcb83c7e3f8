//! The `delegate` contract.

use serde_json::{Value, json};
use sortie_contract::{AtMaxDepth, Contract, Defaults, Delegate, ReportCap, SystemPrompt};
use sortie_protocol::{Limit, TaskOutcome, TaskRequest};

use crate::sample::{
    FAILURES, LIMITS, REJECTIONS, agents, call, cancelled, check, check_refused, completed, failed, failure, keys,
    limited, truncated,
};

fn encode(outcome: &TaskOutcome) -> Value {
    Delegate.encode(&call(r#"{"task":"t"}"#), Ok(outcome))
}

#[test]
fn s2_27_s2_28_the_tool_and_its_two_fields() {
    assert_eq!(Delegate.tool_name(), "task", "S2-28");
    check(
        &Delegate.schema(&agents()),
        &[
            ("S2-27", "/properties/task/type", json!("string")),
            ("S2-03, S2-27", "/properties/model/type", json!("string")),
            ("S2-27", "/required", json!(["task"])),
        ],
    );
    assert_eq!(keys(&Delegate.schema(&agents())["properties"]), ["task", "model"], "S2-27");
}

#[test]
fn s2_29_the_description_has_its_six_elements() {
    let description = Delegate.description(&agents());
    for said in [
        "Delegates a complex subtask to a focused sub-agent with its own context window",
        "break down large tasks, work on specific files without cluttering the main context, \nor use different models",
        "- 'task' (required): ",
        "- 'model' (optional): ",
        "will have access to all tools and can read/write files, run commands",
        "Results will be summarized and returned to you.",
        "Example use cases:\n- \"Refactor",
        "\n- \"Analyze",
        "\n- \"Fix",
    ] {
        assert!(description.contains(said), "S2-29: {said:?} in {description}");
    }
}

#[test]
fn s2_07_s2_08_s2_38_s2_67_defaults_of_the_dialect() {
    let defaults = Delegate.defaults();
    assert_eq!((defaults.max_depth, defaults.at_max_depth), (2, AtMaxDepth::Refuses), "S2-32, S2-38, S2-65, C-10");
    assert_eq!(defaults.max_tokens, Some(50_000), "S2-50, S2-67");
    assert!(defaults.inherit_context_files, "S2-08, C-20");
    assert_eq!(defaults.system, SystemPrompt::RoleAndPointer, "S2-09, S2-41");
    assert_eq!(defaults.report_cap, ReportCap::JsonBytes(6300), "S2-14, S2-44");
    assert_eq!((defaults.only_tools, defaults.denied_tools), (None, &[][..]), "S2-07");
    let [general] = defaults.types else { panic!("one type, not {:?}", defaults.types) };
    assert_eq!((general.agent, general.tools, general.model), ("general-purpose", None, None), "S2-07, S2-40, C-02");
    assert_eq!(defaults.max_concurrent, Defaults::PLAIN.max_concurrent, "S2-79, C-15");
}

#[test]
fn s2_02_s2_03_a_call_is_decoded() {
    let task = "  Review all tool\nimplementations in tools.go and refactor them.\n";
    let arguments = json!({"task": task, "model": "claude-3-5-haiku-20241022", "colour": null});
    let expected = TaskRequest {
        title: "Review all tool implementations in tools.go".to_owned(),
        prompt: task.to_owned(),
        agent: "general-purpose".to_owned(),
        agent_is_usual: true,
        model: Some("claude-3-5-haiku-20241022".to_owned()),
        notices: vec!["unknown key `colour` was ignored".to_owned()],
        ..TaskRequest::default()
    };
    assert_eq!(Delegate.decode(&arguments.to_string()), Ok(expected), "S2-02, S2-03, S2-10, C-02, C-18");
    for arguments in [r#"{"task":"t"}"#, r#"{"task":"t","model":""}"#, r#"{"task":"t","model":null}"#] {
        let request = Delegate.decode(arguments).expect("a request");
        assert_eq!((request.model, request.title.as_str()), (None, "t"), "S2-40 {arguments}");
    }
    let wide = Delegate.decode(&json!({"task": "ä".repeat(500)}).to_string()).expect("a request");
    assert_eq!(wide.title, "ä".repeat(60), "C-02");
}

#[test]
fn s2_27_s2_31_wrong_calls_are_refused() {
    check_refused(
        &Delegate,
        &[
            ("S2-27", "{}", "`task` is missing; it must be a non-empty string"),
            ("S2-27", r#"{"task":null}"#, "`task` is missing; it must be a non-empty string"),
            ("S2-27", r#"{"task":""}"#, "`task` is empty; it must be a non-empty string"),
            ("S2-27", r#"{"task":" \n"}"#, "`task` is empty; it must be a non-empty string"),
            ("S2-31", r#"{"task":1}"#, "`task` must be a non-empty string, not a number"),
            ("S2-31", r#"{"task":"t","model":1}"#, "`model` must be a non-empty string, not a number"),
            ("S2-31", r#"{"task":"t","model":"  "}"#, "`model` is empty; it must be a non-empty string"),
            ("S2-31", r#""task""#, "the arguments must be a JSON object, not a string"),
            ("S2-31", r#"{"task": t}"#, "the arguments are not valid JSON: expected ident at line 1 column 11"),
            (
                "S2-31",
                r#"{"task":"a","task":"b"}"#,
                "the arguments are not valid JSON: the key `task` occurs twice at line 1 column 23",
            ),
        ],
    );
}

#[test]
fn s2_11_s2_12_s2_22_s2_35_a_completed_task() {
    let files = vec!["src/a.go".to_owned(), "tools.go".to_owned()];
    let outcome = TaskOutcome { files_changed: files.clone(), ..completed("Refactored 6 tools.") };
    let expected = json!({
        "success": true,
        "files_modified": files,
        "summary": "Refactored 6 tools.",
        "tokens_used": 1245,
    });
    assert_eq!(encode(&outcome), expected, "S2-11, S2-12, S2-22, S2-35");
    let nothing_changed = encode(&completed("Read it."));
    check(&nothing_changed, &[("S2-35", "/files_modified", json!([]))]);
    assert!(!Delegate.is_error(Ok(&outcome)));
}

#[test]
fn s2_15_s2_16_s2_17_s2_34_a_task_that_ran_and_failed_is_a_result_that_says_so() {
    let ended = FAILURES.map(|code| failed(failure(code), "half")).into_iter();
    let ended = ended.chain(LIMITS.map(|limit| limited(limit, "half")));
    let ended = ended.chain([limited(Limit::Deadline, "half"), limited(Limit::Stalled, "half"), cancelled("half")]);
    for outcome in ended {
        let value = encode(&outcome);
        check(
            &value,
            &[
                ("S2-34, C-23", "/success", json!(false)),
                ("S2-13, C-23", "/summary", json!("half")),
                ("S2-22", "/tokens_used", json!(1245)),
            ],
        );
        assert_eq!(keys(&value), ["success", "files_modified", "summary", "tokens_used", "error"], "S2-16, S2-43");
        let error = value["error"].as_str().expect("text");
        assert!(error.starts_with("the sub-agent ran but did not finish: "), "S2-17 {error}");
        assert!(!Delegate.is_error(Ok(&outcome)), "S2-34, C-17");
    }
    let timed_out = encode(&limited(Limit::Deadline, "half"));
    let error = json!("the sub-agent ran but did not finish: timed out after 300000ms");
    check(&timed_out, &[("S2-20, S2-49, C-16", "/error", error)]);
}

#[test]
fn s2_13_a_failure_without_text_lists_the_actions() {
    let summary = "The sub-agent left no report. Tool calls that it made: Grep (1), Read (3). Files modified: 0.";
    check(&encode(&failed(failure("empty_answer"), "")), &[("S2-13", "/summary", json!(summary))]);
    let idle = TaskOutcome { tool_summary: Vec::new(), ..failed(failure("model_auth"), " ") };
    let summary = "The sub-agent left no report. Tool calls that it made: none. Files modified: 0.";
    check(&encode(&idle), &[("S2-13", "/summary", json!(summary))]);
}

#[test]
fn s2_30_to_s2_33_a_task_that_never_began_is_a_tool_error() {
    for code in REJECTIONS {
        let failure = failure(code);
        let error = match code {
            "depth" => "maximum sub-agent depth exceeded".to_owned(),
            "delegation_off" => "what delegation_off means".to_owned(),
            "invalid_arguments" => "invalid input: what invalid_arguments means".to_owned(),
            _ => format!("the sub-agent could not be created: what {code} means"),
        };
        let call = call("{}");
        assert_eq!(Delegate.encode(&call, Err(&failure)), json!({"error": error}), "S2-31, S2-32, S2-33");
        assert_eq!(Delegate.encode_for_model(&call, Err(&failure), "m"), error, "S2-30, S2-32");
        assert!(Delegate.is_error(Err(&failure)), "S2-30, C-17");
    }
}

#[test]
fn s2_14_s2_44_a_result_stays_within_two_thousand_tokens() {
    let prose = "Every line of this report has some words, and \"a quote\".\n".repeat(200);
    let files: Vec<String> = (0..500).map(|number| format!("src/module_{number}/file.rs")).collect();
    let outcome = TaskOutcome { files_changed: files, ..truncated(&prose[..6000]) };
    let value = encode(&outcome);
    assert!(value.to_string().len().div_ceil(4) <= 2000, "S2-44: {} bytes", value.to_string().len());
    let listed = value["files_modified"].as_array().expect("files").len();
    let summary = value["summary"].as_str().expect("text");
    assert!(summary.ends_with(&format!("\n[{} more files were modified]", 500 - listed)), "S2-12 {listed}");
}

#[test]
fn s2_44_a_summary_at_its_bound_is_whole_and_its_result_within_two_thousand_tokens() {
    let files: Vec<String> = (0..500).map(|number| format!("src/\"{number}\"\n.rs")).collect();
    for text in ["\"\n".repeat(1575), "\u{1}".repeat(1050), "a".repeat(6300), "ä".repeat(3150)] {
        let value = encode(&TaskOutcome { files_changed: files.clone(), ..limited(Limit::Turns, &text) });
        assert!(value["summary"].as_str().expect("text").starts_with(&text), "nothing is cut a second time");
        assert!(value.to_string().len() <= 8000, "{} bytes", value.to_string().len());
    }
}
