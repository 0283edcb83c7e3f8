//! The document's outlook: templates of tasks, and results that are kept.

use serde_json::json;
use sortie_testkit::reply;

use super::{CONTRACT, task};
use crate::world::{DONE, Run, WIRES, World, main_agent_calls};

#[test]
fn s2_82_a_task_that_names_a_template_is_what_the_template_says() {
    let world = World::new();
    let text = "---\ndescription: Write tests for one file\narguments: [path]\n---\nWrite tests for {{path}}.\n";
    world.write("workspace/.sortie/templates/test-file.md", text);
    for wire in WIRES {
        let script = main_agent_calls([task("/test-file path=src/a.rs")]).otherwise(reply::text("Written."));
        let run = Run::of(&world, CONTRACT, wire, script);
        assert_eq!(run.result().json()["summary"], "Written.");
        let child = run.sub_agents().remove(0);
        assert!(
            child.prompt.contains("Write tests for src/a.rs.") && !child.prompt.contains("/test-file"),
            "{}",
            child.prompt
        );
        let description = run.main_agent().remove(0).tool("task").description.clone();
        assert!(description.contains("/test-file path=: Write tests for one file"), "{description}");
    }
}

#[test]
fn s2_83_an_identical_task_on_the_same_files_is_answered_without_a_model() {
    let world = World::new();
    let run = |flags: &[&str]| {
        let script = main_agent_calls([task("CHILD looks")]).otherwise(reply::text("It is there."));
        let run = Run::with(&world, CONTRACT, "anthropic", script, flags);
        assert_eq!(
            (run.ended.stdout.as_str(), &run.result().json()["summary"]),
            (&*format!("{DONE}\n"), &json!("It is there."))
        );
        run.sub_agents().len()
    };
    let keeping = &["--set", "task_tool.cache=true"];
    assert_eq!((run(&[]), run(&[])), (1, 1), "off by default");
    assert_eq!((run(keeping), run(keeping)), (1, 0));
    world.write("workspace/src/auth.rs", "// another\n");
    assert_eq!((run(keeping), run(keeping)), (1, 0), "a change is noticed");
}
