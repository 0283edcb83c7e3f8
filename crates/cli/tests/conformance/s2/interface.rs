//! Input: a brief and perhaps a model. A refusal before the start is an error of the tool.

use serde_json::{Value, json};
use sortie_testkit::{Fault, ScriptedPart, StatusFault, reply, when};

use super::{CONTRACT, task};
use crate::world::{DONE, QUESTION, Run, WIRES, World, main_agent_calls};

/// Main agent with one call, and sub-agents that would answer.
fn one_call(world: &World, wire: &str, call: ScriptedPart, flags: &[&str]) -> Run {
    Run::with(world, CONTRACT, wire, main_agent_calls([call]).otherwise(reply::text("Done below.")), flags)
}

#[test]
fn s2_01_s2_02_s2_04_s2_05_s2_06_s2_48_s2_71_s2_77_a_brief_runs_separately_and_only_its_result_returns() {
    for wire in WIRES {
        let world = World::new();
        world.write("workspace/config.go", "package config // CHILD-ONLY\nvar Port = 8080\n");
        let look = |path: &str| reply::call("Read", json!({ "file_path": path }));
        let script = sortie_testkit::Script::new()
            .on(when::prompt_contains(QUESTION).turn(0), reply::text("PARENT-ONLY").calls([look("src/main.rs")]))
            .on(when::prompt_contains(QUESTION).turn(1), reply::calls([task("Read and summarise config.go")]))
            .on(when::prompt_contains(QUESTION), reply::text(DONE))
            .on(when::turn(0), reply::text("I am looking.").calls([look("config.go")]))
            .otherwise(reply::text("It sets the port to 8080."));
        let run = Run::of(&world, CONTRACT, wire, script);
        assert_eq!((run.ended.code, run.ended.stdout.as_str()), (0, "DONE by the main agent\n"), "{:#?}", run.ended);

        let child = run.sub_agents();
        assert_eq!(child.len(), 2, "the sub-agent's own turns");
        assert_eq!((child[0].messages, child[0].prompt.as_str()), (1, "Read and summarise config.go"));
        for told in &child {
            assert!(!told.contains("PARENT-ONLY") && !told.contains(QUESTION) && !told.contains("mod auth"));
        }
        assert!(child[1].contains("CHILD-ONLY"), "it read the file itself");

        let main = run.main_agent();
        assert!(main.iter().all(|told| !told.contains("CHILD-ONLY") && !told.contains("I am looking.")));
        assert_eq!(main[2].messages, main[1].messages + 2, "the call and its result, nothing else");
        let result = &main[2].results[1];
        assert_eq!(result.json()["summary"], "It sets the port to 8080.");
    }
}

#[test]
fn s2_02_a_brief_arrives_unchanged_whatever_its_size_and_script() {
    for brief in
        ["  leading space\n\ttab, \"quotes\", \\ and \u{1f600} ".to_owned(), "Ein Wörtchen 言葉. ".repeat(40_000)]
    {
        for wire in WIRES {
            let run = one_call(&World::new(), wire, task(&brief), &["--set", "task_tool.max_tokens=9999999"]);
            assert!(run.sub_agents()[0].prompt == brief, "{} bytes", brief.len());
        }
    }
}

#[test]
fn s2_03_s2_10_s2_40_s2_74_the_named_model_serves_or_else_the_parents() {
    for wire in WIRES {
        let world = World::new();
        let calls = [reply::call("task", json!({"task": "CHEAP work", "model": "small-model"})), task("USUAL work")];
        let script = main_agent_calls(calls).otherwise(reply::text("Done below."));
        let run = Run::with(&world, CONTRACT, wire, script, &["--model", "parents-model"]);
        assert_eq!(run.main_agent()[0].model, "parents-model");
        assert_eq!(run.sub_agent("CHEAP work")[0].model, "small-model");
        assert_eq!(run.sub_agent("USUAL work")[0].model, "parents-model");
        assert!(run.results().iter().all(|result| result.json()["success"] == true));
    }
}

#[test]
fn s2_27_s2_28_the_tool_is_called_task_and_takes_a_task_and_a_model() {
    let world = World::new();
    for wire in WIRES {
        let run = one_call(&world, wire, task("anything"), &[]);
        let schema = run.main_agent()[0].tool("task").schema.clone();
        assert_eq!(schema, world.sortie(["schema", "--contract", CONTRACT]).run().stdout_json());
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["model", "task"]);
        assert!(properties.values().all(|property| property["type"] == "string"));
        assert_eq!((&schema["type"], &schema["required"]), (&json!("object"), &json!(["task"])));
    }
    for (format, name) in [("anthropic", "/name"), ("openai", "/function/name")] {
        let tool = world.sortie(["schema", "--contract", CONTRACT, "--format", format]).run().stdout_json();
        assert_eq!(tool.pointer(name), Some(&json!("task")));
    }
}

