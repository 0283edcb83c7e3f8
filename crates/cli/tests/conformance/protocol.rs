//! The general protocol for tool results, P-01 to P-15, which binds the Task tool's result in `envelope` and which its
//! other tools follow.

mod tools;
mod truncation;

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedPart, ScriptedServer, reply, when};

use crate::s0::{answer, arguments, delegating, printed, run, run_with, task};
use crate::world::{DONE, Run, WIRES, World, main_agent_calls};

const CODES: [&str; 17] = [
    "NOT_FOUND",
    "ACCESS_DENIED",
    "PERMISSION_DENIED",
    "INVALID_PARAM",
    "TIMEOUT",
    "INTERNAL_ERROR",
    "EXECUTION_ERROR",
    "CONFLICT",
    "IS_DIRECTORY",
    "BINARY_FILE",
    "CIRCUIT_OPEN",
    "MCP_PARAM_ERROR",
    "MCP_PARSE_ERROR",
    "MCP_EXECUTION_ERROR",
    "MCP_NETWORK_ERROR",
    "MCP_TIMEOUT",
    "MCP_NOT_FOUND",
];

/// Returns the result after checking everything that the protocol says about every result.
pub(crate) fn conforming(result: Value) -> Value {
    let known = ["status", "data", "text", "error", "stats", "context"];
    let keys: Vec<&str> = result.as_object().unwrap().keys().map(String::as_str).collect();
    assert!(keys.iter().all(|key| known.contains(key)), "P-01: {result:#}");
    let status = result["status"].as_str().unwrap();
    assert!(["success", "partial", "error"].contains(&status), "P-02: {result:#}");
    let is_error = status == "error";
    let data = result["data"].as_object().unwrap_or_else(|| panic!("P-03: {result:#}"));
    assert_eq!(data.is_empty(), is_error, "P-03: {result:#}");
    check_text(&result, status);
    check_error(&result, is_error);
    check_figures(&result, is_error);
    assert!(data.get("truncated") != Some(&json!(true)) || status == "partial", "P-09: {result:#}");
    result
}

fn check_text(result: &Value, status: &str) {
    let text = result["text"].as_str().unwrap_or_default();
    assert!(!text.trim().is_empty(), "P-04: {result:#}");
    if status != "success" {
        let has_next_step = ["Use ", "Check ", "Try "].iter().any(|step| text.contains(step));
        assert!(has_next_step, "P-04, a next step: {result:#}");
    }
    if status == "partial" {
        let has_reason = text.contains("because") || text.contains("is incomplete: ");
        assert!(has_reason, "P-04, the reason: {result:#}");
    }
}

fn check_error(result: &Value, is_error: bool) {
    assert_eq!(result.get("error").is_some(), is_error, "P-05: {result:#}");
    if is_error {
        let error = result["error"].as_object().unwrap();
        assert_eq!(error.keys().collect::<Vec<_>>(), ["code", "message"], "P-05: {result:#}");
        assert!(!error["message"].as_str().unwrap().is_empty(), "P-05: {result:#}");
        assert!(CODES.contains(&error["code"].as_str().unwrap()), "P-08: {result:#}");
    }
}

fn check_figures(result: &Value, is_error: bool) {
    let stats = result["stats"].as_object().unwrap();
    let time = stats["time_ms"].as_f64().unwrap_or_else(|| panic!("P-06: {result:#}"));
    assert!(is_error || time >= 1.0, "P-06: {result:#}");
    assert!(stats.values().all(|value| value.is_number() || value.is_string()), "P-06: {result:#}");
    let context = &result["context"];
    let cwd = context["cwd"].as_str().unwrap_or_else(|| panic!("P-07: {result:#}"));
    assert!(!cwd.is_empty() && !cwd.starts_with('/'), "P-07: {result:#}");
    assert!(context.get("params_input").is_some(), "P-07: {result:#}");
}

