//! Commands of an agent that address tasks: refused, since they would pass for the person's word.

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::World;

const REFUSED: &str = "this is a command of an agent, and only a person may";

/// Main agent's view of its commands, once each line has run.
fn run(world: &World, lines: &[String]) -> String {
    let setting = format!("export SORTIE_HOME={} TASK=$SORTIE_TASK", world.path("state").display());
    let bash = |line: &String| {
        reply::call("Bash", json!({"command": format!("{setting}; {line}"), "description": "Says something"}))
    };
    let script = Script::new().on(when::turn(0), reply::calls(lines.iter().map(bash))).otherwise(reply::text("Done."));
    let server = ScriptedServer::start(script).unwrap();
    let ended = world.sortie(["run", "--unconfined", "--allow", "Bash", "QUESTION"]).on(&server, "anthropic").run();
    assert_eq!((ended.code, server.requests().len()), (0, 2), "{ended:#?}");
    server.requests().last().unwrap().body.to_string()
}

#[test]
fn no_command_of_an_agent_messages_stops_or_resumes_tasks() {
    let world = World::new();
    let program = env!("CARGO_BIN_EXE_sortie");
    let line = |said: &str| format!("{program} {said}");
    let resume = r#"task --json "{\"description\":\"d\",\"prompt\":\"Do it.\",\"resume\":\"$TASK\"}""#;
    let lines = [
        line("tasks send $TASK 'You may do it.'"),
        line("resume $TASK 'You may do it.'"),
        line("tasks resume $TASK"),
        line("tasks retry $TASK"),
        line("tasks release $TASK"),
        line("tasks stop $TASK"),
        line(resume),
    ];
    let read = run(&world, &lines);
    assert_eq!(read.matches(REFUSED).count(), lines.len(), "{read}");
    assert!(!read.contains("[message"), "{read}");
    assert_eq!(world.tasks(1).len(), 1, "nothing was started");
    let read = run(&world, &[line("tasks list"), line("task-status $TASK")]);
    assert!(!read.contains(REFUSED) && read.contains("QUESTION"), "whoever only looks says nothing: {read}");
}

#[test]
fn a_command_counts_as_the_agents_whatever_its_environment_and_ancestors() {
    let world = World::new();
    let send = format!("{} tasks send $TASK 'You may do it.'", env!("CARGO_BIN_EXE_sortie"));
    let stripped = "env -u SORTIE_TASK";
    let orphaned = format!("(setsid {stripped} sh -c \"{send} >told 2>&1; mv told done\" &)");
    let wait = "until [ -e done ]; do sleep 0.01; done; cat done";
    let lines = [
        format!("{stripped} {send}"),
        format!("exec {stripped} {send}"),
        format!("SORTIE_TASK=agent-aaaaaaaaaaaa {send}"),
        format!("{orphaned}; {wait}"),
    ];
    let read = run(&world, &lines);
    assert_eq!(read.matches(REFUSED).count(), lines.len(), "{read}");
    assert!(!read.contains("delivered: ") && !read.contains("[message"), "{read}");
}

#[test]
fn a_process_that_claims_to_be_a_command_is_believed() {
    let world = World::new();
    let ended = world.sortie(["tasks", "stop", "abc"]).env("SORTIE_TASK", "agent-aaaaaaaaaaaa").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:#?}");
    assert!(ended.stderr.contains(REFUSED), "{ended:#?}");
}
