//! The `typed` contract.

use serde_json::{Value, json};
use sortie_contract::{AgentLine, AtMaxDepth, Contract, ReportCap, SystemPrompt, Typed, Visible};
use sortie_protocol::{Failure, FailureCode, Launched, Limit, Limits, TaskOutcome, TaskRequest};

use crate::sample::{
    FAILURES, LIMITS, REJECTIONS, SPARE_ID, agents, call, cancelled, check, check_refused, completed, failed, failure,
    launched, limited,
};

const AGENT_ID: &str = "agent-aaaaaaaaaaaa";

fn encode(outcome: &TaskOutcome) -> Value {
    Typed.encode(&call("{}"), Ok(outcome))
}

fn arguments(name: &str, value: Value) -> String {
    let mut arguments = json!({"description": "d", "prompt": "p", "subagent_type": "Plan"});
    arguments[name] = value;
    arguments.to_string()
}

#[test]
fn s3_02_to_s3_08_the_tool_and_its_seven_fields() {
    assert_eq!(Typed.tool_name(), "Task", "S3-02");
    check(
        &Typed.schema(&[]),
        &[
            ("S3-02", "/properties/description/type", json!("string")),
            ("S3-02", "/properties/description/minLength", json!(1)),
            ("S3-03", "/properties/prompt/type", json!("string")),
            ("S3-03", "/properties/prompt/minLength", json!(1)),
            ("S3-04", "/properties/subagent_type/enum", json!(["Explore", "Plan", "Bash", "general-purpose"])),
            ("S3-05", "/properties/model/enum", json!(["haiku", "sonnet", "opus"])),
            ("S3-06", "/properties/run_in_background/type", json!("boolean")),
            ("S3-07", "/properties/resume/type", json!("string")),
            ("S3-08", "/properties/max_turns/type", json!("number")),
            ("S3-08", "/properties/max_turns/exclusiveMinimum", json!(0)),
            ("C-03", "/required", json!(["description", "prompt", "subagent_type"])),
        ],
    );
}

#[test]
fn s3_43_agents_from_files_widen_the_types() {
    let mut lines = agents();
    lines.extend(agents());
    let expected = json!(["Explore", "Plan", "Bash", "general-purpose", "code-reviewer"]);
    check(&Typed.schema(&lines), &[("S3-43", "/properties/subagent_type/enum", expected)]);
    let description = Typed.description(&lines);
    let listed = "- general-purpose: any work\n- code-reviewer: Reviews code. Thoroughly.\n\nGuidelines:";
    assert!(description.contains(listed), "S3-43 {description}");
}

#[test]
fn s3_43_a_type_has_the_description_of_the_agent_that_serves() {
    let line = |name: &str, description: &str| AgentLine { name: name.to_owned(), description: description.to_owned() };
    let lines = [line("Explore", "Looks where I say"), line("general", "Does what no other does")];
    let description = Typed.description(&lines);
    for listed in [
        "\n- Explore: Looks where I say\n- Plan: Architecture design and planning\n",
        "\n- general-purpose: Full capabilities\n- general: Does what no other does\n",
    ] {
        assert!(description.contains(listed), "S3-43 {description}");
    }
    let types = json!(["Explore", "Plan", "Bash", "general-purpose", "general"]);
    check(&Typed.schema(&lines), &[("S3-43", "/properties/subagent_type/enum", types)]);
}

#[test]
fn s3_43_agents_without_room_for_their_descriptions_are_in_the_schema_by_name() {
    let line = |name: &str, description: &str| AgentLine { name: name.to_owned(), description: description.to_owned() };
    let lines = [line("poet", "Writes verse"), line("wit", ""), line("sage", "")];
    let description = Typed.description(&lines);
    let listed = "\n- poet: Writes verse\nand 2 more, which `subagent_type` lists by name alone\n";
    assert!(description.contains(listed) && !description.contains("sage"), "S3-43 {description}");
    let types = json!(["Explore", "Plan", "Bash", "general-purpose", "poet", "wit", "sage"]);
    check(&Typed.schema(&lines), &[("S3-43", "/properties/subagent_type/enum", types)]);
    let description = sortie_contract::ToolResult.description(&lines);
    assert!(description.ends_with("\n- poet: Writes verse\nand, by name alone: wit, sage"), "{description}");
}

