//! The document's minimal form: the same under other names.

use serde_json::json;
use sortie_protocol::Usage;
use sortie_testkit::{ScriptedPart, reply, when};

use super::CONTRACT;
use crate::world::{Run, WIRES, World, main_agent_calls};

const RECIPE: &str = "child-recipe";

fn call(more: &[(&str, &str)]) -> ScriptedPart {
    let mut arguments = json!({"description": "Search X usages", "prompt": "CHILD looks"});
    for (key, value) in more {
        arguments[*key] = json!(value);
    }
    reply::call("task", arguments)
}

#[test]
fn s4_17_the_recipe_takes_two_fields_and_answers_with_tokens() {
    for wire in WIRES {
        let used = Usage { input_tokens: 40, output_tokens: 2, ..Usage::default() };
        let script = main_agent_calls([call(&[])]).otherwise(reply::text("Done below.").usage(used));
        let run = Run::of(&World::new(), RECIPE, wire, script);
        assert_eq!(run.result().json(), json!({"summary": "Done below.", "toolCalls": 0, "tokens": 42}));
        let schema = run.main_agent()[0].tool("task").schema.clone();
        assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["description", "prompt"]);
        assert_eq!(schema["required"], json!(["description", "prompt"]));
    }
}

#[test]
fn s4_17_the_recipes_type_is_general_if_not_given() {
    let system = |contract: &str, more: &[(&str, &str)]| {
        let script = main_agent_calls([call(more)]).otherwise(reply::text("Done below."));
        Run::of(&World::new(), contract, "anthropic", script).sub_agents().remove(0).system
    };
    assert_eq!(system(RECIPE, &[]), system(CONTRACT, &[]));
    assert_eq!(system(RECIPE, &[("agentType", "general")]), system(RECIPE, &[]));
    assert_eq!(system(RECIPE, &[("agentType", "explore")]), system(CONTRACT, &[("subagent_type", "explore")]));
}

#[test]
fn s4_17_the_recipes_names_of_denied_tools_are_denied_too() {
    let forced = ["spawn_agent", "create_todo", "task", "TodoWrite"].map(|tool| reply::call(tool, json!({})));
    let script =
        main_agent_calls([call(&[])]).on(when::turn(0), reply::calls(forced)).otherwise(reply::text("Done below."));
    let run = Run::of(&World::new(), RECIPE, "anthropic", script);
    let child = run.sub_agents();
    assert_eq!((child.len(), child[1].results.len()), (2, 4));
    assert!(child[1].results.iter().all(|result| result.is_error), "{:#?}", child[1].results);
    assert_eq!(run.result().json()["toolCalls"], 0);
}
