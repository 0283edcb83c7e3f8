//! The tool as the parent's model sees it.

use serde_json::{Value, json};
use sortie_testkit::{ScriptedPart, reply};

use super::{CONTRACT, task, task_for};
use crate::world::{Run, WIRES, World, main_agent_calls};

const TYPES: [&str; 3] = ["general-purpose", "explore", "plan"];

fn one_call(world: &World, wire: &str, call: ScriptedPart) -> Run {
    Run::of(world, CONTRACT, wire, main_agent_calls([call]).otherwise(reply::text("Done below.")))
}

#[test]
fn s4_05_s4_06_s4_07_s4_08_the_tool_is_called_task_and_has_the_designs_parameters() {
    let world = World::new();
    let expected = json!({
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "3-5 word task summary"},
            "prompt": {"type": "string", "description": "Self-contained task for sub-agent"},
            "subagent_type": {"type": "string", "enum": TYPES, "default": "general-purpose"},
        },
        "required": ["description", "prompt"],
    });
    assert_eq!(world.sortie(["schema", "--contract", CONTRACT]).run().stdout_json(), expected);
    for wire in WIRES {
        assert_eq!(one_call(&world, wire, task("CHILD")).main_agent()[0].tool("task").schema, expected);
    }
}

#[test]
fn s4_08_a_type_is_one_of_three_and_defaults_to_general_purpose() {
    let world = World::new();
    let system = |call: ScriptedPart| one_call(&world, "anthropic", call).sub_agents().remove(0).system;
    assert_eq!(system(task("CHILD")), system(task_for("general-purpose", "CHILD")));
    assert_ne!(system(task("CHILD")), system(task_for("explore", "CHILD")));

    for agent in ["summary", "wizard", "bash"] {
        let run = one_call(&world, "anthropic", task_for(agent, "CHILD"));
        let result = run.result();
        assert_eq!(result.json().as_object().unwrap().len(), 1, "{result:?}");
        let error = result.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(agent) && TYPES.iter().all(|known| error.contains(known)), "{error}");
        assert_eq!((result.is_error, run.sub_agents().len(), run.ended.code), (true, 0, 0));
    }
}

#[test]
fn s4_06_s4_07_a_call_without_a_description_or_a_prompt_starts_nothing() {
    let world = World::new();
    let complete = json!({"description": "Search X usages", "prompt": "CHILD"});
    for field in ["description", "prompt"] {
        for bad in [None, Some(Value::Null), Some(json!(7)), Some(json!("")), Some(json!(" \n"))] {
            let mut arguments = complete.clone();
            let object = arguments.as_object_mut().unwrap();
            object.remove(field);
            object.extend(bad.map(|value| (field.to_owned(), value)));
            let run = one_call(&world, "openai-chat", reply::call("task", arguments.clone()));
            let error = run.result().json()["error"].as_str().unwrap().to_owned();
            assert!(error.contains(&format!("`{field}`")), "{arguments}: {error}");
            assert_eq!((run.sub_agents().len(), run.ended.code), (0, 0), "{arguments}");
        }
    }
}

#[test]
fn s4_02_s4_09_each_type_has_a_system_prompt_for_its_use_that_asks_for_a_compact_report() {
    let world = World::new();
    for wire in WIRES {
        let systems = TYPES.map(|agent| one_call(&world, wire, task_for(agent, "CHILD")).sub_agents().remove(0).system);
        assert!(systems.iter().all(|system| system.contains("at most 500 tokens")), "{systems:#?}");
        assert!(systems[0] != systems[1] && systems[1] != systems[2] && systems[0] != systems[2]);
        assert!(
            systems[1].contains("exploration specialist") && systems[1].contains("Search wide first"),
            "{}",
            systems[1]
        );
        assert!(systems[2].contains("software architect") && systems[2].contains("numbered steps"), "{}", systems[2]);
    }
}

#[test]
fn s4_19_s4_20_the_description_teaches_self_contained_prompts_and_names_the_cost() {
    let run = one_call(&World::new(), "anthropic", task("CHILD"));
    let description = run.main_agent()[0].tool("task").description.clone();
    for element in ["self-contained", "file paths", "names of variables", "know of the project", "Never refer back"] {
        assert!(description.contains(element), "{element}: {description}");
    }
    assert!(description.contains("costs tokens twice") && description.contains("many tool calls"), "{description}");
}
