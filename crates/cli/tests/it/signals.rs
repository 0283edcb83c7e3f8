//! Ctrl-C and SIGTERM: the first one ends the run in order, the second one at once.

use std::io::Read as _;
use std::process::Stdio;

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
    kill_process(Pid::from_child(&live.child), signal).unwrap();
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
fn a_signal_ends_a_program_whose_result_nobody_reads() {
    let world = World::new();
    // More than a pipe holds.
    let server = ScriptedServer::start(Script::always(reply::text("x".repeat(1 << 20)))).unwrap();
    let mut command = world.sortie(["run", "x"]).on(&server, "anthropic").into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // Its first byte says that the run is over and the result is on its way.
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