/// Runs for every kind of ending, each with its required status and code.
fn endings() -> Vec<(Run, &'static str, Option<&'static str>)> {
    let call = || delegating(arguments("explore"));
    let under = |script: Script| run_with(&World::new(), "anthropic", script, &["--set", "llm.max_retries=0"]);
    let hurried = ["--set", "task_tool.default_timeout_seconds=1"];
    let loops = reply::calls([reply::call("LS", json!({}))]);
    vec![
        (under(call().otherwise(reply::text("FINAL"))), "success", None),
        (under(call().on(when::last_contains("limit"), reply::text("So far.")).otherwise(loops)), "partial", None),
        (under(call().otherwise(reply::text("line\n".repeat(3000)))), "partial", None),
        (under(delegating(arguments("wizard"))), "error", Some("INVALID_PARAM")),
        (under(main_agent_calls([raw("{")])), "error", Some("INVALID_PARAM")),
        (under(call().otherwise(reply::status(500))), "error", Some("INTERNAL_ERROR")),
        (run_with(&World::new(), "anthropic", call().otherwise(reply::never()), &hurried), "error", Some("TIMEOUT")),
    ]
}

fn raw(arguments: &str) -> ScriptedPart {
    reply::raw_call("Task", arguments)
}

#[test]
fn p_01_p_02_p_03_p_04_p_05_p_06_p_07_p_08_every_ending_follows_the_general_protocol() {
    for (run, status, code) in endings() {
        let result = answer(&run);
        assert_eq!(result["status"], status, "{result:#}");
        assert_eq!(result["error"]["code"].as_str(), code, "{result:#}");
        assert_eq!(run.ended.stdout, format!("{DONE}\n"), "the main agent continues");
    }
}

#[test]
fn p_01_p_03_p_05_p_07_printed_results_follow_it_too() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("FINAL"))).unwrap());
    for (arguments, status) in [
        (arguments("general").to_string(), "success"),
        (arguments("wizard").to_string(), "error"),
        ("[1]".to_owned(), "error"),
        ("not JSON".to_owned(), "error"),
    ] {
        let result = printed(&world, &server, &arguments);
        assert_eq!(result["status"], status);
        let given = serde_json::from_str(&arguments).ok().filter(Value::is_object).unwrap_or(json!(arguments));
        assert_eq!(result["context"], json!({"cwd": ".", "params_input": given}));
    }
}

#[test]
fn p_08_a_task_too_many_is_an_execution_error() {
    let calls = [task(arguments("general")), task(arguments("general"))];
    let script = main_agent_calls(calls).otherwise(reply::text("FINAL"));
    let run = run_with(&World::new(), "anthropic", script, &["--set", "task_tool.max_children=1"]);
    let mut codes: Vec<Value> = crate::s0::answers(&run).iter().map(|answer| answer["error"]["code"].clone()).collect();
    codes.sort_by_key(Value::is_string);
    assert_eq!(codes, [Value::Null, json!("EXECUTION_ERROR")]);
}

#[test]
fn p_12_no_answer_before_the_deadline_is_a_timeout_and_the_connection_is_closed() {
    for wire in WIRES {
        let script = delegating(arguments("general")).otherwise(reply::never());
        let flags = ["--set", "task_tool.default_timeout_seconds=1"];
        let run = run_with(&World::new(), wire, script, &flags);
        let result = answer(&run);
        assert_eq!(result["error"], json!({"code": "TIMEOUT", "message": "timed out after 1000ms"}));
        assert_eq!(run.ended.stdout, format!("{DONE}\n"), "the main agent continues");
        crate::program::wait_for(&run.server, |traffic| traffic.abandoned == 1 && traffic.open_connections == 0);
        assert_eq!(run.sub_agents().len(), 1, "and nothing more is asked");
    }
}

#[test]
fn p_12_a_model_that_goes_silent_or_sends_no_content_is_a_timeout() {
    for fault in [sortie_testkit::Fault::StallAfter(40), sortie_testkit::Fault::KeepAlivesOnly] {
        let script = delegating(arguments("general")).otherwise(reply::text("FINAL").fault(fault.clone()));
        let flags = ["--set", "llm.idle_timeout_seconds=1", "--set", "llm.max_retries=0"];
        let run = run_with(&World::new(), "anthropic", script, &flags);
        assert_eq!(answer(&run)["error"]["code"], "TIMEOUT", "{fault:?}");
        assert_eq!(run.ended.stdout, format!("{DONE}\n"), "the main agent continues");
    }
}