#[test]
fn s2_29_the_description_has_everything_that_the_specification_requires() {
    let world = World::new();
    let run = one_call(&world, "anthropic", task("anything"), &[]);
    let description = run.main_agent()[0].tool("task").description.clone();
    for element in [
        "focused sub-agent with its own context window",
        "break down large tasks",
        "without cluttering the main context",
        "different models",
        "'task' (required)",
        "'model' (optional)",
        "access to all tools and can read/write files, run commands",
        "Results will be summarized",
    ] {
        assert!(description.contains(element), "{element}: {description}");
    }
    let (_, examples) = description.split_once("Example use cases:\n").unwrap();
    assert_eq!(examples.lines().filter(|line| line.starts_with("- \"")).count(), 3);
}

/// Arguments that start nothing, and the message about them.
fn refused() -> [(Value, &'static str); 6] {
    [
        (json!({}), "`task` is missing"),
        (json!({"task": null}), "`task`"),
        (json!({"task": 7}), "`task` must be"),
        (json!({"task": "  \n"}), "`task` is empty"),
        (json!({"prompt": "x"}), "`task` is missing"),
        (json!({"task": "x", "model": 7}), "`model` must be"),
    ]
}

#[test]
fn s2_27_s2_30_s2_31_input_without_a_task_is_an_error_of_the_tool_and_starts_nothing() {
    let world = World::new();
    for (arguments, why) in refused() {
        for wire in WIRES {
            let run = one_call(&world, wire, reply::call("task", arguments.clone()), &[]);
            let result = run.result();
            assert!(result.text.starts_with("invalid input: ") && result.text.contains(why), "{arguments}: {result:?}");
            assert_eq!(result.is_error, wire == "anthropic", "where the wire can say so");
            assert_eq!((run.sub_agents().len(), run.ended.code), (0, 0), "the main agent continues");
        }
        let ended = world.sortie(["task", "--contract", CONTRACT, "--json", &arguments.to_string()]).run();
        let answer = ended.stdout_json();
        assert_eq!((ended.code, answer.as_object().unwrap().len()), (1, 1), "{answer}");
        assert!(answer["error"].as_str().unwrap().contains(why), "{answer}");
    }
}

#[test]
fn s2_31_input_that_is_not_a_json_object_is_an_error_of_the_tool() {
    let world = World::new();
    for arguments in ["{\"task\": \"x\"", "not json", "[1]", r#"{"task": "a", "task": "b"}"#] {
        let run = one_call(&world, "openai-chat", reply::raw_call("task", arguments), &[]);
        assert!(run.result().text.starts_with("invalid input: "), "{arguments}: {:?}", run.result());
        assert_eq!((run.sub_agents().len(), run.ended.code), (0, 0), "{arguments}");
        let ended = world.sortie(["task", "--contract", CONTRACT, "--json", arguments]).run();
        assert_eq!(ended.code, 1);
        assert!(ended.stdout_json()["error"].as_str().unwrap().starts_with("invalid input: "), "{}", ended.stdout);
    }
}

#[test]
fn s2_30_s2_34_a_failed_task_is_a_result_and_no_error_of_the_tool() {
    let world = World::new();
    let script = main_agent_calls([task("CHILD work")]).otherwise(reply::status(400));
    let run = Run::of(&world, CONTRACT, "anthropic", script);
    let result = run.result();
    assert!(!result.is_error, "{result:?}");
    assert_eq!(result.json()["success"], false);
}

#[test]
fn s2_33_a_sub_agent_that_cannot_be_created_is_an_error_of_the_tool() {
    let world = World::new();
    world.config("[routes.broken]\nmodel = \"x\"\napi_key_env = \"NOBODY_HAS_THIS_KEY\"\n");
    for model in ["broken", "no such model"] {
        let call = reply::call("task", json!({"task": "x", "model": model}));
        let run = one_call(&world, "anthropic", call, &[]);
        let result = run.result();
        assert!(result.text.starts_with("the sub-agent could not be created: ") && result.text.contains(model));
        assert!(result.is_error);
        assert_eq!((run.sub_agents().len(), run.ended.code), (0, 0));
    }
}

#[test]
fn s2_39_s2_75_a_model_that_the_provider_does_not_have_is_named() {
    for wire in WIRES {
        let world = World::new();
        let call = reply::call("task", json!({"task": "CHILD work", "model": "nobodys-model"}));
        let gone = Fault::Status(StatusFault { code: 404, ..StatusFault::default() });
        let script = main_agent_calls([call]).otherwise(reply::fault(gone));
        let run = Run::of(&world, CONTRACT, wire, script);
        assert_eq!(run.sub_agents().len(), 1, "asked once, never again");
        let result = run.result().json();
        assert_eq!(result["success"], false);
        assert!(result["error"].as_str().unwrap().contains("nobodys-model"), "{result}");
        assert_eq!(run.ended.code, 0);
    }
}
