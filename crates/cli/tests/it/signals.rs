//! Ctrl-C, SIGTERM and SIGHUP: the first one ends the run in order, the second one at once. A vanished terminal or
//! reader leaves nothing running.

use std::io::Read as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::background::recorded;
use crate::resume::states;
use crate::run::delegating;
use crate::terminal::terminal;
use crate::world::{Live, World, wait_for};

/// Main agent that waits for a child whose model never answers.
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

/// Run that cannot write its ending until another program unlocks the journal.
fn kept_from_ending(world: &World, server: &ScriptedServer) -> (Live, rusqlite::Connection) {
    let live = world.sortie(["run", "QUESTION"]).on(server, "anthropic").hearing_signals().start();
    wait_for(server, |traffic| traffic.calls >= 2);
    assert_eq!(world.tasks(2).len(), 2);
    let other = world.sql();
    other.busy_timeout(Duration::from_mins(1)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    (live, other)
}

#[test]
fn the_first_signal_cancels_the_tree_and_its_outcome_is_printed_and_kept() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let (world, server) = (World::new(), ScriptedServer::start(stuck()).unwrap());
        let run = world.sortie(["run", "--output-format", "json", "QUESTION"]).on(&server, "anthropic");
        let live = run.hearing_signals().start();
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
    // Its first byte shows that the run is over and the result is on its way.
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn one_signal_ends_a_run_whose_output_nobody_reads() {
    // More than a pipe holds, before the run is over.
    let talkative = || {
        Script::new()
            .on(when::any().turn(0), reply::calls([reply::call("LS", json!({}))]).text("x".repeat(1 << 20)))
            .otherwise(reply::never())
    };
    for format in ["stream-json", "json", "text"] {
        let (world, server) = (World::new(), ScriptedServer::start(talkative()).unwrap());
        let run = world.sortie(["run", "--output-format", format, "x"]).on(&server, "anthropic");
        let mut command = run.hearing_signals().into_command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        wait_for(&server, |traffic| traffic.calls >= 2);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(143), "{format}");
    }
}

#[test]
fn the_second_signal_ends_a_run_that_hangs() {
    let (world, server) = (World::new(), ScriptedServer::start(stuck()).unwrap());
    let (live, other) = kept_from_ending(&world, &server);
    send(&live, Signal::INT);
    wait_for(&server, |traffic| traffic.in_flight == 0);
    send(&live, Signal::INT);
    let ended = live.wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (130, ""));
    other.execute_batch("ROLLBACK").unwrap();
    let list = world.sortie(["tasks", "list", "--all", "--json"]).run().stdout_json();
    assert!(list.as_array().unwrap().iter().all(|task| task["status"] == "interrupted"), "{list}");
}

#[test]
fn a_second_hang_up_does_not_count_as_a_second_signal() {
    let (world, server) = (World::new(), ScriptedServer::start(stuck()).unwrap());
    let (live, other) = kept_from_ending(&world, &server);
    send(&live, Signal::HUP);
    wait_for(&server, |traffic| traffic.in_flight == 0);
    send(&live, Signal::HUP);
    // Delivered before a second one, which it handles in order.
    send(&live, Signal::HUP);
    other.execute_batch("ROLLBACK").unwrap();
    let ended = live.wait();
    assert_eq!(ended.code, 129, "{}", ended.stderr);
    let states = states(&world);
    assert!(states.iter().all(|state| state == "cancelled"), "{states:?}: {}", ended.stderr);
}

#[test]
fn a_program_under_nohup_outlives_its_terminal() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done.").held_by("model"))).unwrap();
    let run = world.sortie(["run", "QUESTION"]).on(&server, "anthropic");
    let live = run.under("/bin/sh", &["-c", "trap '' HUP; exec \"$@\"", "sh"]).start();
    wait_for(&server, |traffic| traffic.calls >= 1);
    send(&live, Signal::HUP);
    server.gate("model").open();
    let ended = live.wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Done.\n"));
}

#[test]
fn a_closed_terminal_ends_the_run_in_order() {
    let (world, server) = (World::new(), ScriptedServer::start(stuck()).unwrap());
    let (host, guest) = terminal();
    let own = || Stdio::from(guest.try_clone().unwrap());
    let run = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").env("TERM", "xterm");
    // Makes the terminal its own session's, as under a shell.
    let mut command = run.hearing_signals().under("setsid", &["--ctty"]).into_command();
    let mut child = command.stdin(own()).stdout(own()).stderr(own()).spawn().unwrap();
    drop((command, guest));
    wait_for(&server, |traffic| traffic.calls >= 2);
    drop(host);
    assert_eq!(child.wait().unwrap().code(), Some(129));
    let list = world.sortie(["tasks", "list", "--all", "--json"]).run().stdout_json();
    assert!(list.as_array().unwrap().iter().all(|task| task["status"] == "cancelled"), "{list}");
}