#[test]
fn s3_12_the_description_has_the_types_and_the_guidelines() {
    let expected = "Launch a specialized subagent for complex tasks.

Available agent types:
- Explore: Fast codebase exploration (read-only)
- Plan: Architecture design and planning
- Bash: Command execution specialist
- general-purpose: Full capabilities

Guidelines:
- Use Explore for searching/understanding code
- Use Plan for designing implementation approaches
- Use Bash for running commands
- Include 3-5 word description
- Provide detailed prompt with context
- Use haiku for simple, sonnet for complex tasks
- Launch multiple agents in parallel when possible
";
    assert_eq!(Typed.description(&[]), expected, "S3-12");
}

#[test]
fn s3_11_s3_15_to_s3_21_s3_27_defaults_of_the_dialect() {
    let defaults = Typed.defaults();
    let read = ["Read", "Glob", "Grep", "LS", "WebFetch"];
    let plan = ["Read", "Glob", "Grep", "LS", "WebFetch", "TodoWrite"];
    let cap = Some(ReportCap::Characters(1000));
    let types: Vec<_> = defaults
        .types
        .iter()
        .map(|known| (known.agent, known.name, known.tools, known.model, known.max_turns, known.report_cap))
        .collect();
    let expected = [
        ("explore", "Explore", Some(&read[..]), Some("haiku"), Some(10), cap),
        ("plan", "Plan", Some(&plan[..]), Some("sonnet"), Some(5), None),
        ("bash", "Bash", Some(&["Bash", "BashOutput", "KillShell"][..]), Some("haiku"), Some(20), None),
        ("general-purpose", "general-purpose", None, Some("sonnet"), Some(20), None),
    ];
    assert_eq!(types, expected, "S3-11, S3-15, S3-16, S3-17, S3-18, S3-19, S3-21, S3-27, C-22");
    assert_eq!(defaults.report_cap, ReportCap::Characters(2000), "S3-27");
    assert_eq!((defaults.max_depth, defaults.at_max_depth), (1, AtMaxDepth::Hidden), "C-10");
    assert_eq!((defaults.visible, defaults.system), (Visible::TypesAndFiles, SystemPrompt::Role), "S3-43, C-21");
    assert_eq!((defaults.max_turns, defaults.max_concurrent), (20, 20), "S3-21, S3-42, C-15");
    assert_eq!(defaults.max_turns_asked, Some(100), "S3-08: a call may ask for more than is usual");
}

#[test]
fn s3_02_to_s3_08_a_call_is_decoded() {
    let full = json!({
        "description": "d", "prompt": " p ", "subagent_type": "Explore", "model": "opus", "max_turns": 2,
        "run_in_background": false, "resume": "agent-aaaaaaaaaaaa", "colour": "red",
    });
    let expected = TaskRequest {
        title: "d".to_owned(),
        prompt: " p ".to_owned(),
        agent: "Explore".to_owned(),
        agent_is_usual: false,
        model: Some("opus".to_owned()),
        background: false,
        resume: Some("agent-aaaaaaaaaaaa".to_owned()),
        limits: Limits { max_turns: Some(2), ..Limits::default() },
        output_schema: None,
        fork: None,
        context_files: None,
        lent_model: None,
        levels: None,
        reads_only: false,
        notices: vec!["unknown key `colour` was ignored".to_owned()],
    };
    assert_eq!(Typed.decode(&full.to_string()), Ok(expected), "S3-02, S3-03, S3-05, S3-07, S3-08, S3-20, C-18");
    for given in ["Plan", "BASH", "General", "code-reviewer", "Nobody"] {
        let request = Typed.decode(&arguments("subagent_type", json!(given))).expect("a request");
        assert_eq!(request.agent, given, "S3-04, S3-43, C-04: the owner of the name is not known here");
    }
    for (given, background) in [(json!(true), true), (json!(false), false), (Value::Null, false)] {
        let request = Typed.decode(&arguments("run_in_background", given)).expect("a request");
        assert_eq!(request.background, background, "S3-06");
    }
    for nothing in [json!(""), Value::Null] {
        assert_eq!(Typed.decode(&arguments("resume", nothing)).expect("a request").resume, None, "S3-07");
    }
    for (given, turns) in [(json!(2.5), 3), (json!(0.1), 1), (json!(1e300), u32::MAX)] {
        let request = Typed.decode(&arguments("max_turns", given)).expect("a request");
        assert_eq!(request.limits.max_turns, Some(turns), "S3-08");
    }
}

