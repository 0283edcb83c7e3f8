//! Flow and errors: S0-59, S0-64 to S0-67, and results after a limit.

use serde_json::{Value, json};
use sortie_testkit::{Fault, Script, ScriptedReply, ScriptedServer, reply, when};

use super::errand::{answer, arguments, delegating, notices, printed, run, run_with};
use crate::world::{DONE, WIRES, World, main_agent_calls};

/// Arguments without one field, and with wrong values for it.
fn wrong(field: &str) -> Vec<Value> {
    let mut without = arguments("general");
    without.as_object_mut().unwrap().remove(field);
    let values = [Value::Null, json!(7), json!(""), json!("  \n"), json!(["x"]), json!({"text": "x"}), json!(true)];
    let with = |value: Value| {
        let mut arguments = arguments("general");
        arguments[field] = value;
        arguments
    };
    values.into_iter().map(with).chain([without]).collect()
}

/// Result for a call with these arguments, which must start nothing.
fn refused(wire: &str, arguments: &str) -> Value {
    let run = run(&World::new(), wire, main_agent_calls([reply::raw_call("Task", arguments)]));
    assert!(run.sub_agents().is_empty(), "{arguments}");
    assert_eq!(run.ended.stdout, format!("{DONE}\n"), "the main agent continues: {:#?}", run.ended);
    answer(&run)
}

fn check_wrong(field: &str) {
    for (wire, arguments) in WIRES.into_iter().cycle().zip(wrong(field)) {
        let error = refused(wire, &arguments.to_string())["error"].clone();
        assert_eq!(error["code"], "INVALID_PARAM", "{arguments}");
        assert!(error["message"].as_str().unwrap().contains(&format!("`{field}`")), "{arguments}: {error}");
    }
}

#[test]
fn s0_64_a_description_that_is_missing_or_wrong_is_an_invalid_parameter() {
    check_wrong("description");
}

#[test]
fn s0_65_a_prompt_that_is_missing_or_wrong_is_an_invalid_parameter() {
    check_wrong("prompt");
}

#[test]
fn s0_66_a_type_that_is_missing_or_wrong_is_an_invalid_parameter() {
    check_wrong("subagent_type");
}

#[test]
fn s0_59_invalid_input_starts_and_stores_nothing() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::new()).unwrap());
    let mut inputs: Vec<String> =
        ["", "{", "[1]", "null", "\"text\"", r#"{"prompt":"a","prompt":"b"}"#].map(str::to_owned).into();
    inputs.extend(["description", "prompt", "subagent_type"].iter().map(|field| wrong(field)[0].to_string()));
    let mut bad_model = arguments("general");
    bad_model["model"] = json!("gpt-x");
    inputs.push(bad_model.to_string());
    for input in inputs {
        assert_eq!(printed(&world, &server, &input)["error"]["code"], "INVALID_PARAM", "{input}");
    }
    assert_eq!(server.requests().len(), 0);
    assert!(world.kept_nothing());
}

#[test]
fn s0_59_an_unknown_key_is_reported_but_not_an_error() {
    let mut arguments = arguments("general");
    arguments["colour"] = json!("red");
    let script = delegating(arguments).otherwise(reply::text("FINAL"));
    let run = run_with(&World::new(), "anthropic", script, &["--output-format", "stream-json"]);
    assert_eq!(answer(&run)["status"], "success");
    assert_eq!(notices(&run), ["unknown key `colour` was ignored"]);
}

