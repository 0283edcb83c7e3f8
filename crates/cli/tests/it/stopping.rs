//! `sortie tasks stop`, whatever happens to the owners meanwhile.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::resume::{id, kill, send, states};
use crate::world::{Live, World, wait_for};

/// Main agent that waits for a child whose model answers when released.
pub(crate) fn waiting() -> ScriptedServer {
    let delegate = json!({"description": "Wait", "prompt": "CHILD"});
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", delegate)]))
        .otherwise(reply::text("Done.").held_by("model"));
    ScriptedServer::start(script).unwrap()
}

/// Run with a working child, and the ids of both.
pub(crate) fn begun(world: &World, server: &ScriptedServer) -> (Live, Vec<String>) {
    let live = world.sortie(["run", "QUESTION"]).on(server, "anthropic").start();
    wait_for(server, |traffic| traffic.calls >= 2);
    (live, world.tasks(2).iter().map(id).collect())
}

/// Waits until a command is in the journal.
fn wait_for_wish(world: &World) {
    let since = Instant::now();
    let count = || world.sql().query_row("SELECT count(*) FROM commands", [], |row| row.get::<_, i64>(0)).unwrap();
    while count() == 0 {
        assert!(since.elapsed() < Duration::from_secs(30), "nobody wishes anything");
    }
}

#[test]
fn a_stop_ends_the_task_of_an_owner_that_dies() {
    let (world, server) = (World::new(), waiting());
    let (owner, ids) = begun(&world, &server);
    send(&owner, Signal::STOP);
    let stop = world.sortie(["tasks", "stop", &ids[0], "--json"]).start();
    wait_for_wish(&world);
    kill(owner);
    let ended = stop.wait();
    assert_eq!((ended.code, &ended.stdout_json()["stopped"]), (0, &json!(ids)), "{ended:#?}");
    assert_eq!(states(&world), ["cancelled", "cancelled"]);
}

#[test]
fn a_task_resumed_elsewhere_meanwhile_is_stopped_there() {
    let (world, server) = (World::new(), waiting());
    let (owner, ids) = begun(&world, &server);
    send(&owner, Signal::STOP);
    let stop = world.sortie(["tasks", "stop", &ids[0]]).start();
    wait_for_wish(&world);
    send(&stop, Signal::STOP);
    kill(owner);
    let next = world.sortie(["resume", &ids[0]]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 3);
    send(&stop, Signal::CONT);
    let ended = stop.wait();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(next.wait().code, 1);
    assert_eq!(states(&world), ["cancelled", "cancelled"]);
}

#[test]
fn descendants_of_an_ended_task_are_stopped_in_any_process() {
    let (world, server) = (World::new(), waiting());
    server.gate("model").open();
    assert_eq!(world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run().code, 0);
    let ids: Vec<String> = world.tasks(2).iter().map(id).collect();
    let held = ScriptedServer::start(Script::always(reply::never())).unwrap();
    let next = world.sortie(["resume", &ids[1], "More"]).on(&held, "anthropic").start();
    wait_for(&held, |traffic| traffic.calls >= 1);
    let ended = world.sortie(["tasks", "stop", &ids[0], "--json"]).run();
    assert_eq!((ended.code, &ended.stdout_json()["stopped"]), (0, &json!([ids[1]])), "{ended:#?}");
    assert_eq!(next.wait().code, 1);
    assert_eq!(states(&world), ["completed", "cancelled"]);
}

#[test]
fn simultaneous_stops_all_succeed_and_late_ones_learn_that_they_are_late() {
    let (world, server) = (World::new(), waiting());
    let (owner, ids) = begun(&world, &server);
    kill(owner);
    let stop = || world.sortie(["tasks", "stop", &ids[0], "--json"]).start();
    let mut stopped = BTreeSet::new();
    for ended in [stop(), stop(), stop(), stop()].map(Live::wait) {
        assert_eq!(ended.code, 0, "{ended:#?}");
        stopped.extend(ended.stdout_json()["stopped"].as_array().unwrap().iter().map(Value::to_string));
    }
    assert_eq!(stopped, ids.iter().map(|id| json!(id).to_string()).collect());
    assert_eq!(states(&world), ["cancelled", "cancelled"]);
    let late = world.sortie(["tasks", "stop", &ids[0]]).run();
    assert_eq!((late.code, late.stdout), (0, format!("{} had ended before: cancelled\n", ids[0])));
}

#[test]
fn a_damaged_task_does_not_keep_others_from_ending_and_is_named() {
    let (world, server) = (World::new(), waiting());
    let (owner, ids) = begun(&world, &server);
    kill(owner);
    let damage = "UPDATE events SET body = replace(body, 'CHILD', 'Child') WHERE kind = 'task_started'";
    assert!(world.sql().execute(damage, []).unwrap() > 0);
    let ended = world.sortie(["tasks", "stop", &ids[0]]).run();
    assert_eq!(ended.code, 1, "{ended:#?}");
    assert!(ended.stdout.starts_with(&format!("{}  cancelled  ", ids[0])), "{ended:#?}");
    let said = format!("error: {} cannot be ended: the log of {} is damaged", ids[1], ids[1]);
    assert!(ended.stderr.starts_with(&said), "{ended:#?}");
    assert_eq!(states(&world), ["cancelled", "interrupted"]);
}

#[test]
fn a_stop_that_cannot_be_written_is_not_wrong_usage() {
    let (world, server) = (World::new(), waiting());
    let (owner, ids) = begun(&world, &server);
    kill(owner);
    for kibibytes in [1, 40] {
        let ended = world.sortie(["tasks", "stop", &ids[0]]).on_a_disk_of(kibibytes).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:#?}");
        assert!(ended.stderr.starts_with("error: the journal "), "{ended:#?}");
    }
    assert_eq!(states(&world), ["interrupted", "interrupted"]);
    assert_eq!(world.sortie(["tasks", "stop", &ids[0]]).run().code, 0, "once there is room");
}

#[test]
fn a_process_that_hangs_is_named() {
    let (world, server) = (World::new(), waiting());
    let (owner, ids) = begun(&world, &server);
    send(&owner, Signal::STOP);
    let (ended, pid) = (world.sortie(["tasks", "stop", &ids[0]]).run(), owner.child.id());
    let said = format!(
        "error: {} was told to stop, but did not end within 10 s\n\
         hint: process {pid} runs it and may hang; `kill -9 {pid}`, then stop the task again\n",
        ids[0]
    );
    assert_eq!((ended.code, ended.stderr), (1, said));
    kill(owner);
}

#[test]
fn a_stop_without_a_journal_creates_nothing() {
    let world = World::new();
    assert_eq!(world.sortie(["tasks", "stop", "abc"]).run().code, 1);
    assert_eq!(world.sortie(["tasks", "prune"]).run().code, 0);
    assert!(world.kept_nothing());
}
