//! Many sub-agents at once when the program is told to end; commands when the system has nothing left.

use std::fs;

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::{World, wait_for};

const CHILDREN: u64 = 200;

#[test]
fn a_signal_interrupts_two_hundred_sub_agents_at_work_and_records_no_ending() {
    let delegate = json!({"description": "Wait", "prompt": "CHILD waits"});
    let calls = (0..CHILDREN).map(|_| reply::call("Task", delegate.clone()));
    let script =
        Script::new().on(when::prompt_contains("QUESTION").turn(0), reply::calls(calls)).otherwise(reply::never());
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let (at_once, at_all) =
        (format!("task_tool.max_concurrent={CHILDREN}"), format!("task_tool.max_children={CHILDREN}"));
    let args = ["run", "--set", &at_once, "--set", &at_all, "--output-format", "json", "QUESTION"];
    let live = world.sortie(args).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.in_flight == CHILDREN);
    kill_process(Pid::from_child(&live.child), Signal::TERM).unwrap();
    let ended = live.wait();
    assert_eq!(ended.code, 143, "{}", ended.stderr);
    let outcome = ended.stdout_json();
    let children = outcome["children"].as_array().unwrap();
    assert_eq!((children.len() as u64, &outcome["status"]), (CHILDREN, &json!("interrupted")));
    assert!(children.iter().all(|child| child["status"] == "interrupted"));
    wait_for(&server, |traffic| traffic.open_connections == 0);
    assert_eq!(server.traffic().calls, CHILDREN + 1, "no request after the signal");
    let states: Vec<Value> = world.tasks(0).iter().map(|task| task["status"].clone()).collect();
    assert_eq!(states, vec![json!("interrupted"); CHILDREN as usize + 1]);
}

/// Limits the files that the process may have open.
fn limit_files(process: Pid, count: u64) {
    let maximum = rustix::process::getrlimit(Resource::Nofile).maximum;
    prlimit(Some(process), Resource::Nofile, Rlimit { current: Some(count), maximum }).unwrap();
}

#[test]
fn a_command_that_cannot_start_is_an_error_for_the_model_and_the_next_one_runs() {
    const FAILING: usize = 16;
    let call = |command: &str| reply::call("Bash", json!({ "command": command }));
    let bash = |command: &str| reply::calls([call(command)]);
    let failing = reply::calls((0..FAILING).map(|_| call("echo never > never.txt")));
    let script = Script::new()
        .on(when::turn(0), bash("echo warm > warm.txt"))
        .on(when::turn(1), failing.held_by("exhausted"))
        .on(when::turn(2), bash("echo again > again.txt").held_by("restored"))
        .otherwise(reply::text("Done.").held_by("counted"));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let live = world.sortie(["run", "--allow", "Bash", "QUESTION"]).on(&server, "anthropic").start();
    let process = Pid::from_child(&live.child);
    let n_open = || fs::read_dir(format!("/proc/{process}/fd")).unwrap().count();
    wait_for(&server, |traffic| traffic.calls == 2);
    let before = n_open();
    // Open files stay open; no new ones can be opened.
    limit_files(process, 0);
    server.gate("exhausted").open();
    wait_for(&server, |traffic| traffic.calls == 3);
    limit_files(process, 1024);
    server.gate("restored").open();
    wait_for(&server, |traffic| traffic.calls == 4);
    // A connection to the model or the journal may come and go; a leak for each failure would be more.
    let after = n_open();
    assert!(after < before + FAILING / 2, "{after} descriptors, {before} before");
    server.gate("counted").open();
    let ended = live.wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Done.\n"), "{ended:#?}");
    let made = |name: &str| world.path(&format!("workspace/{name}.txt")).exists();
    assert_eq!((made("warm"), made("never"), made("again")), (true, false, true));
    let last = server.requests().last().unwrap().body["messages"].to_string();
    assert!(last.contains("Too many open files"), "{last}");
}
