//! Resuming from a transcript: deferred by the specification, implemented all the same.

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use super::{arguments, delegating, run};
use crate::world::{DONE, QUESTION, Run, WIRES, World, heard};

#[test]
fn s0_11_a_run_resumes_from_its_transcript() {
    for wire in WIRES {
        let world = World::new();
        let first = run(&world, wire, delegating(arguments("general")).otherwise(reply::text("Found.")));
        assert_eq!(first.ended.code, 0, "{:#?}", first.ended);
        let list = world.sortie(["tasks", "list", "--json"]).run().stdout_json();
        let id = list[0]["task_id"].as_str().unwrap();
        let server = ScriptedServer::start(Script::always(reply::text("And this."))).unwrap();
        let ended = world.sortie(["resume", "--contract", "envelope", id, "What else?"]).on(&server, wire).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "And this.\n"), "{ended:#?}");
        let (before, after) = (first.main_agent().pop().unwrap(), heard(&server).pop().unwrap());
        assert_eq!((after.messages, after.results), (before.messages + 2, before.results));
    }
}

#[test]
fn s0_11_a_sub_agent_resumes_from_its_transcript() {
    for wire in WIRES {
        let world = World::new();
        let look = reply::calls([reply::call("Read", json!({"file_path": "src/main.rs"}))]);
        let script = delegating(arguments("general")).on(when::turn(0), look).otherwise(reply::text("Found."));
        let first = run(&world, wire, script);
        let id = world.tasks(2)[1]["task_id"].as_str().unwrap().to_owned();
        let before = first.sub_agents().pop().unwrap();

        let server = ScriptedServer::start(Script::always(reply::text("And this."))).unwrap();
        let ended = world.sortie(["resume", "--contract", "envelope", &id, "What else?"]).on(&server, wire).run();
        assert_eq!((ended.code, ended.stdout.contains("And this.")), (0, true), "{ended:#?}");
        let after = heard(&server).pop().unwrap();
        assert_eq!((after.messages, &after.results), (before.messages + 2, &before.results), "{wire}");
        assert_eq!((&after.prompt, &after.system), (&before.prompt, &before.system));
        assert!(after.contains("Found.") && after.contains("What else?"));
    }
}

#[test]
fn s0_11_a_main_agent_resumes_its_sub_agent_in_our_own_contract() {
    let world = World::new();
    let call = |more: &str, resume: Option<&str>| {
        let mut call = json!({"description": "Find it", "prompt": more, "subagent_type": "explore"});
        if let Some(id) = resume {
            call["resume"] = json!(id);
        }
        reply::calls([reply::call("Task", call)])
    };
    let script = Script::new()
        .on(when::prompt_contains(QUESTION).turn(0), call("CHILD looks", None))
        .on(when::prompt_contains(QUESTION).turn(1), call("And the tests?", Some("<task 1>")))
        .on(when::prompt_contains(QUESTION), reply::text(DONE))
        .once(when::any(), reply::text("Found."))
        .otherwise(reply::text("And this."));
    let run = Run::of(&world, "sortie", "anthropic", script);
    let [before, after] = &run.sub_agents()[..] else { panic!("{:#?}", run.ended) };
    assert_eq!((after.messages, &after.prompt), (before.messages + 2, &before.prompt));
    assert!(
        after.contains("Found.") && after.contains("And the tests?") && run.results()[1].text.contains("And this.")
    );
}