#[test]
fn a_question_is_open_until_a_closed_terminal_has_stopped_the_run() {
    let write = ("Write", json!({"file_path": "notes.md", "content": "hello\n"}), "approval_asked");
    let inquire = ("Ask", json!({"question": "Which?", "to": "person", "timeout_seconds": 120}), "question_asked");
    for (tool, arguments, asked) in [write, inquire] {
        let task = json!({"description": "Ask", "prompt": "CHILD", "run_in_background": true});
        let script = Script::new()
            .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", task)]))
            .on(when::prompt_contains("CHILD").turn(0), reply::calls([reply::call(tool, arguments)]))
            .otherwise(reply::text("parked"));
        let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
        let (host, guest) = terminal();
        let own = || Stdio::from(guest.try_clone().unwrap());
        let run = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").env("TERM", "xterm");
        let mut command = run.hearing_signals().under("setsid", &["--ctty"]).into_command();
        let mut child = command.stdin(own()).stdout(own()).stderr(own()).spawn().unwrap();
        drop((command, guest));
        recorded(&world, asked, 1);
        recorded(&world, "task_parked", 1);
        drop(host);
        assert_eq!(child.wait().unwrap().code(), Some(129), "{tool}");
        assert_eq!(states(&world), ["cancelled", "cancelled"], "{tool}");
        assert_eq!(server.traffic().calls, 3, "nobody's model is asked once more: {tool}");
    }
}

/// Main agent that says something and then waits for a child whose model never answers.
fn talking() -> Script {
    let delegate = json!({"description": "Wait", "prompt": "CHILD"});
    let say = reply::text("So far.").calls([reply::call("Task", delegate)]);
    Script::new().on(when::prompt_contains("QUESTION").turn(0), say).otherwise(reply::never())
}

#[test]
fn the_text_so_far_is_kept_although_the_terminal_cannot_show_it() {
    for more in [&[][..], &["--output-format", "stream-json"]] {
        let (world, server) = (World::new(), ScriptedServer::start(talking()).unwrap());
        let (host, guest) = terminal();
        let own = || Stdio::from(guest.try_clone().unwrap());
        let args = ["run", "QUESTION"].into_iter().chain(more.iter().copied());
        let run = world.sortie(args).on(&server, "anthropic").env("TERM", "xterm");
        let mut command = run.hearing_signals().under("setsid", &["--ctty"]).into_command();
        let mut child = command.stdin(own()).stdout(own()).stderr(own()).spawn().unwrap();
        drop((command, guest));
        wait_for(&server, |traffic| traffic.calls >= 2);
        drop(host);
        assert_eq!(child.wait().unwrap().code(), Some(129), "{more:?}");
        assert_eq!(states(&world), ["cancelled", "cancelled"]);
        let task = world.tasks(2)[0]["task_id"].as_str().unwrap().to_owned();
        assert_eq!(world.sortie(["tasks", "output", &task]).run().stdout, "So far.\n");
    }
}

#[test]
fn a_terminal_closed_with_its_shell_ends_the_run_in_order() {
    let (world, server) = (World::new(), ScriptedServer::start(stuck()).unwrap());
    let (host, guest) = terminal();
    let own = || Stdio::from(guest.try_clone().unwrap());
    let run = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").env("TERM", "dumb").hearing_signals();
    // An interactive shell, which tells its jobs that the terminal has gone, as the kernel does.
    let script = "set -m; \"$@\"; echo $? > ended";
    let mut command = run.under("setsid", &["--ctty", "bash", "--norc", "-i", "-c", script, "bash"]).into_command();
    let mut child = command.stdin(own()).stdout(own()).stderr(own()).spawn().unwrap();
    drop((command, guest));
    wait_for(&server, |traffic| traffic.calls >= 2);
    drop(host);
    child.wait().unwrap();
    wait_for(&server, |traffic| traffic.open_connections == 0);
    let since = Instant::now();
    while states(&world) != ["cancelled", "cancelled"] {
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", states(&world));
    }
}

#[test]
fn a_run_whose_progress_nobody_reads_still_gives_its_answer() {
    let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
    let mut command = world.sortie(["run", "--verbose", "QUESTION"]).on(&server, "anthropic").into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    assert_eq!((child.wait().unwrap().code(), answer.as_str()), (Some(0), "Errors are made in `src/auth.rs:2`.\n"));
}

#[test]
fn a_process_that_was_stopped_does_not_blame_the_model_for_a_stall() {
    let answer = reply::text("I had it all along.").held_by("answer");
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(answer)).unwrap());
    let impatient = ["--set", "llm.idle_timeout_seconds=5", "--set", "llm.max_retries=0"];
    let live = world.sortie([&["run", "QUESTION"], &impatient[..]].concat()).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.in_flight == 1);
    send(&live, Signal::STOP);
    // Sleeps on purpose: the test is about elapsed time.
    std::thread::sleep(Duration::from_secs(6));
    send(&live, Signal::CONT);
    // Sleeps on purpose: it looks at the clock before anything arrives.
    std::thread::sleep(Duration::from_millis(500));
    server.gate("answer").open();
    let ended = live.wait();
    assert_eq!((ended.code, ended.stdout.trim_end()), (0, "I had it all along."), "{ended:#?}");
}
