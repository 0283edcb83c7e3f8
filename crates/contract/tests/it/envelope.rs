//! The `envelope` contract.

use serde_json::{Value, json};
use sortie_contract::{AtMaxDepth, Call, Contract, Envelope, ReportCap, SystemPrompt, Visible};
use sortie_protocol::{Limit, ModelChoice, Status, TaskOutcome, TaskRequest};

use crate::sample::{
    self, FAILURES, LIMITS, REJECTIONS, agents, call, cancelled, check, check_refused, completed, failed, failure,
    limited, truncated,
};

const ARGUMENTS: &str = r#"{"description":"Find it","prompt":"Where?","subagent_type":"Explore","model":"light"}"#;

fn encode(outcome: &TaskOutcome) -> Value {
    Envelope.encode(&call(ARGUMENTS), Ok(outcome))
}

#[test]
fn s0_01_s0_21_to_s0_24_the_tool_and_its_four_fields() {
    assert_eq!(Envelope.tool_name(), "Task", "S0-01");
    let expected = json!({
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "Short summary of the task"},
            "prompt": {"type": "string", "description": "Full instructions for the subagent"},
            "subagent_type": {
                "type": "string", "enum": ["general", "explore", "summary", "plan"],
                "description": "Type of subagent",
            },
            "model": {
                "type": "string", "enum": ["main", "light"],
                "description": "`light` for simple tasks, `main` for complex ones; by type if not given",
            },
        },
        "required": ["description", "prompt", "subagent_type"],
    });
    assert_eq!(Envelope.schema(&agents()), expected, "S0-05, S0-14, S0-21, S0-22, S0-23, S0-24");
}

#[test]
fn s0_49_s0_60_the_description_guides_the_choice() {
    let description = Envelope.description(&agents());
    for (id, said) in [
        ("S0-60", "Use Task for complex or parallelizable work."),
        ("S0-49, S0-60", "Prefer model `light` for simpler tasks: summaries, quick lookups."),
        ("S0-49, S0-60", "Prefer model `main` for complex reasoning or plan-heavy tasks."),
        ("S0-40", "\n- general: "),
        ("S0-40", "\n- explore: "),
        ("S0-40", "\n- summary: "),
        ("S0-40", "\n- plan: "),
    ] {
        assert!(description.contains(said), "{id}: {said:?} in {description}");
    }
    assert!(!description.contains("code-reviewer"), "S0-14: the types are fixed");
}

#[test]
fn s0_08_s0_14_s0_42_s0_55_s0_56_defaults_of_the_dialect() {
    let defaults = Envelope.defaults();
    assert_eq!(defaults.only_tools, Some(&["LS", "TodoWrite", "Glob", "Grep", "Read"][..]), "S0-56, S0-57");
    assert_eq!(defaults.denied_tools, ["Task", "Write", "Edit", "MultiEdit", "Bash"], "S0-08, S0-55");
    assert_eq!((defaults.max_depth, defaults.at_max_depth), (1, AtMaxDepth::Hidden), "S0-53, S0-71");
    assert_eq!(defaults.max_concurrent, 1, "S0-05, C-15");
    assert_eq!(defaults.visible, Visible::Types, "S0-14");
    assert_eq!(defaults.system, SystemPrompt::RoleAndTitle, "S0-42");
    assert_eq!(defaults.report_cap, ReportCap::LinesOrBytes { lines: 2000, bytes: 51_200 }, "P-10");
    let types: Vec<_> = defaults.types.iter().map(|known| (known.name, known.agent, known.model)).collect();
    let expected = [
        ("general", "general-purpose", Some("main")),
        ("explore", "explore", Some("light")),
        ("summary", "summary", Some("light")),
        ("plan", "plan", Some("main")),
    ];
    assert_eq!(types, expected, "S0-40, S0-52, C-06");
    assert!(defaults.types.iter().all(|known| known.tools == defaults.only_tools), "S0-39: the same tools for all");
}