#[test]
fn s3_02_to_s3_08_wrong_calls_are_refused() {
    for (id, name, value, message) in [
        ("S3-02", "description", json!(""), "`description` is empty; it must be a non-empty string"),
        ("S3-02", "description", json!(" "), "`description` is empty; it must be a non-empty string"),
        ("S3-02", "description", json!(1), "`description` must be a non-empty string, not a number"),
        ("S3-03", "prompt", json!(""), "`prompt` is empty; it must be a non-empty string"),
        ("S3-03", "prompt", Value::Null, "`prompt` is missing; it must be a non-empty string"),
        ("S3-04", "subagent_type", Value::Null, "`subagent_type` is missing; it must be a non-empty string"),
        ("S3-04", "subagent_type", json!([]), "`subagent_type` must be a non-empty string, not an array"),
        ("S3-05", "model", json!("gpt"), "`model` must be one of haiku, sonnet, opus, not `gpt`"),
        ("S3-05", "model", json!("Opus"), "`model` must be one of haiku, sonnet, opus, not `Opus`"),
        ("S3-06", "run_in_background", json!("yes"), "`run_in_background` must be true or false, not a string"),
        ("S3-07", "resume", json!(7), "`resume` must be a non-empty string, not a number"),
        ("S3-08", "max_turns", json!(0), "`max_turns` must be a positive number, not 0"),
        ("S3-08", "max_turns", json!(-1), "`max_turns` must be a positive number, not -1"),
        ("S3-08", "max_turns", json!("2"), "`max_turns` must be a positive number, not \"2\""),
    ] {
        check_refused(&Typed, &[(id, &arguments(name, value), message)]);
    }
}

#[test]
fn s3_09_s3_10_a_completed_task() {
    let expected = json!({"success": true, "result": "Found 3 files", "agentId": AGENT_ID});
    assert_eq!(encode(&completed("Found 3 files")), expected, "S3-09, S3-10");
    assert!(!Typed.is_error(Ok(&completed("x"))));
}

#[test]
fn a_call_rejected_by_a_hook_has_the_id_that_the_hook_saw() {
    let told = "agent-hhhhhhhhhhhh";
    let id = |failure: Failure| Typed.encode(&call("{}"), Err(&failure))["agentId"].clone();
    assert_eq!(id(Failure::new(FailureCode::Vetoed, "not on Sundays").about([told])), told);
    assert_ne!(id(Failure::new(FailureCode::UnknownAgent, "nobody").about([told])), told);
}

#[test]
fn only_a_start_rejected_by_a_hook_says_that_its_id_belongs_to_nobody() {
    let vetoed = Failure::new(FailureCode::Vetoed, "not on Sundays").about([AGENT_ID]);
    let error = |arguments: &str| Typed.encode(&call(arguments), Err(&vetoed))["error"].clone();
    let background = arguments("run_in_background", json!(true));
    assert_eq!(error(&background), "not on Sundays; nothing was started: this agentId belongs to no task");
    assert_eq!(error(&arguments("resume", json!(AGENT_ID))), "Resume failed: not on Sundays");
}

#[test]
fn s3_14_s3_32_a_task_in_the_background_is_an_id_and_an_output_file() {
    let result = "Not finished: it continues in the background, and its report follows when it ends.";
    let mut expected = json!({
        "success": true, "result": format!("{result} The output file is for people."), "agentId": AGENT_ID,
        "outputFile": "/state/reports/x-output.log"
    });
    assert_eq!(Typed.encode_launched(&launched()), expected, "S3-14, S3-32");
    assert_eq!(Typed.encode_launched_for_model(&launched()), expected.to_string());
    let without_file = Launched { output_file: None, ..launched() };
    expected.as_object_mut().unwrap().remove("outputFile");
    expected["result"] = json!(result);
    assert_eq!(Typed.encode_launched(&without_file), expected);
}

#[test]
fn s3_41_a_task_that_cannot_be_resumed_says_so() {
    let failure = Failure::new(FailureCode::NoSuchTask, "there is no task `agent-nobody`");
    let arguments = arguments("resume", json!("agent-nobody"));
    let error = "Resume failed: there is no task `agent-nobody`";
    let expected = json!({"success": false, "agentId": SPARE_ID, "error": error});
    assert_eq!(Typed.encode(&call(&arguments), Err(&failure)), expected, "S3-41");
}

