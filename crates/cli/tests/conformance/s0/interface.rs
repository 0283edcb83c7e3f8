//! Input and output: S0-21 to S0-38.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use super::errand::{CHILD, answer, arguments, delegating, printed, run};
use crate::protocol::conforming;
use crate::world::{WIRES, World};

#[test]
fn s0_21_s0_22_s0_23_s0_24_the_schema_has_the_four_fields() {
    let world = World::new();
    let schema = world.sortie(["schema", "--contract", "envelope"]).run().stdout_json();
    let fields = &schema["properties"];
    assert_eq!(schema["type"], "object");
    for (id, field) in [("S0-21", "description"), ("S0-22", "prompt"), ("S0-23", "subagent_type"), ("S0-24", "model")] {
        assert_eq!(fields[field]["type"], "string", "{id}");
    }
    assert_eq!(fields["subagent_type"]["enum"], json!(["general", "explore", "summary", "plan"]), "S0-23");
    assert_eq!(fields["model"]["enum"], json!(["main", "light"]), "S0-24");
    assert_eq!(fields.as_object().unwrap().len(), 4);
    assert_eq!(schema["required"], json!(["description", "prompt", "subagent_type"]));
    for wire in WIRES {
        let run = run(&world, wire, Script::always(reply::text("ok")));
        assert_eq!(run.main_agent()[0].tool("Task").schema, schema, "as the model reads it");
    }
}

/// Sub-agent that reads three files and searches once, with some text on the way.
fn working(script: Script) -> Script {
    let read = |path: &str| reply::call("Read", json!({"file_path": path}));
    script
        .on(
            when::turn(0),
            reply::text("working").calls([read("src/auth.rs"), read("src/main.rs"), read("src/auth.rs")]),
        )
        .on(when::turn(1), reply::calls([reply::call("Grep", json!({"pattern": "AuthError"}))]))
        .otherwise(reply::text("FINAL"))
}

/// Counts of a summary, in its order.
fn counts(answer: &Value) -> Vec<(&str, u64)> {
    let tools = answer["data"]["tool_summary"].as_array().unwrap();
    tools.iter().map(|used| (used["tool"].as_str().unwrap(), used["count"].as_u64().unwrap())).collect()
}

#[test]
fn s0_25_s0_26_s0_27_s0_30_s0_31_s0_32_s0_34_s0_35_s0_36_s0_37_a_success_says_all_of_it() {
    for wire in WIRES {
        let run = run(&World::new(), wire, working(delegating(arguments("Explore"))));
        let mut answer = answer(&run);
        assert_eq!(counts(&answer), [("Read", 3), ("Grep", 1)], "in order of first use");
        answer["data"].as_object_mut().unwrap().remove("tool_summary");
        answer["stats"].as_object_mut().unwrap().remove("time_ms");
        let expected = json!({
            "status": "success",
            "data": {"status": "completed", "result": "FINAL", "model_used": "light", "subagent_type": "explore"},
            "text": "Subagent (explore, light) completed.\n\nFINAL",
            "stats": {"tool_calls": 4, "model": "light"},
            "context": {
                "cwd": ".",
                "params_input": {"description": "Find it", "prompt": CHILD, "subagent_type": "Explore"},
            },
        });
        assert_eq!(answer, expected);
        assert!(run.sub_agents().iter().all(|heard| heard.model == "light-model"), "S0-30: really used");
    }
}

#[test]
fn s0_28_s0_29_s0_34_tools_are_summed_up_by_name_without_the_refused_calls() {
    let refused = ["Task", "Write", "read"].map(|tool| reply::call(tool, json!({})));
    let unfit = [reply::call("Read", json!({})), reply::raw_call("Grep", "{"), reply::call("LS", json!({"path": 7}))];
    let script = delegating(arguments("general"))
        .on(when::turn(0), reply::calls(refused).calls(unfit).calls([reply::call("LS", json!({}))]))
        .on(when::turn(1), reply::calls([reply::call("LS", json!({})), reply::call("Glob", json!({"pattern": "*"}))]))
        .otherwise(reply::text("FINAL"));
    let answer = answer(&run(&World::new(), "anthropic", script));
    assert_eq!(counts(&answer), [("LS", 2), ("Glob", 1)]);
    assert_eq!(answer["stats"]["tool_calls"], 3, "the sum of the counts");
}

#[test]
fn s0_28_without_a_call_the_summary_is_there_and_empty() {
    let answer =
        answer(&run(&World::new(), "anthropic", delegating(arguments("plan")).otherwise(reply::text("FINAL"))));
    assert_eq!((&answer["data"]["tool_summary"], &answer["stats"]["tool_calls"]), (&json!([]), &json!(0)));
}

#[test]
fn s0_33_the_time_is_what_it_took_in_milliseconds() {
    let script = delegating(arguments("general")).otherwise(reply::text("FINAL").after_ms(300));
    let time = answer(&run(&World::new(), "anthropic", script))["stats"]["time_ms"].as_u64().unwrap();
    assert!((300..30_000).contains(&time), "{time}");
}

#[test]
fn s0_36_the_working_directory_is_relative_to_the_project() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("FINAL"))).unwrap());
    let json = arguments("general").to_string();
    for (directory, expected) in [("workspace", "."), ("workspace/src", "src")] {
        let task = world.sortie(["task", "--contract", "envelope", "--json", &json]).on(&server, "anthropic");
        let answer = conforming(task.cwd(world.path(directory)).run().stdout_json());
        assert_eq!(answer["context"]["cwd"], expected);
    }
}

#[test]
fn s0_37_the_arguments_come_back_as_they_were_given() {
    let given = json!({
        "description": " Ä  b ", "prompt": "CHILD\n\t🦀 ", "subagent_type": " PLAN ", "model": "main",
        "Extra": {"b": [1, 2.5, null, true], "a": "\u{0}"},
        // Texts like keys: they are the caller's own.
        "Keys": ["AKIAIOSFODNN7EXAMPLE", "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"],
    });
    for wire in WIRES {
        let run = run(&World::new(), wire, delegating(given.clone()).otherwise(reply::text("FINAL")));
        let answer = answer(&run);
        assert_eq!(answer["context"]["params_input"], given);
        assert_eq!(answer["data"]["subagent_type"], "plan");
    }
}

#[test]
fn s0_38_the_result_has_the_protocols_top_level_and_is_the_same_for_a_model_and_a_program() {
    let world = World::new();
    let for_model = run(&world, "anthropic", working(delegating(arguments("explore")))).result().text;
    let server = ScriptedServer::start(working(Script::new())).unwrap();
    // Both are read and written again with the keys in their own order.
    let for_program = printed(&world, &server, &arguments("explore").to_string()).to_string();
    let expected = concat!(
        r#"{"status":"success","data":{"status":"completed","result":"FINAL","#,
        r#""tool_summary":[{"tool":"Read","count":3},{"tool":"Grep","count":1}],"#,
        r#""model_used":"light","subagent_type":"explore"},"#,
        r#""text":"Subagent (explore, light) completed.\n\nFINAL","#,
        r#""stats":{"time_ms":TIME,"tool_calls":4,"model":"light"},"#,
        r#""context":{"cwd":".","params_input":"#,
        r#"{"description":"Find it","prompt":"CHILD looks for it","subagent_type":"explore"}}}"#,
    );
    for told in [for_model, for_program] {
        let time = serde_json::from_str::<Value>(&told).unwrap()["stats"]["time_ms"].to_string();
        assert_eq!(told, expected.replace("TIME", &time), "byte for byte");
    }
}
