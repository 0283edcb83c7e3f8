//! Ctrl-C, SIGTERM and SIGHUP: the first one interrupts the run, to be resumed, and the second one ends the process. A
//! vanished terminal or reader leaves nothing running.

use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::background::recorded;
use crate::hooks_at_work::with_hook;
use crate::resume::{COMMAND, runs, states, wait_for_command, with_pipes};
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

/// Main agent with two children: one works on its second request, the other in a command.
fn at_work() -> Script {
    let delegate = |name: &str| {
        let brief = json!({"description": name, "prompt": name, "subagent_type": "general-purpose"});
        reply::call("Task", brief)
    };
    let look = reply::calls([reply::call("LS", json!({}))]).text("I look.");
    Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([delegate("LOOKER"), delegate("COMMANDER")]))
        .on(when::prompt_contains("QUESTION"), reply::text("All done."))
        .on(when::prompt_contains("LOOKER").turn(0), look)
        .on(when::prompt_contains("LOOKER"), reply::text("It is in src.").held_by("looker"))
        .on(
            when::prompt_contains("COMMANDER").turn(0),
            reply::calls([reply::call("Bash", json!({"command": COMMAND}))]),
        )
        .on(when::last_contains("unknown: the program was stopped while this Bash call ran"), reply::text("I looked."))
        .otherwise(reply::text("Nobody told me."))
}

#[test]
fn the_first_signal_interrupts_the_tree_and_resume_continues_it_as_after_a_crash() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129), (Signal::KILL, 137)] {
        let (world, server) = (with_pipes(), ScriptedServer::start(at_work()).unwrap());
        let args = ["run", "--allow", "Bash", "--output-format", "json", "QUESTION"];
        let live = world.sortie(args).on(&server, "anthropic").hearing_signals().start();
        wait_for_command(&world);
        wait_for(&server, |traffic| traffic.calls >= 4);
        send(&live, signal);
        let ended = live.wait();
        assert_eq!(ended.code, code, "{ended:#?}");
        wait_for(&server, |traffic| traffic.open_connections == 0);
        let ids: Vec<Value> = world.tasks(3).iter().map(|task| task["task_id"].clone()).collect();
        if signal != Signal::KILL {
            assert!(!runs(&world), "the command has ended with the run");
            let outcome = ended.stdout_json();
            assert_eq!((&outcome["status"], &outcome["task_id"]), (&json!("interrupted"), &ids[0]), "{outcome}");
            let children = outcome["children"].as_array().unwrap();
            assert!(children.len() == 2 && children.iter().all(|child| child["status"] == "interrupted"), "{outcome}");
        }
        assert_eq!(states(&world), ["interrupted"; 3], "{signal:?}");
        assert_eq!(
            world.sql().query_row("SELECT count(*) FROM events WHERE kind = 'task_ended'", [], |row| row.get(0)),
            Ok(0)
        );

        server.gate("looker").open();
        let args = ["resume", "--allow", "Bash", "--output-format", "json"];
        let resumed = world.sortie(args).on(&server, "anthropic").run();
        let outcome = resumed.stdout_json();
        assert_eq!((resumed.code, &outcome["text"]), (0, &json!("All done.")), "{resumed:#?}");
        let texts: Vec<&Value> = outcome["children"].as_array().unwrap().iter().map(|child| &child["text"]).collect();
        assert_eq!(texts, ["It is in src.", "I looked."], "{signal:?}");
        assert_eq!(states(&world), ["completed"; 3]);
        // Three first requests, LOOKER's second one twice, COMMANDER's second one, and the last one.
        assert_eq!(server.traffic().calls, 7, "no call was repeated but the one under way");
    }
}

#[test]
fn a_stream_ends_with_a_line_that_names_the_interrupted_task() {
    let (world, server) = (World::new(), ScriptedServer::start(stuck()).unwrap());
    let live = world.sortie(["run", "--output-format", "stream-json", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 2);
    send(&live, Signal::INT);
    let ended = live.wait();
    let last: Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
    let task = &world.tasks(2)[0]["task_id"];
    assert_eq!((&last["type"], &last["status"], &last["task_id"]), (&json!("outcome"), &json!("interrupted"), task));
}

#[test]
fn an_interrupted_run_says_so_in_text_and_names_the_command_that_continues_it() {
    let (world, server) = (World::new(), ScriptedServer::start(stuck()).unwrap());
    let live = world.sortie(["run", "QUESTION"]).on(&server, "openai-chat").start();
    wait_for(&server, |traffic| traffic.calls >= 2);
    send(&live, Signal::INT);
    let ended = live.wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (130, ""));
    let task = world.tasks(2)[0]["task_id"].as_str().unwrap().to_owned();
    let hint = format!("warning: interrupted\nhint: `sortie resume {task}` continues it\n");
    assert!(ended.stderr.contains(&hint), "{}", ended.stderr);
}

