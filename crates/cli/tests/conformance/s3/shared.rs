//! The specification's outlook: sub-agents share their findings, and do not search twice.

use serde_json::json;
use sortie_testkit::{Script, reply, when};

use super::{result, task};
use crate::world::{DONE, QUESTION, Run, WIRES, World, main_agent_calls};

#[test]
fn s3_45_a_sub_agent_reads_the_findings_of_another() {
    for wire in WIRES {
        let posts = reply::calls([reply::call("Note", json!({"text": "login is in src/auth.rs"}))]);
        let reads = reply::calls([reply::call("Note", json!({}))]);
        let script = Script::new()
            .on(when::prompt_contains(QUESTION).turn(0), reply::calls([task("general-purpose", "FIRST looks")]))
            .on(when::prompt_contains(QUESTION).turn(1), reply::calls([task("general-purpose", "SECOND looks")]))
            .on(when::prompt_contains(QUESTION), reply::text(DONE))
            .on(when::prompt_contains("FIRST").turn(0), posts)
            .on(when::prompt_contains("SECOND").turn(0), reads)
            .otherwise(reply::text("Done."));
        let run = Run::of(&World::new(), "typed", wire, script);
        assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
        let read = run.sub_agent("SECOND")[1].results.remove(0);
        assert!(read.text.contains("login is in src/auth.rs"), "{read:#?}");
        assert!(read.text.contains("general-purpose"), "it says whose words these are: {read:#?}");
    }
}

#[test]
fn s3_45_a_finding_about_unchanged_files_is_reused() {
    let world = World::new();
    let script = main_agent_calls([task("Explore", "CHILD looks")]).otherwise(reply::text("It is there."));
    let keeping = ["--set", "task_tool.cache=true"];
    let first = Run::with(&world, "typed", "anthropic", script, &keeping);
    assert_eq!((first.sub_agents().len(), &result(&first)["result"]), (1, &json!("It is there.")));
    let again = first.again(&world, "typed", "anthropic", &keeping);
    let told = result(&again)["result"].to_string();
    assert!(told.starts_with(r#""It is there.\n[answered from "#), "{told}");
    assert_eq!(again.sub_agents().len(), 1);
    world.write("workspace/src/new.rs", "");
    let anew = again.again(&world, "typed", "anthropic", &keeping);
    assert_eq!(anew.sub_agents().len(), 2);
}
