//! Ctrl-C and SIGTERM: the first one ends the run in order, the second one at once.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::{Live, World, wait_for};

/// A main agent that waits for a child, whose model never answers.
fn stuck() -> Script {
    Script::new()
        .on(
            when::prompt_contains("QUESTION").turn(0),
            reply::calls([reply::call("Task", json!({"description": "Wait", "prompt": "CHILD"}))]),
        )
        .otherwise(reply::never())
}

fn send(live: &Live, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(live.child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn the_first_signal_cancels_the_tree_and_its_outcome_is_printed_and_kept() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let (world, server) = (World::new(), ScriptedServer::start(stuck()).unwrap());
        let live = world.sortie(["run", "--output-format", "json", "QUESTION"]).on(&server, "anthropic").start();
        wait_for(&server, |traffic| traffic.calls >= 2);
        send(&live, signal);
        let ended = live.wait();
        assert_eq!(ended.code, code, "{ended:#?}");
        let outcome = ended.stdout_json();
        assert_eq!(outcome["status"], "cancelled");
        assert_eq!(outcome["children"][0]["status"], "cancelled");
        wait_for(&server, |traffic| traffic.open_connections == 0);
        let list = world.sortie(["tasks", "list", "--all", "--json"]).run().stdout_json();
        let states: Vec<&Value> = list.as_array().unwrap().iter().map(|task| &task["status"]).collect();
        assert_eq!(states, ["cancelled", "cancelled"], "recorded as ended, not as interrupted");
    }
}

#[test]
fn a_cancelled_run_says_so_in_text() {
    let (world, server) = (World::new(), ScriptedServer::start(stuck()).unwrap());
    let live = world.sortie(["run", "QUESTION"]).on(&server, "openai-chat").start();
    wait_for(&server, |traffic| traffic.calls >= 2);
    send(&live, Signal::INT);
    let ended = live.wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (130, ""));
    assert!(ended.stderr.contains("warning: cancelled"), "{}", ended.stderr);
}

#[test]
fn a_delegation_can_be_cancelled_too() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::never())).unwrap());
    let live = world.sortie(["task", "--description", "x", "--prompt", "y"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 1);
    send(&live, Signal::TERM);
    let ended = live.wait();
    assert_eq!(ended.code, 143);
    assert_eq!(ended.stdout_json()["status"], "cancelled");
}

#[test]
fn a_second_signal_ends_a_run_that_nobody_reads() {
    use std::process::Stdio;
    // More than a pipe holds, and nobody reads it: the program cannot get rid of its result.
    let server = ScriptedServer::start(Script::always(reply::text("x".repeat(1 << 20)))).unwrap();
    let world = World::new();
    let mut command = world.sortie(["run", "x"]).on(&server, "anthropic").into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    wait_for(&server, |traffic| traffic.calls >= 1);
    kill_process(pid, Signal::INT).unwrap();
    // The first one may come while the run is on, or only while its result is being written; then it is enough alone.
    kill_process(pid, Signal::INT).ok();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        kill_process(pid, Signal::INT).ok();
        std::thread::yield_now();
    };
    assert_eq!(code, Some(130));
}
