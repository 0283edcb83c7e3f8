//! The tool's definition, and input that violates it.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply};

use super::{answer, arguments, with, without_id};
use crate::world::{Run, WIRES, World, main_agent_calls};

fn printed(world: &World, format: &str) -> Value {
    world.sortie(["schema", "--contract", "typed", "--format", format]).run().stdout_json()
}

/// Field of the schema without its description.
fn field(schema: &Value, name: &str) -> Value {
    let mut field = schema["properties"][name].clone();
    field.as_object_mut().unwrap_or_else(|| panic!("no {name}")).remove("description");
    field
}

#[test]
fn s3_02_s3_03_s3_04_s3_05_s3_06_s3_07_s3_08_the_schema_has_the_designs_fields_and_no_others() {
    let schema = printed(&World::new(), "json");
    assert_eq!((&schema["type"], schema["properties"].as_object().unwrap().len()), (&json!("object"), 7));
    assert_eq!(schema["required"], json!(["description", "prompt", "subagent_type"]));
    for (name, expected) in [
        ("description", json!({"type": "string", "minLength": 1})),
        ("prompt", json!({"type": "string", "minLength": 1})),
        ("subagent_type", json!({"type": "string", "enum": ["Explore", "Plan", "Bash", "general-purpose"]})),
        ("model", json!({"type": "string", "enum": ["haiku", "sonnet", "opus"]})),
        ("run_in_background", json!({"type": "boolean"})),
        ("resume", json!({"type": "string"})),
        ("max_turns", json!({"type": "number", "exclusiveMinimum": 0})),
    ] {
        assert_eq!(field(&schema, name), expected, "{name}");
    }
    assert!(schema["properties"]["description"]["description"].as_str().unwrap().contains("3-5 words"));
}

#[test]
fn s3_02_s3_56_hosts_and_main_agents_get_the_same_tool_by_its_name() {
    let world = World::new();
    let (schema, anthropic, openai) =
        (printed(&world, "json"), printed(&world, "anthropic"), printed(&world, "openai"));
    assert_eq!((&anthropic["name"], &anthropic["input_schema"]), (&json!("Task"), &schema));
    let function = &openai["function"];
    assert_eq!(
        (&openai["type"], &function["name"], &function["parameters"]),
        (&json!("function"), &json!("Task"), &schema)
    );
    for wire in WIRES {
        let run = Run::of(&world, "typed", wire, Script::always(reply::text("No need.")));
        let heard = run.main_agent();
        let offered = heard[0].tool("Task");
        assert_eq!(
            (&offered.schema, offered.description.as_str()),
            (&schema, anthropic["description"].as_str().unwrap())
        );
    }
}

#[test]
fn s3_12_the_description_lists_the_types_and_the_guidelines() {
    let printed = printed(&World::new(), "anthropic");
    let design = "Launch a specialized subagent for complex tasks.

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
    assert_eq!(printed["description"], design, "to the letter, with its line end");
}

/// Arguments that violate the schema, and the words of the error.
fn wrong() -> Vec<(Value, &'static str)> {
    let mut wrong = Vec::new();
    for (field, said) in
        [("description", "`description`"), ("prompt", "`prompt`"), ("subagent_type", "`subagent_type`")]
    {
        let mut without = arguments("Explore", "CHILD looks");
        without.as_object_mut().unwrap().remove(field);
        wrong.push((without, said));
        for value in [json!(null), json!(7), json!(["a"]), json!({}), json!(""), json!(" \n")] {
            wrong.push((with(field, value), said));
        }
    }
    wrong.push((with("subagent_type", json!("wizard")), "`wizard`; available: "));
    wrong.push((with("subagent_type", json!("summary")), "`summary`; available: "));
    for value in [json!("gpt-x"), json!("Haiku "), json!("claude-haiku-4"), json!(1), json!("")] {
        wrong.push((with("model", value), "`model`"));
    }
    for value in [json!("yes"), json!(1)] {
        wrong.push((with("run_in_background", value), "`run_in_background`"));
    }
    for value in [json!(7), json!(" ")] {
        wrong.push((with("resume", value), "`resume`"));
    }
    for value in [json!(0), json!(-1), json!(-0.5), json!("2"), json!(true)] {
        wrong.push((with("max_turns", value), "`max_turns`"));
    }
    wrong
}

