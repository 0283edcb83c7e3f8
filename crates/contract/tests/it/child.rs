//! The `child` contract, and its shorter form.

use serde_json::{Value, json};
use sortie_contract::{AgentLine, AtMaxDepth, Child, Contract, ReportCap, SystemPrompt, Visible};
use sortie_protocol::{Limit, Money, TaskOutcome, TaskRequest};

use crate::sample::{
    FAILURES, LIMITS, REJECTIONS, agents, call, cancelled, check_refused, completed, failed, failure, limited,
};

fn encode(outcome: &TaskOutcome) -> Value {
    Child::Session.encode(&call("{}"), Ok(outcome))
}

#[test]
fn s4_05_to_s4_08_the_tool_and_its_three_fields() {
    assert_eq!(Child::Session.tool_name(), "task", "S4-05");
    let expected = json!({
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "3-5 word task summary"},
            "prompt": {"type": "string", "description": "Self-contained task for sub-agent"},
            "subagent_type": {
                "type": "string", "enum": ["general-purpose", "explore", "plan"], "default": "general-purpose",
            },
        },
        "required": ["description", "prompt"],
    });
    assert_eq!(Child::Session.schema(&agents()), expected, "S4-06, S4-07, S4-08");
}

#[test]
fn s4_17_the_recipe_has_two_fields_and_other_names() {
    let expected = json!({
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "3-5 word description of the task"},
            "prompt": {"type": "string", "description": "Self-contained prompt for the sub-agent"},
        },
        "required": ["description", "prompt"],
    });
    assert_eq!(Child::Recipe.schema(&agents()), expected, "S4-17");
    let result = json!({"summary": "Found 8 files", "toolCalls": 4, "tokens": 1245});
    assert_eq!(Child::Recipe.encode(&call("{}"), Ok(&completed("Found 8 files"))), result, "S4-17");
    for (given, agent) in [("general", "general-purpose"), ("explore", "explore"), ("plan", "plan")] {
        let arguments = json!({"description": "d", "prompt": "p", "agentType": given}).to_string();
        assert_eq!(Child::Recipe.decode(&arguments).expect("a request").agent, agent, "S4-17");
    }
    let request = Child::Recipe.decode(r#"{"description":"d","prompt":"p"}"#).expect("a request");
    assert_eq!(request.agent, "general-purpose", "S4-17: the default is general");
    assert!(!Child::Recipe.description(&[]).contains("Agent types"), "S4-17");
}

#[test]
fn s4_17_the_recipes_errors_have_the_recipes_names() {
    let arguments = |agent: &str| json!({"description": "d", "prompt": "p", "agentType": agent}).to_string();
    check_refused(
        &Child::Recipe,
        &[
            (
                "S4-17",
                &arguments("summary"),
                "there is no `agentType` `summary`; it must be one of general, explore, plan",
            ),
            ("S4-17", &arguments(" "), "`agentType` is empty; it must be a non-empty string"),
        ],
    );
}

#[test]
fn s4_09_a_type_has_the_description_of_the_agent_that_serves() {
    let mine = AgentLine { name: "explore".to_owned(), description: "Looks where\nI say".to_owned() };
    let description = Child::Session.description(&[mine]);
    for listed in
        ["\n- general-purpose: any task\n", "\n- explore: Looks where I say\n", "\n- plan: breaks a task down"]
    {
        assert!(description.contains(listed), "S4-09: {description}");
    }
}

#[test]
fn s4_19_s4_20_the_description_teaches_how_to_brief() {
    let description = Child::Session.description(&[]);
    for (id, said) in [
        ("S4-01", "an agent with a clean context"),
        ("S4-02", "a compact summary"),
        ("S4-03", "none of its tool output reaches you"),
        ("S4-19", "must be self-contained"),
        ("S4-19", "file paths, names of variables and functions"),
        ("S4-19", "what it has to know of the project"),
        ("S4-19", "\"the file we just discussed\" or \"that variable\""),
        ("S4-20", "It costs tokens twice"),
        ("S4-20", "work that takes many tool calls"),
        ("S4-09", "\n- explore: searches and reads"),
        ("S4-09", "\n- plan: breaks a task down into steps"),
    ] {
        assert!(description.contains(said), "{id}: {said:?} in {description}");
    }
}

