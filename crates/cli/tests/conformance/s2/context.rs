//! Start of a sub-agent: tools, a system prompt, and the project's instructions.

use sortie_testkit::{Script, reply};

use super::{CONTRACT, task};
use crate::world::{Run, WIRES, World, main_agent_calls};

fn delegating() -> Script {
    main_agent_calls([task("CHILD brief: count the files.")]).otherwise(reply::text("Done below."))
}

#[test]
fn s2_07_a_sub_agent_has_the_tools_of_the_main_agent_and_can_write_to_others() {
    for wire in WIRES {
        let run = Run::of(&World::new(), CONTRACT, wire, delegating());
        let (main, child) = (run.main_agent().remove(0), run.sub_agents().remove(0));
        assert!(child.offers("task") && child.offers("Read"), "{:?}", child.tool_names());
        let (same, more) = child.tools.split_at(main.tools.len());
        assert_eq!(same, main.tools, "also in what is said of them");
        assert_eq!(more.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["SendMessage", "Note"]);
    }
}

#[test]
fn s2_08_s2_42_the_projects_instructions_are_passed_once_within_a_size_and_nothing_else_is() {
    let world = World::new();
    world.write("workspace/AGENTS.md", "HOUSE RULES\n");
    world.write("workspace/CLAUDE.md", "HOUSE RULES\n");
    world.write("workspace/README.md", "NOT FOR AGENTS\n");
    let child = |flags: &[&str]| Run::with(&world, CONTRACT, "anthropic", delegating(), flags).sub_agents().remove(0);
    assert_eq!(child(&[]).system.matches("HOUSE RULES").count(), 1, "by default, and one text once");
    assert!(!child(&[]).contains("NOT FOR AGENTS"));
    assert!(!child(&["--set", "task_tool.inherit_context_files=false"]).contains("HOUSE RULES"));
    assert!(!child(&["--set", "task_tool.context_file_bytes=5"]).contains("HOUSE RULES"), "too large");
}

#[test]
fn s2_09_s2_41_the_system_prompt_points_to_the_task_and_has_the_form_of_the_report_and_the_use_of_tools() {
    for wire in WIRES {
        let run = Run::of(&World::new(), CONTRACT, wire, delegating());
        let (main, child) = (run.main_agent().remove(0), run.sub_agents().remove(0));
        let pointer = "\n\n# Task\nYour task is the first message, whole and word for word. ";
        assert!(child.system.contains(pointer), "{}", child.system);
        assert_eq!(child.prompt, "CHILD brief: count the files.");
        assert_eq!(child.body.to_string().matches("count the files").count(), 1, "a large brief is paid for once");
        for idea in ["sub-agent", "with the tools you have and no others", "report of at most 500 tokens"] {
            assert!(child.system.contains(idea), "{idea}: {}", child.system);
        }
        assert_ne!(child.system, main.system);
    }
}

#[test]
fn s2_61_the_parents_system_prompt_mentions_the_tool() {
    let run = Run::of(&World::new(), CONTRACT, "anthropic", delegating());
    let system = run.main_agent().remove(0).system.to_lowercase();
    assert!(system.contains("delegate with task what takes many tool calls"), "{system}");
}
