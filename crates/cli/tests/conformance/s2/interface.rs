//! Input: a brief and perhaps a model. A refusal before the start is an error of the tool.

use serde_json::{Value, json};
use sortie_testkit::{Fault, ScriptedPart, ScriptedReply, StatusFault, reply, when};

use super::{CONTRACT, task};
use crate::entries::{TaskCall, at_every_entry};
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
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["task", "model"]);
        assert!(properties.values().all(|property| property["type"] == "string"));
        assert_eq!((&schema["type"], &schema["required"]), (&json!("object"), &json!(["task"])));
    }
    for (format, name) in [("anthropic", "/name"), ("openai", "/function/name")] {
        let tool = world.sortie(["schema", "--contract", CONTRACT, "--format", format]).run().stdout_json();
        assert_eq!(tool.pointer(name), Some(&json!("task")));
    }
}

/// Description of the specification, to the letter: with its two trailing spaces, and its line end.
const DESCRIPTION: &str = "\
Delegates a complex subtask to a focused sub-agent with its own context window.\x20\n\
Use this to break down large tasks, work on specific files without cluttering the main context,\x20\n\
or use different models for different complexity levels.\n\
\n\
Input should be a JSON object with:\n\
- 'task' (required): detailed description of what the sub-agent should do\n\
- 'model' (optional): model name to use (e.g., \"claude-3-5-haiku-20241022\" for simple tasks)\n\
\n\
The sub-agent will have access to all tools and can read/write files, run commands, etc.\n\
Results will be summarized and returned to you.\n\
\n\
Example use cases:\n\
- \"Refactor the authentication module in auth.go to use the new token system\"\n\
- \"Analyze all test files and create a summary of test coverage\"\n\
- \"Fix all lint errors in the frontend/ directory\"\n\
";

#[test]
fn s2_29_the_description_is_that_of_the_specification() {
    let world = World::new();
    for wire in WIRES {
        let run = one_call(&world, wire, task("anything"), &[]);
        let told = run.main_agent()[0].tool("task").description.clone();
        assert!(told.starts_with(DESCRIPTION), "{told}");
    }
    let tool = world.sortie(["schema", "--contract", CONTRACT, "--format", "anthropic"]).run().stdout_json();
    assert_eq!(tool["description"], DESCRIPTION);
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

/// Call with a model that neither a route nor the table of models knows.
fn unknown_model<'a>(models: Option<&'a [&'a str]>, child: ScriptedReply) -> TaskCall<'a> {
    let arguments = json!({"task": "CHILD work", "model": "nobodys-model"});
    TaskCall { contract: CONTRACT, arguments, flags: &[], child, models }
}

#[test]
fn s2_39_s2_75_a_model_that_the_server_does_not_list_is_an_error_of_the_tool_before_any_call() {
    let listed = ["test-model", "small-model", "org/large-model"];
    for answer in at_every_entry(&World::new(), &unknown_model(Some(&listed), reply::text("Done."))) {
        assert!(answer.is_error, "{answer:#?}");
        for words in ["the sub-agent could not be created: unknown model `nobodys-model`", "`org/large-model`"] {
            assert!(answer.text.contains(words), "{answer:#?}");
        }
        assert_eq!(answer.children.len(), 0, "{}", answer.entry);
    }
}

#[test]
fn s2_39_a_model_that_the_server_lists_serves_and_so_does_one_of_the_table() {
    for (model, listed) in
        [("nobodys-model", &["test-model", "Nobodys-Model:latest"][..]), ("claude-3-5-haiku-20241022", &["test-model"])]
    {
        let arguments = json!({"task": "CHILD work", "model": model});
        let call = TaskCall { arguments, ..unknown_model(Some(listed), reply::text("Done.")) };
        for answer in at_every_entry(&World::new(), &call) {
            assert_eq!((answer.is_error, &answer.json()["success"]), (false, &json!(true)), "{answer:#?}");
            assert_eq!(answer.children[0].model, model);
        }
    }
}

#[test]
fn s2_39_s2_75_a_server_that_lists_no_models_is_believed_and_its_refusal_is_a_result() {
    for listed in [None, Some(&[][..])] {
        let gone = reply::fault(Fault::Status(StatusFault { code: 404, ..StatusFault::default() }));
        for answer in at_every_entry(&World::new(), &unknown_model(listed, gone)) {
            assert_eq!(answer.children.len(), 1, "asked once, never again");
            let result = answer.json();
            assert_eq!(result["success"], false);
            assert!(result["error"].as_str().unwrap().contains("nobodys-model"), "{result}");
        }
    }
}