#[test]
fn s4_02_s4_12_s4_23_defaults_of_the_dialect() {
    for contract in [Child::Session, Child::Recipe] {
        let defaults = contract.defaults();
        assert_eq!(defaults.denied_tools, ["task", "todowrite", "spawn_agent", "create_todo"], "S4-12, S4-17");
        assert_eq!((defaults.max_depth, defaults.at_max_depth), (1, AtMaxDepth::Hidden), "S4-12, S4-23, C-10");
        assert_eq!(defaults.report_cap, ReportCap::JsonBytes(7600), "S4-02, C-11");
        assert_eq!((defaults.visible, defaults.system), (Visible::Types, SystemPrompt::Role), "S4-08, S4-09, C-21");
        let types: Vec<_> = defaults.types.iter().map(|known| (known.name, known.agent, known.tools)).collect();
        let general = if contract == Child::Recipe { "general" } else { "general-purpose" };
        let plain = |name| (name, name, None);
        assert_eq!(types, [(general, "general-purpose", None), plain("explore"), plain("plan")], "S4-08, S4-17");
    }
}

#[test]
fn s4_06_to_s4_08_a_call_is_decoded() {
    for (given, agent) in [
        (json!({}), "general-purpose"),
        (json!({"subagent_type": null}), "general-purpose"),
        (json!({"subagent_type": "general-purpose"}), "general-purpose"),
        (json!({"subagent_type": "general"}), "general-purpose"),
        (json!({"subagent_type": "Explore"}), "explore"),
        (json!({"subagent_type": "plan"}), "plan"),
    ] {
        let mut arguments = json!({"description": "Search X usages", "prompt": " Find\nall ", "agentType": "x"});
        arguments.as_object_mut().expect("an object").extend(given.as_object().expect("an object").clone());
        let expected = TaskRequest {
            title: "Search X usages".to_owned(),
            prompt: " Find\nall ".to_owned(),
            agent: agent.to_owned(),
            agent_is_usual: given.get("subagent_type").is_none_or(Value::is_null),
            notices: vec!["unknown key `agentType` was ignored".to_owned()],
            ..TaskRequest::default()
        };
        assert_eq!(Child::Session.decode(&arguments.to_string()), Ok(expected), "S4-08, S4-14, C-03, C-04, C-18");
    }
}