#[test]
fn p_13_a_missing_route_is_replaced_by_the_other_with_a_partial_result() {
    for wire in WIRES {
        let mut arguments = arguments("explore");
        arguments["model"] = json!("light");
        let script = delegating(arguments).otherwise(reply::text("FINAL"));
        let run = Run::of(&World::new(), "envelope", wire, script);
        let result = answer(&run);
        assert_eq!(result["status"], "partial");
        assert_eq!(result["data"]["fallback"], "main");
        assert_eq!(result["data"]["model_used"], "main");
        assert_eq!((&result["data"]["status"], &result["data"]["result"]), (&json!("completed"), &json!("FINAL")));
        let text = result["text"].as_str().unwrap();
        assert!(text.starts_with("Subagent (explore, main) completed. Partial, because a fallback served: "), "{text}");
        assert!(text.ends_with("\n\nFINAL"), "{text}");
    }
}

#[test]
fn s0_30_p_13_a_type_whose_own_route_is_missing_is_served_by_the_other_without_a_fallback() {
    for agent in ["explore", "summary"] {
        let run = Run::of(&World::new(), "envelope", "anthropic", {
            delegating(arguments(agent)).otherwise(reply::text("FINAL"))
        });
        let result = answer(&run);
        assert_eq!((&result["status"], &result["data"]["model_used"]), (&json!("success"), &json!("main")));
        assert_eq!(result["data"].get("fallback"), None);
        assert_eq!(result["text"], format!("Subagent ({agent}, main) completed.\n\nFINAL"));
    }
}

#[test]
fn s0_30_s0_35_p_13_without_routes_the_result_names_the_built_in_model() {
    let world = World::new();
    for (subagent_type, model, status) in
        [("explore", None, "success"), ("general", None, "success"), ("general", Some("light"), "partial")]
    {
        let mut arguments = arguments(subagent_type);
        arguments["prompt"] = json!("Where are authentication errors made?");
        if let Some(model) = model {
            arguments["model"] = json!(model);
        }
        let ended = world.sortie(["task", "--contract", "envelope", "--json", &arguments.to_string()]).run();
        let result = conforming(ended.stdout_json());
        assert_eq!(result["status"], status, "{result:#}");
        let offline = json!("offline");
        assert_eq!((&result["data"]["model_used"], &result["stats"]["model"]), (&offline, &offline));
        assert_eq!(result["data"].get("fallback"), model.map(|_| &offline), "{result:#}");
        assert!(result["data"]["result"].as_str().unwrap().contains("src/auth.rs"), "it read its tools: {result:#}");
    }
}

#[test]
fn s0_37_p_07_the_arguments_come_back_digit_by_digit() {
    let given = r#"{"description":"d","prompt":"p","subagent_type":"general","n":12345678901234567890123,"r":0.10}"#;
    let server = ScriptedServer::start(Script::always(reply::text("FINAL"))).unwrap();
    let world = World::new();
    let ended = world.sortie(["task", "--contract", "envelope", "--json", given]).on(&server, "anthropic").run();
    assert!(ended.stdout.contains(&format!(r#""params_input":{given}"#)), "{}", ended.stdout);
    let script = main_agent_calls([raw(given)]).otherwise(reply::text("FINAL"));
    let run = run(&world, "openai-chat", script);
    assert!(run.result().text.contains(&format!(r#""params_input":{given}"#)), "{:#?}", run.result());
}

#[test]
fn p_13_a_route_that_serves_as_requested_is_not_a_fallback() {
    let mut arguments = arguments("explore");
    arguments["model"] = json!("light");
    let run = run(&World::new(), "anthropic", delegating(arguments).otherwise(reply::text("FINAL")));
    let result = answer(&run);
    assert_eq!(result["status"], "success");
    assert_eq!(result["data"].get("fallback"), None);
}