#[test]
fn s3_09_c_23_an_unfinished_task_keeps_its_text_and_id() {
    let mut ended: Vec<TaskOutcome> = LIMITS.into_iter().map(|limit| limited(limit, "half")).collect();
    ended.extend(FAILURES.map(|code| failed(failure(code), "half")));
    ended.extend([limited(Limit::Deadline, "half"), limited(Limit::Stalled, "half"), cancelled("half")]);
    for outcome in ended {
        let value = encode(&outcome);
        check(
            &value,
            &[
                ("C-23", "/success", json!(false)),
                ("C-23", "/result", json!("half")),
                ("S3-09", "/agentId", json!(AGENT_ID)),
            ],
        );
        assert!(value["error"].is_string(), "S3-09");
        assert!(Typed.is_error(Ok(&outcome)), "C-17");
    }
    let expected = json!({"success": false, "agentId": AGENT_ID, "error": "what model_auth means"});
    assert_eq!(encode(&failed(failure("model_auth"), "")), expected, "S3-09: no text, no result");
    check(&encode(&limited(Limit::Deadline, "x")), &[("C-16", "/error", json!("timed out after 300000ms"))]);
}

#[test]
fn s3_09_a_rejected_call_has_an_id_too() {
    for code in REJECTIONS {
        let failure = failure(code);
        let known = "available: Bash, code-reviewer, Explore, general-purpose, Plan";
        let error = match code {
            "unknown_agent" => format!("there is no `subagent_type` `wizard`; {known}"),
            "unusable_agent" => format!("what {code} means; {known}"),
            "vetoed" => format!("what {code} means; nothing was started: this agentId belongs to no task"),
            _ => format!("what {code} means"),
        };
        let expected = json!({"success": false, "agentId": SPARE_ID, "error": error});
        assert_eq!(Typed.encode(&call(r#"{"subagent_type":"wizard"}"#), Err(&failure)), expected, "S3-09, S3-04");
        assert!(Typed.is_error(Err(&failure)), "C-17");
    }
}

#[test]
fn s3_04_an_agent_whose_file_is_broken_is_rejected_with_the_place_and_the_reason() {
    let broken =
        Failure::new(FailureCode::UnusableAgent, "agent `poet` cannot be used: poet.md:4: error: unknown key `modle`");
    let value = Typed.encode(&call(r#"{"subagent_type":"poet"}"#), Err(&broken.about(["explore", "general"])));
    let error = "agent `poet` cannot be used: poet.md:4: error: unknown key `modle`; available: Explore, general";
    assert_eq!(value, json!({"success": false, "agentId": SPARE_ID, "error": error}), "S3-04, S3-43");
}

#[test]
fn s3_08_a_lowered_turn_limit_is_reported_if_the_turns_run_out() {
    let fewer = "30 turns were asked for; `poet` has 2".to_owned();
    let notices = vec!["unknown key `colour` was ignored".to_owned(), fewer];
    let outcome = TaskOutcome { notices: notices.clone(), ..limited(Limit::Turns, "half") };
    let error = "the turn limit was reached before the work was done: 30 turns were asked for; `poet` has 2";
    check(&encode(&outcome), &[("S3-08", "/error", json!(error))]);
    let absurd = Typed.encode(&call(r#"{"max_turns":1e30}"#), Ok(&outcome));
    let error = "the turn limit was reached before the work was done: 1e+30 turns were asked for; `poet` has 2";
    check(&absurd, &[("S3-08", "/error", json!(error))]);
    let outcome = TaskOutcome { notices, ..limited(Limit::Tokens, "half") };
    check(&encode(&outcome), &[("S3-08", "/error", json!("the token limit was reached before the work was done"))]);
}

#[test]
fn s3_13_a_task_is_running_completed_or_an_error() {
    for (ours, word) in [
        ("running", "running"),
        ("completed", "completed"),
        ("failed", "error"),
        ("partial", "error"),
        ("cancelled", "error"),
        ("interrupted", "error"),
    ] {
        assert_eq!(Typed.status_word(ours), word, "S3-13");
    }
}