#[test]
fn a_delegation_can_be_interrupted_too_and_each_contract_has_words_for_it() {
    for (contract, key, wanted) in [
        ("sortie", "/status", "interrupted"),
        ("envelope", "/error/message", "interrupted before it was done; `sortie resume "),
        ("result", "/error", "interrupted before it was done; `sortie resume "),
        ("delegate", "/error", "interrupted before it was done; `sortie resume "),
        ("typed", "/error", "interrupted before it was done; `sortie resume "),
        ("child", "/error", "interrupted before it was done; `sortie resume "),
    ] {
        let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::never())).unwrap());
        world.write("workspace/.sortie/agents/own.md", "---\nname: own\ndescription: Its own\n---\nWork.\n");
        let request = match contract {
            "delegate" => json!({"task": "look"}),
            "child" => json!({"description": "x", "prompt": "y"}),
            "envelope" => json!({"description": "x", "prompt": "y", "subagent_type": "explore"}),
            "result" => json!({"description": "x", "prompt": "y", "subagent_type": "own"}),
            _ => json!({"description": "x", "prompt": "y", "subagent_type": "Explore"}),
        };
        let args = ["task", "--contract", contract, "--json", &request.to_string()];
        let live = world.sortie(args).on(&server, "anthropic").start();
        wait_for(&server, |traffic| traffic.calls >= 1);
        send(&live, Signal::TERM);
        let ended = live.wait();
        assert_eq!(ended.code, 143, "{ended:#?}");
        let answer = ended.stdout_json();
        let said = answer.pointer(key).unwrap_or(&Value::Null).to_string();
        assert!(said.contains(wanted), "{contract}: {answer}");
        assert_eq!(states(&world), ["interrupted"]);
    }
}

/// A request in each contract, and where its answer names a failure.
fn requests() -> [(&'static str, Value, &'static str); 6] {
    let typed = json!({"description": "x", "prompt": "y", "subagent_type": "Explore"});
    let explore = json!({"description": "x", "prompt": "y", "subagent_type": "explore"});
    let own = json!({"description": "x", "prompt": "y", "subagent_type": "own"});
    [
        ("sortie", explore.clone(), "/error/message"),
        ("envelope", explore, "/error/message"),
        ("result", own, "/error"),
        ("delegate", json!({"task": "look"}), "/error"),
        ("typed", typed, "/error"),
        ("child", json!({"description": "x", "prompt": "y"}), "/error"),
    ]
}

/// Asserts that a task told its caller that a signal came before it began, in the words of its contract.
fn assert_never_began(contract: &str, place: &str, answer: &Value) {
    let said = answer.pointer(place).unwrap_or(&Value::Null).to_string();
    assert!(said.contains("the task was interrupted before it began"), "{contract}: {answer}");
}

#[test]
fn a_task_that_is_signalled_before_it_began_says_so_in_its_contract() {
    for (contract, request, place) in requests() {
        for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
            let world = with_hook("task_started", "echo > \"$1\"; sleep 600\n", "timeout_seconds = 60");
            world.write("workspace/.sortie/agents/own.md", "---\nname: own\ndescription: Its own\n---\nLook.\n");
            let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
            let args = ["task", "--contract", contract, "--json", &request.to_string()];
            let live = world.sortie(args).on(&server, "anthropic").start();
            let since = Instant::now();
            while !world.path("home/told").exists() {
                assert!(since.elapsed() < Duration::from_secs(30), "the hook has not begun");
            }
            send(&live, signal);
            let ended = live.wait();
            assert_eq!(ended.code, code, "{contract}: {ended:#?}");
            assert_never_began(contract, place, &ended.stdout_json());
            assert_eq!((server.traffic().calls, world.tasks(0)), (0, Vec::new()));
        }
    }
}

#[test]
fn a_task_that_is_signalled_while_it_reads_its_request_says_so_too() {
    for (contract, _, place) in requests() {
        let world = World::new();
        let mut command = world.sortie(["task", "--contract", contract, "--json", "-"]).into_command();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // More than a pipe holds: it is all written only once the program reads.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(" ".repeat(1 << 18).as_bytes()).unwrap();
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        let (mut stdout, mut out) = (child.stdout.take().unwrap(), String::new());
        stdout.read_to_string(&mut out).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(143), "{contract}: {out}");
        assert_never_began(contract, place, &serde_json::from_str(&out).unwrap());
        drop(stdin);
    }
}

#[test]
fn tasks_stop_ends_what_a_signal_interrupts() {
    let (world, server) = (World::new(), ScriptedServer::start(stuck()).unwrap());
    let live = world.sortie(["run", "--output-format", "json", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 2);
    let task = world.tasks(2)[0]["task_id"].as_str().unwrap().to_owned();
    assert_eq!(world.sortie(["tasks", "stop", &task]).run().code, 0);
    let ended = live.wait();
    assert_eq!((ended.code, &ended.stdout_json()["status"]), (1, &json!("cancelled")));
    assert_eq!(states(&world), ["cancelled", "cancelled"]);
    assert_eq!(world.sortie(["resume"]).on(&server, "anthropic").run().code, 1, "only by its name");
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
fn a_closed_terminal_interrupts_the_run() {
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
    assert!(list.as_array().unwrap().iter().all(|task| task["status"] == "interrupted"), "{list}");
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
        assert_eq!(states(&world), ["interrupted", "interrupted"], "{tool}");
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
        assert_eq!(states(&world), ["interrupted", "interrupted"]);
        let task = world.tasks(2)[0]["task_id"].as_str().unwrap().to_owned();
        assert_eq!(world.sortie(["tasks", "stop", &task]).run().code, 0);
        assert_eq!(world.sortie(["tasks", "output", &task]).run().stdout, "So far.\n");
    }
}

#[test]
fn a_terminal_closed_with_its_shell_interrupts_the_run() {
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
    while states(&world) != ["interrupted", "interrupted"] {
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