#[test]
fn s4_06_to_s4_08_wrong_calls_are_refused() {
    check_refused(
        &Child::Session,
        &[
            ("S4-06", r#"{"prompt":"p"}"#, "`description` is missing; it must be a non-empty string"),
            ("S4-06", r#"{"description":" ","prompt":"p"}"#, "`description` is empty; it must be a non-empty string"),
            ("S4-07", r#"{"description":"d"}"#, "`prompt` is missing; it must be a non-empty string"),
            ("S4-07", r#"{"description":"d","prompt":null}"#, "`prompt` is missing; it must be a non-empty string"),
            ("S4-07", r#"{"description":"d","prompt":false}"#, "`prompt` must be a non-empty string, not a boolean"),
            (
                "S4-08",
                r#"{"description":"d","prompt":"p","subagent_type":"summary"}"#,
                "there is no `subagent_type` `summary`; it must be one of general-purpose, explore, plan",
            ),
            (
                "S4-08",
                r#"{"description":"d","prompt":"p","subagent_type":1}"#,
                "`subagent_type` must be a non-empty string, not a number",
            ),
            ("K02", "7", "the arguments must be a JSON object, not a number"),
        ],
    );
}

#[test]
fn s4_15_s4_16_s4_27_a_completed_task() {
    let mut outcome = completed("Found 8 files");
    outcome.usage.tool_calls = 99;
    let expected = json!({"summary": "Found 8 files", "toolCalls": 4, "tokensUsed": 1245});
    assert_eq!(encode(&outcome), expected, "S4-15, S4-16, S4-27: its own calls, and no cost without prices");
    assert!(!Child::Session.is_error(Ok(&outcome)));
}

#[test]
fn s4_16_the_cost_is_given_only_if_all_of_it_is_known() {
    let mut outcome = completed("Found 8 files");
    outcome.usage.cost = Money::from_nanos(12_500_000);
    outcome.usage.priced_tokens = outcome.usage.total_tokens();
    let cost = |contract: Child, outcome: &TaskOutcome| {
        contract.encode(&call("{}"), Ok(outcome)).get("cost").and_then(Value::as_f64)
    };
    assert_eq!(cost(Child::Session, &outcome), Some(0.0125));
    assert_eq!(cost(Child::Recipe, &outcome), None, "S4-17: it has the keys of the design and no others");
    outcome.usage.priced_tokens -= 1;
    assert_eq!(cost(Child::Session, &outcome), None, "an incomplete sum is no cost");
}

#[test]
fn c_23_a_limit_is_reported_before_the_summary() {
    for (outcome, why) in [
        (limited(Limit::Turns, "half"), "the turn limit was reached before the work was done"),
        (limited(Limit::Deadline, "half"), "timed out after 300000ms"),
        (limited(Limit::Stalled, "half"), "timed out after 1234ms"),
    ] {
        let expected = json!({
            "summary": format!("[Incomplete: {why}]\n\nhalf"), "toolCalls": 4, "tokensUsed": 1245, "error": why,
        });
        assert_eq!(encode(&outcome), expected, "C-23, S4-15");
    }
    assert!(LIMITS.into_iter().all(|limit| !Child::Session.is_error(Ok(&limited(limit, "half")))), "C-17");
}

#[test]
fn s4_15_a_failure_has_the_text_so_far_and_an_error() {
    for code in FAILURES.into_iter().filter(|code| !["timeout", "stalled"].contains(code)) {
        for text in ["", "half"] {
            let outcome = failed(failure(code), text);
            let error = format!("what {code} means");
            let expected = json!({"summary": text, "toolCalls": 4, "tokensUsed": 1245, "error": error});
            assert_eq!(encode(&outcome), expected, "S4-15");
            assert!(Child::Session.is_error(Ok(&outcome)), "C-17");
        }
    }
    let expected =
        json!({"summary": "half", "toolCalls": 4, "tokensUsed": 1245, "error": "cancelled before it was done"});
    assert_eq!(encode(&cancelled("half")), expected, "S4-15");
}

#[test]
fn s4_08_a_rejected_call_has_only_an_error() {
    for code in REJECTIONS {
        let error = if code == "depth" { "maximum sub-agent depth exceeded" } else { &format!("what {code} means") };
        let value = Child::Session.encode(&call("{}"), Err(&failure(code)));
        assert_eq!(value, json!({"error": error}), "S4-08");
        assert!(Child::Session.is_error(Err(&failure(code))), "C-17");
    }
}

#[test]
fn s4_02_a_summary_at_its_bound_is_whole_and_its_result_within_two_thousand_tokens() {
    for text in ["\"\n".repeat(1900), "\u{1}".repeat(1266), "a".repeat(7600), "ä".repeat(3800)] {
        for outcome in [completed(&text), limited(Limit::Turns, &text)] {
            let value = encode(&outcome);
            assert!(value["summary"].as_str().expect("text").ends_with(&text), "nothing is cut a second time");
            assert!(value.to_string().len() <= 8000, "{} bytes", value.to_string().len());
        }
    }
}