#[test]
fn s0_40_s0_43_s0_44_calls_are_decoded_with_types_in_any_case() {
    for (given, agent) in [
        ("general", "general-purpose"),
        ("General", "general-purpose"),
        ("explore", "explore"),
        ("EXPLORE", "explore"),
        (" explore ", "explore"),
        ("summary", "summary"),
        ("plan", "plan"),
    ] {
        let prompt = "  Wo?\n\tÄ 🦀\n";
        let arguments = json!({"description": "d", "prompt": prompt, "subagent_type": given, "colour": 1});
        let expected = TaskRequest {
            title: "d".to_owned(),
            prompt: prompt.to_owned(),
            agent: agent.to_owned(),
            notices: vec!["unknown key `colour` was ignored".to_owned()],
            ..TaskRequest::default()
        };
        assert_eq!(Envelope.decode(&arguments.to_string()), Ok(expected), "S0-40, S0-43, S0-44, C-18");
    }
    for model in ["main", "light"] {
        let arguments = json!({"description": "d", "prompt": "p", "subagent_type": "plan", "model": model});
        let request = Envelope.decode(&arguments.to_string()).expect("a request");
        assert_eq!(request.model.as_deref(), Some(model), "S0-24, S0-48");
    }
}

#[test]
fn s0_45_s0_46_s0_64_to_s0_66_wrong_calls_are_refused() {
    let text = |name: &str, what: &str| format!("`{name}` {what}");
    let (missing, empty) = ("is missing; it must be a non-empty string", "is empty; it must be a non-empty string");
    let number = "must be a non-empty string, not a number";
    for (id, name) in [("S0-64", "description"), ("S0-65", "prompt"), ("S0-23", "subagent_type")] {
        for (value, what) in [
            (None, missing),
            (Some(Value::Null), missing),
            (Some(json!(7)), number),
            (Some(json!("")), empty),
            (Some(json!(" \n ")), empty),
        ] {
            let mut arguments = json!({"description": "d", "prompt": "p", "subagent_type": "plan"});
            match value {
                None => drop(arguments.as_object_mut().expect("an object").remove(name)),
                Some(value) => arguments[name] = value,
            }
            check_refused(&Envelope, &[(id, &arguments.to_string(), &text(name, what))]);
        }
    }
    check_refused(
        &Envelope,
        &[
            (
                "S0-45, S0-66",
                r#"{"description":"d","prompt":"p","subagent_type":"wizard"}"#,
                "there is no `subagent_type` `wizard`; it must be one of general, explore, summary, plan",
            ),
            (
                "S0-24, S0-46",
                r#"{"description":"d","prompt":"p","subagent_type":"plan","model":"gpt-x"}"#,
                "`model` must be one of main, light, not `gpt-x`",
            ),
            (
                "K02",
                r#"{"description":"d","prompt":"p","prompt":"q","subagent_type":"plan"}"#,
                "the arguments are not valid JSON: the key `prompt` occurs twice at line 1 column 44",
            ),
            ("K02", "[1]", "the arguments must be a JSON object, not an array"),
            ("K02", r#"{"prompt":1e400}"#, "the arguments hold a number out of range at line 1 column 15"),
            ("K02", "", "the arguments are not valid JSON: EOF while parsing a value at line 1 column 0"),
        ],
    );
}

#[test]
fn s0_25_to_s0_38_a_completed_task() {
    let value = encode(&completed("FINAL"));
    check(
        &value,
        &[
            ("S0-25", "/status", json!("success")),
            ("S0-26", "/data/status", json!("completed")),
            ("S0-27", "/data/result", json!("FINAL")),
            ("S0-28, S0-29", "/data/tool_summary", json!([{"tool": "Grep", "count": 1}, {"tool": "Read", "count": 3}])),
            ("S0-30", "/data/model_used", json!("light")),
            ("S0-31", "/data/subagent_type", json!("explore")),
            ("S0-32", "/text", json!("Subagent (explore, light) completed.\n\nFINAL")),
            ("S0-33", "/stats/time_ms", json!(1234)),
            ("S0-34", "/stats/tool_calls", json!(4)),
            ("S0-35", "/stats/model", json!("light")),
            ("S0-36", "/context/cwd", json!(".")),
            ("S0-37", "/context/params_input", serde_json::from_str(ARGUMENTS).expect("JSON")),
        ],
    );
    assert_eq!(sample::keys(&value), ["status", "data", "text", "stats", "context"], "S0-38, P-01");
    let expected = ["status", "result", "tool_summary", "model_used", "subagent_type"];
    assert_eq!(sample::keys(&value["data"]), expected, "S0-38");
    assert!(!Envelope.is_error(Ok(&completed("FINAL"))));
    let told = Envelope.encode_for_model(&call(ARGUMENTS), Ok(&completed("FINAL")), "mark");
    assert_eq!(serde_json::from_str::<Value>(&told).expect("JSON"), value);
}

#[test]
fn s0_31_s0_33_s0_36_names_time_and_place_follow_this_dialect() {
    let mut outcome = completed("x");
    outcome.agent = "general-purpose".to_owned();
    outcome.usage.duration_ms = 0;
    let call = Call { cwd: "src/deep", ..call(ARGUMENTS) };
    check(
        &Envelope.encode(&call, Ok(&outcome)),
        &[
            ("S0-31", "/data/subagent_type", json!("general")),
            ("S0-33, P-06", "/stats/time_ms", json!(1)),
            ("S0-36", "/context/cwd", json!("src/deep")),
        ],
    );
}

#[test]
fn c_23_a_limit_leaves_a_partial_result() {
    for (limit, words) in LIMITS.into_iter().zip(["turn limit", "token limit", "cost limit", "context window", "reply"])
    {
        let outcome = limited(limit, "so far");
        let value = encode(&outcome);
        check(
            &value,
            &[
                ("C-23", "/status", json!("partial")),
                ("C-23", "/data/status", json!("incomplete")),
                ("C-23", "/data/result", json!("so far")),
                ("P-05", "/error", Value::Null),
            ],
        );
        let text = value["text"].as_str().expect("text");
        assert!(
            text.starts_with("Subagent (explore, light) is incomplete: the ") && text.contains(words),
            "P-04 {text}"
        );
        assert!(text.ends_with("\n\nso far") && text.contains("try Task again"), "P-04 {text}");
        assert!(!Envelope.is_error(Ok(&outcome)), "C-17");
    }
}

#[test]
fn p_12_running_out_of_time_is_a_timeout_that_keeps_the_text() {
    for (outcome, ms) in [
        (limited(Limit::Deadline, "so far"), 300_000),
        (limited(Limit::Stalled, "so far"), 1234),
        (failed(sample::timeout(), ""), 500),
    ] {
        let value = encode(&outcome);
        check(
            &value,
            &[
                ("P-12, C-16", "/status", json!("error")),
                ("P-12, C-16", "/error/code", json!("TIMEOUT")),
                ("P-12, C-16", "/error/message", json!(format!("timed out after {ms}ms"))),
                ("P-03", "/data", json!({})),
            ],
        );
        let kept = value["text"].as_str().expect("text").contains("so far");
        assert_eq!(kept, !outcome.text.is_empty(), "nothing that was written is lost");
        assert!(Envelope.is_error(Ok(&outcome)), "C-17");
    }
}

#[test]
fn s0_67_a_task_that_fails_is_an_error_and_never_a_success() {
    for code in FAILURES {
        let expected = if ["timeout", "stalled"].contains(&code) { "TIMEOUT" } else { "INTERNAL_ERROR" };
        for text in ["", "half a sentence"] {
            let value = encode(&failed(failure(code), text));
            check(
                &value,
                &[
                    ("S0-67", "/status", json!("error")),
                    ("S0-67, P-08", "/error/code", json!(expected)),
                    ("P-03", "/data", json!({})),
                    ("S0-34", "/stats/tool_calls", json!(4)),
                    ("S0-35", "/stats/model", json!("light")),
                ],
            );
            if expected == "INTERNAL_ERROR" {
                assert_eq!(value["error"]["message"], format!("what {code} means"), "S0-67");
            }
        }
    }
    let value = encode(&cancelled("half"));
    check(
        &value,
        &[
            ("C-25", "/error/code", json!("EXECUTION_ERROR")),
            ("C-25", "/error/message", json!("cancelled before it was done")),
        ],
    );
    let text = "Subagent (explore, light) failed: cancelled before it was done. Try to do this part without a subagent.\n\n\
                Its text so far:\n\nhalf";
    assert_eq!(value["text"], text, "P-04");
}

#[test]
fn s0_59_s0_64_to_s0_66_a_rejected_call_has_its_code() {
    let expected = |code: &str| match code {
        "no_agents" => "NOT_FOUND",
        "circular" => "CONFLICT",
        "depth" | "delegation_off" | "permission" | "vetoed" | "tool_access" => "PERMISSION_DENIED",
        "max_children" | "delegation_rate" => "EXECUTION_ERROR",
        "unusable_agent" | "model_setup" | "journal" | "internal" => "INTERNAL_ERROR",
        _ => "INVALID_PARAM",
    };
    for code in REJECTIONS {
        let failure = failure(code);
        check(
            &Envelope.encode(&call(ARGUMENTS), Err(&failure)),
            &[
                ("S0-59", "/status", json!("error")),
                ("S0-64, S0-65, S0-66, P-08", "/error/code", json!(expected(code))),
                ("S0-66", "/error/message", json!(failure.message)),
                ("P-06", "/stats", json!({"time_ms": 1, "tool_calls": 0})),
                ("S0-37", "/context/params_input/subagent_type", json!("Explore")),
            ],
        );
        assert!(Envelope.is_error(Err(&failure)), "C-17");
    }
}

#[test]
fn p_07_unreadable_arguments_are_returned_as_text() {
    for arguments in ["{\"prompt\": ", "[1]", "", r#"{"a":1,"a":2}"#] {
        let failure = Envelope.decode(arguments).expect_err("refused");
        let value = Envelope.encode(&call(arguments), Err(&failure));
        check(
            &value,
            &[
                ("P-07, S0-37", "/context/params_input", json!(arguments)),
                ("K02", "/error/code", json!("INVALID_PARAM")),
            ],
        );
    }
}

#[test]
fn p_09_p_10_a_cut_result_is_partial_and_has_a_preview() {
    let value = encode(&truncated("one\ntwo\n[cut]"));
    check(
        &value,
        &[
            ("P-09", "/status", json!("partial")),
            ("P-10", "/data/truncated", json!(true)),
            ("P-10", "/data/truncation/direction", json!("head")),
            ("P-10", "/data/truncation/max_lines", json!(2000)),
            ("P-10", "/data/truncation/max_bytes", json!(51_200)),
            ("P-10", "/data/truncation/kept_lines", json!(3)),
            ("P-10", "/data/truncation/kept_bytes", json!(13)),
            ("P-10", "/data/truncation/full_output_path", json!("/state/reports/x.md")),
            ("P-10", "/data/preview", json!("one\ntwo\n[cut]")),
            ("P-10", "/data/result", Value::Null),
            ("S0-26", "/data/status", json!("completed")),
            ("S0-30", "/data/model_used", json!("light")),
            ("S0-31", "/data/subagent_type", json!("explore")),
        ],
    );
    let expected = "Subagent (explore, light) completed. Partial, because the result was truncated: data.preview has 3 \
                    lines. The result before the cut is kept for people in /state/reports/x.md. Use the preview, or try \
                    Task again for the part that is missing.";
    assert_eq!(value["text"], expected, "P-04");

    let both = TaskOutcome { status: Status::Partial, reason: Some(Limit::Turns), ..truncated("one") };
    check(&encode(&both), &[("C-23", "/data/status", json!("incomplete")), ("P-09", "/status", json!("partial"))]);
    let lost = TaskOutcome { full_text_path: None, ..truncated("one") };
    assert!(encode(&lost)["text"].as_str().expect("text").contains("could not be kept"), "P-10");
}

#[test]
fn p_13_another_route_than_the_intended_one_is_a_fallback() {
    let main = ModelChoice { route: "main".to_owned(), id: "m".to_owned() };
    let notice = "`light` is served by m (route main): no route `light` is set";
    let served = TaskOutcome { model: main, notices: vec![notice.to_owned()], ..completed("x") };
    let value = Envelope.encode(&call(ARGUMENTS), Ok(&served));
    check(
        &value,
        &[
            ("P-13", "/status", json!("partial")),
            ("P-13", "/data/fallback", json!("main")),
            ("S0-30", "/data/model_used", json!("main")),
            ("S0-27", "/data/result", json!("x")),
            ("S0-26", "/data/status", json!("completed")),
        ],
    );
    let text = value["text"].as_str().expect("text");
    assert!(text.contains("fallback") && text.contains(notice) && text.ends_with("\n\nx"), "P-13, P-04 {text}");
    let unasked = r#"{"description":"d","prompt":"p","subagent_type":"explore"}"#;
    check(
        &Envelope.encode(&call(unasked), Ok(&served)),
        &[
            ("P-13", "/status", json!("success")),
            ("P-13", "/data/fallback", json!(null)),
            ("S0-30", "/data/model_used", json!("main")),
        ],
    );
}

#[test]
fn p_13_an_agents_own_model_is_not_a_fallback() {
    let own = ModelChoice { route: "local".to_owned(), id: "m".to_owned() };
    let outcome = TaskOutcome { model: own, ..completed("x") };
    let unasked = r#"{"description":"d","prompt":"p","subagent_type":"explore"}"#;
    check(
        &Envelope.encode(&call(unasked), Ok(&outcome)),
        &[("P-13", "/status", json!("success")), ("S0-30", "/data/model_used", json!("local"))],
    );
}

#[test]
fn s0_30_s0_32_s0_35_p_13_without_any_route_the_built_in_model_is_named() {
    let offline = ModelChoice { route: "offline".to_owned(), id: "offline-rules".to_owned() };
    let of_type = |agent: &str| TaskOutcome { agent: agent.to_owned(), model: offline.clone(), ..completed("x") };
    let with = |fields: &str| format!(r#"{{"description":"d","prompt":"p",{fields}}}"#);
    for (agent, arguments, status) in [
        ("explore", with(r#""subagent_type":"explore""#), "success"),
        ("general-purpose", with(r#""subagent_type":"general""#), "success"),
        ("general-purpose", with(r#""subagent_type":"general","model":"light""#), "partial"),
        ("explore", with(r#""subagent_type":"explore","model":"main""#), "partial"),
    ] {
        let value = Envelope.encode(&call(&arguments), Ok(&of_type(agent)));
        check(
            &value,
            &[
                ("S0-30", "/data/model_used", json!("offline")),
                ("S0-35", "/stats/model", json!("offline")),
                ("P-13", "/status", json!(status)),
            ],
        );
        let text = value["text"].as_str().expect("text");
        assert!(text.contains(", offline) completed.") && text.ends_with("\n\nx"), "S0-32 {value:#}");
    }
}

#[test]
fn s0_37_the_arguments_keep_every_digit() {
    let arguments = "{\"description\": \"d\",\n \"prompt\":\"p q\",\"subagent_type\":\"explore\",\
                     \"budget\":12345678901234567890123, \"rate\":0.10, \"size\":1E2}";
    let told = Envelope.encode_for_model(&call(arguments), Ok(&completed("x")), "mark");
    let given = "\"params_input\":{\"description\":\"d\",\"prompt\":\"p q\",\"subagent_type\":\"explore\",\
                 \"budget\":12345678901234567890123,\"rate\":0.10,\"size\":1E2}";
    assert!(told.contains(given), "S0-37: {told}");
    assert_eq!(told, Envelope.encode_text(&call(arguments), Ok(&completed("x"))));
}

#[test]
fn c_23_a_limit_without_any_text_is_partial_too() {
    let value = encode(&failed(failure("limit_turns"), ""));
    check(
        &value,
        &[
            ("C-23", "/status", json!("partial")),
            ("C-23", "/data/status", json!("incomplete")),
            ("S0-28", "/data/tool_summary/1/count", json!(3)),
        ],
    );
}

#[test]
fn p_12_a_model_that_went_silent_is_reported_with_the_cause() {
    let value = encode(&failed(failure("stalled"), ""));
    let message = json!("timed out after 1234ms: what stalled means");
    check(&value, &[("P-12", "/error/code", json!("TIMEOUT")), ("S0-67", "/error/message", message)]);
}