#[test]
fn s3_02_s3_03_s3_04_s3_05_s3_06_s3_07_s3_08_s3_09_wrong_input_names_the_field_and_starts_nothing() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("never"))).unwrap());
    for (arguments, said) in wrong() {
        let ended = answer(&world, &server, &arguments.to_string());
        let result = without_id(ended.stdout_json());
        let error = result["error"].as_str().unwrap();
        assert!(error.contains(said), "{arguments}: {said}: {error}");
        assert_eq!((ended.code, &result), (1, &json!({"success": false, "error": error})), "{arguments}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn s3_02_s3_03_s3_04_s3_05_s3_08_s3_09_wrong_input_of_a_main_agent_costs_nothing_but_its_answer() {
    let (calls, said): (Vec<_>, Vec<_>) = wrong().into_iter().unzip();
    let script = main_agent_calls(calls.iter().map(|arguments| reply::call("Task", arguments.clone())));
    let run = Run::of(&World::new(), "typed", "openai-chat", script);
    assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
    assert_eq!(run.sub_agents().len(), 0);
    for (result, said) in run.results().iter().zip(said) {
        let result = without_id(result.json());
        let error = result["error"].as_str().unwrap();
        assert!(error.contains(said), "{said}: {error}");
        assert_eq!(result, json!({"success": false, "error": error}));
    }
}

#[test]
fn s3_04_types_are_known_in_any_case_and_unknown_keys_are_ignored() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("Done."))).unwrap());
    for name in ["Explore", "explore", "EXPLORE", "plan", "General-Purpose", "general"] {
        let mut arguments = arguments(name, "CHILD looks");
        arguments["verbosity"] = json!("high");
        let ended = answer(&world, &server, &arguments.to_string());
        assert_eq!(without_id(ended.stdout_json()), json!({"success": true, "result": "Done."}), "{name}");
        assert!(ended.stderr.contains("unknown key `verbosity` was ignored"), "{}", ended.stderr);
    }
}

#[test]
fn s3_07_an_empty_resume_resumes_nothing() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("Done."))).unwrap());
    for nothing in [json!(""), json!(null)] {
        let ended = answer(&world, &server, &with("resume", nothing).to_string());
        assert_eq!(without_id(ended.stdout_json()), json!({"success": true, "result": "Done."}));
    }
}

#[test]
fn disabled_background_is_refused_by_name() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::new()).unwrap());
    world.config("[task_tool]\nbackground = false\n");
    let given = answer(&world, &server, &with("run_in_background", json!(true)).to_string()).stdout_json();
    let error = "`run_in_background` is switched off here (`task_tool.background`); call again without it";
    assert_eq!(without_id(given), json!({"success": false, "error": error}));
    assert!(server.requests().is_empty());
    let offered = || world.sortie(["schema", "--contract", "typed"]).run().stdout_json()["properties"].clone();
    assert_eq!((&offered()["run_in_background"], &offered()["resume"]["type"]), (&Value::Null, &json!("string")));
    world.config("");
    assert_eq!(offered()["run_in_background"]["type"], "boolean");
}

#[test]
fn disabled_resume_is_not_offered() {
    let world = World::new();
    for contract in ["typed", "sortie"] {
        let offered = |more: &[&str]| {
            let args = ["schema", "--contract", contract];
            world.sortie(args.iter().chain(more)).run().stdout_json()["properties"]["resume"]["type"].clone()
        };
        assert_eq!(offered(&[]), "string");
        assert_eq!(offered(&["--set", "task_tool.resume=false"]), Value::Null);
    }
}
