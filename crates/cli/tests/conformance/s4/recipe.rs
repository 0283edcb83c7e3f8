//! The specification's minimal form: the same contract under other names.

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
        let used = Usage { input_tokens: 1040, output_tokens: 2, ..Usage::default() };
        let script = main_agent_calls([call(&[])]).otherwise(reply::text("Done below.").usage(used));
        let run = Run::of(&World::new(), RECIPE, wire, script);
        assert_eq!(run.result().json(), json!({"summary": "Done below.", "toolCalls": 0, "tokens": 1042}));
        let schema = run.main_agent()[0].tool("task").schema.clone();
        assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["description", "prompt"]);
        assert_eq!(schema["required"], json!(["description", "prompt"]));
    }
}

#[test]
fn s4_17_the_recipes_type_defaults_to_general() {
    let system = |contract: &str, more: &[(&str, &str)]| {
        let script = main_agent_calls([call(more)]).otherwise(reply::text("Done below."));
        Run::of(&World::new(), contract, "anthropic", script).sub_agents().remove(0).system
    };
    assert_eq!(system(RECIPE, &[]), system(CONTRACT, &[]));
    assert_eq!(system(RECIPE, &[("agentType", "general")]), system(RECIPE, &[]));
    assert_eq!(system(RECIPE, &[("agentType", "explore")]), system(CONTRACT, &[("subagent_type", "explore")]));
}

#[test]
fn s4_17_a_wrong_type_is_refused_in_the_recipes_words() {
    let script = main_agent_calls([call(&[("agentType", "wizard")])]);
    let run = Run::of(&World::new(), RECIPE, "anthropic", script);
    let error = "there is no `agentType` `wizard`; it must be one of general, explore, plan";
    assert_eq!(run.result().json(), json!({ "error": error }));
    assert_eq!(run.sub_agents().len(), 0);
}

#[test]
fn s4_17_a_file_can_deny_by_the_recipes_names() {
    let world = World::new();
    let text = "---\nname: plan\ndescription: Plans alone\ndisallowedTools: [spawn_agent, create_todo]\n---\nPlan.\n";
    world.write("home/.config/sortie/agents/plan.md", text);
    let plan = json!({"description": "Plan it", "prompt": "CHILD plans", "subagent_type": "plan"});
    // A case that the contract itself does not deny.
    let script = main_agent_calls([reply::call("Task", plan)])
        .on(when::turn(0), reply::calls(["Task", "TodoWrite"].map(|tool| reply::call(tool, json!({"todos": []})))))
        .otherwise(reply::text("Done below."));
    let run = Run::of(&world, "sortie", "anthropic", script);
    let child = run.sub_agents();
    let main = run.main_agent().remove(0);
    // A message makes an agent work as a task does, and is denied with it; so there is nobody to list.
    let denied = ["SendMessage", "TaskList", "TodoWrite"];
    let all = main.tools_of_a_leaf();
    let expected: Vec<&str> = all.iter().copied().filter(|tool| !denied.contains(tool)).collect();
    assert_eq!(expected.len(), all.len() - denied.len());
    assert_eq!((child[0].system.as_str(), child[0].tool_names()), ("Plan.", expected));
    for result in &child[1].results {
        let by_the_file =
            ["is not granted to this task", "by agent plan"].iter().all(|part| result.text.contains(part));
        assert!(result.is_error && by_the_file, "{result:?}");
    }
}

#[test]
fn s4_17_a_rule_can_deny_by_the_recipes_names() {
    for (rule, tool) in [("create_todo", "TodoWrite"), ("CREATE_TODO", "TodoWrite"), ("spawn_agent", "Task")] {
        let script = main_agent_calls([reply::call(tool, json!({"todos": []}))]);
        let run = Run::with(&World::new(), "sortie", "anthropic", script, &["--deny", rule]);
        assert!(!run.main_agent()[0].offers(tool), "{rule}");
        let expected = format!("denied by the flag --deny: its rule `{rule}`");
        assert!(run.result().is_error && run.result().text.contains(&expected), "{rule}: {:?}", run.result());
        assert!(!run.ended.stderr.contains("there is no tool"), "{rule}: {}", run.ended.stderr);
    }
    // An allow rule must name its tool exactly; a mismatch is a warning.
    let warned = World::new().sortie(["config", "show", "--allow", "todowrite", "--deny", "todowrite"]).run().stderr;
    assert_eq!(warned.matches("there is no tool `todowrite`; did you mean TodoWrite?").count(), 1, "{warned}");
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
