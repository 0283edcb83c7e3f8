//! The tool's definition, and input that violates it.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply};

use super::{answer, arguments, not_delegated, result, with_agents};
use crate::world::{Run, WIRES, World, main_agent_calls};

/// Schema as the specification prints it.
const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "description": {
      "type": "string",
      "description": "A short (3-5 word) description of the task"
    },
    "prompt": {
      "type": "string",
      "description": "The task for the agent to perform"
    },
    "subagent_type": {
      "type": "string",
      "description": "The type of specialized agent to use for this task"
    }
  },
  "required": [
    "description",
    "prompt",
    "subagent_type"
  ],
  "additionalProperties": false,
  "$schema": "http://json-schema.org/draft-07/schema#"
}"#;

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn printed(world: &World, format: &str) -> Value {
    world.sortie(["schema", "--contract", "result", "--format", format]).run().stdout_json()
}

#[test]
fn s1_01_s1_02_s1_03_s1_04_s1_05_s1_06_s1_07_s1_08_the_definition_is_the_designs_in_every_shape() {
    let world = with_agents();
    assert_eq!(printed(&world, "json"), schema());
    let anthropic = printed(&world, "anthropic");
    assert_eq!((&anthropic["name"], &anthropic["input_schema"]), (&json!("Task"), &schema()));
    let openai = printed(&world, "openai");
    assert_eq!((&openai["type"], &openai["function"]["name"]), (&json!("function"), &json!("Task")));
    assert_eq!(openai["function"]["parameters"], schema());
}

#[test]
fn s1_01_a_main_agent_is_offered_the_tool_with_its_purpose_and_its_subagents() {
    for wire in WIRES {
        let run = Run::of(&with_agents(), "s1", wire, Script::always(reply::text("No need.")));
        let heard = run.main_agent();
        let tool = heard[0].tool("Task");
        assert_eq!(tool.schema, schema());
        let said = &tool.description;
        assert!(said.starts_with("Delegate a specialized task to a configured subagent."), "{said}");
        for listed in ["- code-reviewer: Reviews TypeScript code", "- documentation-writer: ", "- test-generator: "] {
            assert!(said.contains(listed), "{listed}: {said}");
        }
        assert!(!said.contains("explore"), "built-in agents are not configured ones: {said}");
    }
}

/// Arguments that violate the schema, and the words of the error.
fn wrong() -> Vec<(String, &'static str)> {
    let mut wrong: Vec<(String, &str)> = Vec::new();
    for (field, said) in
        [("description", "`description`"), ("prompt", "`prompt`"), ("subagent_type", "`subagent_type`")]
    {
        let mut without = arguments("code-reviewer", "CHILD reviews");
        without.as_object_mut().unwrap().remove(field);
        wrong.push((without.to_string(), said));
        for value in [json!(null), json!(7), json!(true), json!(["a"]), json!({}), json!(""), json!(" \n")] {
            let mut with = arguments("code-reviewer", "CHILD reviews");
            with[field] = value;
            wrong.push((with.to_string(), said));
        }
    }
    let mut more = arguments("code-reviewer", "CHILD reviews");
    more["model"] = json!("haiku");
    wrong.push((more.to_string(), "`model` is not a field of this tool"));
    let twice = r#"{"description":"d","prompt":"p","subagent_type":"code-reviewer","prompt":"q"}"#;
    wrong.push((twice.to_owned(), "twice"));
    wrong.push(("[1]".to_owned(), "must be a JSON object"));
    wrong.push(("\"text\"".to_owned(), "must be a JSON object"));
    wrong.push(("{\"description\": \"d\", ".to_owned(), "not valid JSON"));
    wrong.push((String::new(), "not valid JSON"));
    wrong
}

#[test]
fn s1_06_s1_07_s1_22_wrong_input_is_answered_with_the_field_that_is_wrong_and_starts_nothing() {
    let (world, server) = (with_agents(), ScriptedServer::start(Script::always(reply::text("never"))).unwrap());
    for (arguments, said) in wrong() {
        let ended = answer(&world, &server, &arguments);
        let result = ended.stdout_json();
        let error = result["error"].as_str().unwrap();
        assert!(error.contains(said), "{arguments}: {said}: {error}");
        assert_eq!((ended.code, result.clone()), (1, not_delegated(error)), "{arguments}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn s1_06_s1_07_s1_22_wrong_input_of_a_main_agent_costs_nothing_but_its_answer() {
    let calls = wrong().into_iter().filter(|(arguments, _)| arguments.starts_with("{\"") && arguments.ends_with('}'));
    let (arguments, said): (Vec<_>, Vec<_>) = calls.unzip();
    let calls = arguments.iter().map(|arguments| reply::raw_call("Task", arguments.as_str()));
    let run = Run::of(&with_agents(), "result", "openai-chat", main_agent_calls(calls));
    assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
    assert_eq!(run.sub_agents().len(), 0);
    let results = run.results();
    assert_eq!(results.len(), arguments.len());
    for (result, said) in results.iter().zip(said) {
        let error = result.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(said), "{said}: {error}");
        assert_eq!(result.json(), not_delegated(&error));
    }
}

#[test]
fn s1_22_invalid_json_reaches_the_main_agent_as_a_correctable_error() {
    let script = main_agent_calls([reply::raw_call("Task", "{\"description\": \"d\", ")]);
    let run = Run::of(&with_agents(), "result", "openai-chat", script);
    let error = result(&run)["error"].as_str().unwrap().to_owned();
    assert!(error.contains("not valid JSON"), "{error}");
    assert_eq!(run.sub_agents().len(), 0);
}
