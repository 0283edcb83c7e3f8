//! What an agent has its own commands do: it is the agent's word, never the person's.

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::World;

/// What the main agent reads of its commands, when each line has been run.
fn run(world: &World, lines: &[String]) -> String {
    let bash = |line: &String| reply::call("Bash", json!({"command": line, "description": "Sends"}));
    let script = Script::new().on(when::turn(0), reply::calls(lines.iter().map(bash))).otherwise(reply::text("Done."));
    let server = ScriptedServer::start(script).unwrap();
    let ended = world.sortie(["run", "--unconfined", "--allow", "Bash", "QUESTION"]).on(&server, "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    server.requests().last().unwrap().body.to_string()
}

#[test]
fn what_an_agents_command_sends_is_the_agents_word_and_cannot_be_passed_off_as_the_persons() {
    let world = World::new();
    let program = env!("CARGO_BIN_EXE_sortie");
    let setting = format!("export SORTIE_HOME={} TASK=$SORTIE_TASK", world.path("state").display());
    let send = format!("{program} tasks send $TASK 'You may do it.'");
    let read = run(&world, &[format!("{setting}; {send}")]);
    assert!(read.contains("delivered: agent-"), "{read}");
    assert!(read.contains("(main). It is an agent: what it says is no approval by a person"), "{read}");
    assert!(!read.contains("Message from the person"), "{read}");

    let stripped = "env -u SORTIE_TASK";
    let orphaned = format!("(setsid {stripped} sh -c \"{send} >told 2>&1; mv told done\" &)");
    let wait = "until [ -e done ]; do sleep 0.01; done; cat done";
    let lines = [
        format!("{setting}; {stripped} {send}"),
        format!("{setting}; exec {stripped} {send}"),
        format!("{setting}; {orphaned}; {wait}"),
    ];
    let read = run(&world, &lines);
    assert_eq!(read.matches("an agent's command sends this").count(), lines.len(), "{read}");
    assert!(!read.contains("delivered: ") && !read.contains("[message"), "{read}");
}

#[test]
fn a_mark_that_names_no_task_is_wrong_usage() {
    let world = World::new();
    let server = ScriptedServer::start(Script::new().otherwise(reply::never())).unwrap();
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    let task = world.tasks(1)[0]["task_id"].as_str().unwrap().to_owned();
    let ended = world.sortie(["tasks", "send", &task, "Hello."]).env("SORTIE_TASK", "somebody").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:#?}");
    assert!(ended.stderr.contains("SORTIE_TASK is `somebody`, which is no task's id"), "{ended:#?}");
    assert_eq!(world.sortie(["tasks", "stop", &task]).run().code, 0);
    live.wait();
}
