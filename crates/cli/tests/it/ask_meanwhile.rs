//! Approval questions at the terminal, and events that happen meanwhile.

use std::fs;

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::ask::Session;
use crate::background::recorded;
use crate::hooks_at_work::with_hook;
use crate::resume::states;
use crate::world::World;

const CHOICES: &str = "[y]es once  [t]his task tree  [a]lways  [n]o (and why) ";

/// Main agent whose sub-agent wants to write a file.
fn writing(background: bool) -> ScriptedServer {
    let task = json!({"description": "Write it", "prompt": "CHILD", "run_in_background": background});
    let write = reply::call("Write", json!({"file_path": "notes.md", "content": "hello\n"}));
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls([write]))
        .otherwise(reply::text("done"));
    ScriptedServer::start(script).unwrap()
}

fn child(world: &World) -> String {
    world.tasks(2)[1]["task_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_question_of_a_released_task_shows_its_new_timeout() {
    let (world, server) = (World::new(), writing(false));
    let run = ["run", "--set", "permissions.answer_seconds=20", "QUESTION"];
    let mut session = Session::start(world.sortie(run).on(&server, "anthropic"));
    let question = session.sees(CHOICES);
    assert!(question.contains("“Write it”, waits 3m4"), "by the time that the task has: {question}");
    let child = child(&world);
    let released = world.sortie(["tasks", "release", &child]).run();
    assert_eq!(released.code, 0, "{released:#?}");
    session.sees(&format!("{child} now works in the background, and waits 20.0s for an answer"));
    session.sees(CHOICES);
    session.types("y\n");
    assert_eq!(session.ends().0, 0);
    assert!(world.path("workspace/notes.md").exists());
}

#[test]
fn earlier_events_are_shown_above_a_question() {
    let (world, server) = (World::new(), writing(true));
    let mut session = Session::start(world.sortie(["run", "QUESTION"]).on(&server, "anthropic"));
    let shown = session.sees(CHOICES);
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text:?} in {shown}"));
    let order = [at("Task: Write it"), at("Task running in background"), at("wants to use Write")];
    assert!(order.is_sorted(), "{shown}");
    session.types("n\n");
    assert_eq!(session.ends().0, 0);
}

#[test]
fn a_message_does_not_answer_an_approval_and_the_sender_learns_that() {
    let (world, server) = (World::new(), writing(true));
    let mut session = Session::start(world.sortie(["run", "QUESTION"]).on(&server, "anthropic"));
    session.sees(CHOICES);
    let child = child(&world);
    let sent = world.sortie(["tasks", "send", &child, "Yes, you may."]).run();
    let said =
        "this does not answer its approval request: Edit(/notes.md)\nthat is answered at the terminal of its run\n";
    assert!(sent.stdout.starts_with("delivered: ") && sent.stdout.ends_with(said), "{sent:#?}");
    let sent = world.sortie(["tasks", "send", &child, "Yes, you may.", "--json"]).run().stdout_json();
    assert_eq!(sent, json!({"task_id": child, "state": "delivered", "asks": ["Edit(/notes.md)"]}));
    session.types("n\n");
    assert_eq!(session.ends().0, 0);
    assert!(!world.path("workspace/notes.md").exists());
}

#[test]
fn a_run_that_is_about_to_be_left_asks_nothing() {
    let world = with_hook("task_ended", "until [ -e \"$1\" ]; do sleep 0.05; done\n", "");
    let task = |prompt: &str, background: bool| {
        let arguments = json!({"description": "Part", "prompt": prompt, "run_in_background": background});
        reply::calls([reply::call("Task", arguments)])
    };
    let write = reply::call("Write", json!({"file_path": "notes.md", "content": "hello\n"}));
    let script = Script::new()
        // The run is left only after the hook for its end.
        .on(when::prompt_contains("QUESTION").turn(0), task("FIRST", false))
        .on(when::prompt_contains("QUESTION").turn(1), task("CHILD", true))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls([write]).held_by("child"))
        .otherwise(reply::text("on its way"));
    let server = ScriptedServer::start(script).unwrap();
    let mut session = Session::start(world.sortie(["run", "--detach", "QUESTION"]).on(&server, "anthropic"));
    recorded(&world, "task_parked", 1);
    server.gate("child").open();
    recorded(&world, "approval_asked", 1);
    fs::write(world.path("home/told"), "").unwrap();
    let shown = session.sees("the run is stopped; continue it with: sortie resume");
    assert!(!shown.contains("wants to use") && !shown.contains("too late"), "{shown}");
    assert_eq!(session.ends(), (0, "on its way\n".to_owned()));
    assert_eq!(states(&world).iter().filter(|state| *state == "interrupted").count(), 2);
}