#[test]
fn s0_67_a_sub_agents_model_that_fails_for_good_is_an_internal_error_with_its_cause() {
    let cut = reply::text("CUT-OFF ".repeat(50)).fault(Fault::CutAfter(300));
    let faults: [(ScriptedReply, &str); 6] = [
        (reply::status(401), "401"),
        (reply::status(400), "400"),
        (reply::status(500), "500"),
        (cut, ""),
        (reply::text("x".repeat(200)).fault(Fault::Garbage), ""),
        (reply::text("").fault(Fault::Empty), ""),
    ];
    for (wire, (fault, cause)) in WIRES.into_iter().cycle().zip(faults) {
        let script = delegating(arguments("general")).otherwise(fault.clone());
        let flags = ["--set", "llm.max_retries=1", "--set", "llm.retry_base_ms=1"];
        let run = run_with(&World::new(), wire, script, &flags);
        let answer = answer(&run);
        assert_eq!(
            (&answer["status"], &answer["error"]["code"]),
            (&json!("error"), &json!("INTERNAL_ERROR")),
            "{fault:?}"
        );
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(!message.is_empty() && message.contains(cause), "{cause}: {message}");
        assert!(answer["text"].as_str().unwrap().contains(message.trim_end_matches('.')), "{answer:#}");
        assert_eq!((run.ended.code, run.ended.stdout.as_str()), (0, &*format!("{DONE}\n")), "the main agent continues");
    }
}

#[test]
fn s0_67_a_passing_failure_is_retried_and_is_not_an_error() {
    let script = delegating(arguments("general"))
        .once(when::any(), reply::fault(Fault::rate_limited("0")))
        .once(when::any(), reply::status(500))
        .otherwise(reply::text("FINAL"));
    let run = run_with(&World::new(), "anthropic", script, &["--set", "llm.retry_base_ms=1"]);
    assert_eq!(run.sub_agents().len(), 3);
    let answer = answer(&run);
    assert_eq!((&answer["status"], &answer["data"]["result"]), (&json!("success"), &json!("FINAL")));
}

#[test]
fn s0_67_a_sub_agent_that_ends_without_text_has_not_succeeded() {
    for (wire, last) in WIRES.into_iter().zip(["", " \n"]) {
        let script = delegating(arguments("general"))
            .on(when::turn(0), reply::text("working").calls([reply::call("LS", json!({}))]))
            .otherwise(reply::text(last));
        let answer = answer(&run(&World::new(), wire, script));
        assert_eq!((&answer["status"], &answer["error"]["code"]), (&json!("error"), &json!("INTERNAL_ERROR")));
    }
}

#[test]
fn s0_25_s0_26_a_sub_agent_that_never_ends_by_itself_is_partial_and_incomplete() {
    for wire in WIRES {
        let script = delegating(arguments("explore"))
            .on(when::last_contains("limit"), reply::text("What I have so far."))
            .otherwise(reply::calls([reply::call("LS", json!({}))]));
        let run = run(&World::new(), wire, script);
        let answer = answer(&run);
        assert_eq!((&answer["status"], &answer["data"]["status"]), (&json!("partial"), &json!("incomplete")));
        assert_eq!(answer["data"]["result"], "What I have so far.");
        assert_eq!(answer["stats"]["tool_calls"], 30);
        assert_eq!(run.sub_agents().len(), 31, "thirty turns and the report");
        assert_eq!(run.ended.stdout, format!("{DONE}\n"));
    }
}

#[test]
fn s0_66_an_unusable_route_is_not_a_parameter_error() {
    let server = ScriptedServer::start(Script::always(reply::text("FINAL"))).unwrap();
    let (world, arguments) = (World::new(), arguments("summary").to_string());
    // A light route without a key.
    let task = world.sortie(["task", "--contract", "envelope", "--json", &arguments]).on(&server, "anthropic");
    let task = task.env("LIGHT_LLM_MODEL_ID", "small").env("LIGHT_LLM_BASE_URL", "https://api.anthropic.com");
    let task = task.env("LIGHT_LLM_WIRE", "anthropic").without_env("LIGHT_LLM_API_KEY");
    let answer = crate::protocol::conforming(task.run().stdout_json());
    assert_eq!(answer["error"]["code"], "INTERNAL_ERROR", "{answer:#}");
    assert_eq!(server.requests().len(), 0);
}
