//! `sortie resume` after a real end of the process: killed, stopped, by a limit; and refusals.

use std::fs;
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::ask::Session;
use crate::journal::damage;
use crate::older::make_older;
use crate::stopping::{begun, waiting};
use crate::world::{Ended, Live, World, wait_for};

pub(crate) fn send(live: &Live, signal: Signal) {
    kill_process(Pid::from_child(&live.child), signal).unwrap();
}

pub(crate) fn kill(live: Live) {
    send(&live, Signal::KILL);
    assert_eq!(live.wait().code, 137);
}

pub(crate) fn id(task: &Value) -> String {
    task["task_id"].as_str().unwrap().to_owned()
}

pub(crate) fn states(world: &World) -> Vec<String> {
    world.tasks(0).iter().map(|task| task["status"].as_str().unwrap().to_owned()).collect()
}

/// Newest fact of a kind, once there is one: background work is on disk a moment later.
pub(crate) fn recorded(world: &World, kind: &str) -> Value {
    let since = Instant::now();
    loop {
        let query = "SELECT body FROM events WHERE kind = ?1 ORDER BY position DESC";
        if let Ok(body) = world.sql().query_row(query, [kind], |row| row.get::<_, String>(0)) {
            return serde_json::from_str(&body).unwrap();
        }
        assert!(since.elapsed() < Duration::from_secs(30), "{kind} is not recorded");
    }
}

/// Last request of the agent with this prompt.
pub(crate) fn last_sent(server: &ScriptedServer, prompt: &str) -> String {
    let requests = server.requests();
    let asked = requests.iter().rev().find(|request| request.body["messages"][0].to_string().contains(prompt));
    asked.unwrap_or_else(|| panic!("nobody was asked {prompt}")).body["messages"].to_string()
}

/// Main agent whose child makes one call and is then held.
pub(crate) fn held_child(call: (&str, Value)) -> Script {
    let delegate = json!({"description": "Work", "prompt": "CHILD works", "subagent_type": "general-purpose"});
    Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", delegate)]))
        .on(when::prompt_contains("QUESTION"), reply::text("All done."))
        .on(when::turn(0), reply::calls([reply::call(call.0, call.1)]))
        .otherwise(reply::text("The child's report.").held_by("child"))
}

#[test]
fn a_killed_run_resumes_with_its_child_and_repeats_nothing() {
    for wire in ["anthropic", "openai-chat"] {
        let world = World::new();
        let write = json!({"file_path": "out.txt", "content": "once"});
        let server = ScriptedServer::start(held_child(("Write", write))).unwrap();
        let args = ["run", "--allow", "Write", "QUESTION"];
        let live = world.sortie(args).on(&server, wire).start();
        wait_for(&server, |traffic| traffic.calls >= 3);
        recorded(&world, "call_finished");
        kill(live);
        assert_eq!(states(&world), ["interrupted", "interrupted"]);
        fs::write(world.path("workspace/out.txt"), "changed since").unwrap();
        server.gate("child").open();
        let ended = world.sortie(["resume", "--allow", "Write", "--output-format", "json"]).on(&server, wire).run();
        let outcome = ended.stdout_json();
        assert_eq!((ended.code, &outcome["text"]), (0, &json!("All done.")), "{ended:#?}");
        assert_eq!(outcome["children"][0]["text"], "The child's report.");
        assert_eq!(outcome["children"][0]["files_changed"], json!(["out.txt"]), "what it did before counts");
        assert_eq!(fs::read_to_string(world.path("workspace/out.txt")).unwrap(), "changed since");
        assert_eq!(server.traffic().calls, 5, "the call that was under way was made again, and one more");
        assert_eq!(states(&world), ["completed", "completed"]);
        let nothing = world.sortie(["resume"]).on(&server, wire).run();
        assert_eq!(nothing.code, 1);
        assert!(nothing.stderr.starts_with("error: no task of this project was interrupted\n"), "{}", nothing.stderr);
    }
}

#[test]
fn an_older_task_than_the_newest_one_is_resumed_only_after_a_yes() {
    let world = World::new();
    let read = json!({"file_path": "src/auth.rs"});
    let server = ScriptedServer::start(held_child(("Read", read))).unwrap();
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 3);
    recorded(&world, "call_finished");
    kill(live);
    server.gate("child").open();
    let older = id(&world.tasks(2)[0]);
    assert_eq!(world.sortie(["run", "hello"]).run().code, 0);
    let newer = id(&world.tasks(3)[2]);
    let question = format!("Resume {older}, interrupted: QUESTION? [y/N] ");
    let mut session = Session::start(world.sortie(["resume"]).on(&server, "anthropic"));
    let asked = session.sees(&question);
    assert!(asked.contains(&format!("The newest task here is {newer}, completed: hello.")), "{asked}");
    session.types("n\n");
    session.sees("error: nothing was resumed");
    assert_eq!(session.ends().0, 1);
    assert_eq!(server.traffic().calls, 3, "no model was asked");
    let mut session = Session::start(world.sortie(["resume"]).on(&server, "anthropic"));
    session.sees(&question);
    session.types("y\n");
    assert_eq!(session.ends().0, 0);
    assert_eq!(states(&world), ["completed"; 3]);
}

/// World with named pipes, over which a command reports that it runs and then waits forever.
pub(crate) fn with_pipes() -> World {
    let world = World::new();
    for name in ["running", "never"] {
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, world.path(&format!("workspace/{name}")), FileType::Fifo, mode, 0).unwrap();
    }
    world
}

/// Opens the second pipe at both ends, so that reading blocks forever.
pub(crate) const COMMAND: &str = "echo begun >> log.txt; exec 3<>never; echo now > running; cat <&3";

/// Main agent that runs a command which does not end.
pub(crate) fn commanding(in_background: bool) -> ScriptedServer {
    let arguments = json!({"command": COMMAND, "run_in_background": in_background});
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("Bash", arguments)]))
        .on(when::last_contains("unknown"), reply::text("I looked."))
        .otherwise(reply::text("It runs.").held_by("model"));
    ScriptedServer::start(script).unwrap()
}

/// Waits until the command runs.
pub(crate) fn wait_for_command(world: &World) {
    assert_eq!(fs::read_to_string(world.path("workspace/running")).unwrap(), "now\n");
}

/// True if somebody has the pipe open that nobody writes to.
pub(crate) fn runs(world: &World) -> bool {
    open(world.path("workspace/never"), OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()).is_ok()
}

/// Keeper process of the command, by the log.
fn keeper(world: &World) -> Pid {
    let pid = recorded(world, "process_started")["pid"].as_i64().unwrap();
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

/// True if the process has not ended; a zombie has.
fn lives(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

#[test]
fn an_interrupted_command_is_not_repeated_and_the_model_learns_of_it() {
    let (world, server) = (with_pipes(), commanding(false));
    let live = world.sortie(["run", "--allow", "Bash", "QUESTION"]).on(&server, "anthropic").start();
    wait_for_command(&world);
    kill(live);
    let ended = world.sortie(["resume", "--allow", "Bash"]).on(&server, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "I looked.\n"), "{ended:#?}");
    assert_eq!(fs::read_to_string(world.path("workspace/log.txt")).unwrap(), "begun\n");
    assert!(last_sent(&server, "QUESTION").contains("unknown: the program was stopped while this Bash call ran"));
    assert!(!runs(&world));
}

#[test]
fn leftovers_of_a_killed_process_end_before_its_task_is_resumed_or_stopped() {
    for (in_background, command) in [(false, "resume"), (true, "resume"), (false, "stop")] {
        let (world, server) = (with_pipes(), commanding(in_background));
        let live = world.sortie(["run", "--allow", "Bash", "QUESTION"]).on(&server, "anthropic").start();
        wait_for_command(&world);
        if in_background {
            wait_for(&server, |traffic| traffic.calls >= 2);
        }
        let keeper = keeper(&world);
        // A keeper that cannot end by itself any more.
        kill_process(keeper, Signal::STOP).unwrap();
        kill(live);
        assert!(runs(&world), "or else there is nothing to see");
        server.gate("model").open();
        let task = id(&world.tasks(1)[0]);
        let ended = match command {
            "stop" => world.sortie(["tasks", "stop", &task]).run(),
            _ => world.sortie(["resume", "--allow", "Bash"]).on(&server, "anthropic").run(),
        };
        assert_eq!(ended.code, 0, "{ended:#?}");
        // The kernel ends everything in the walls of a killed keeper, shortly after.
        let since = Instant::now();
        while runs(&world) {
            assert!(since.elapsed() < Duration::from_secs(10), "{in_background} {command}");
        }
        assert!(!lives(keeper), "{in_background} {command}");
    }
}

#[test]
fn a_running_task_is_refused_to_others_even_while_its_process_is_stopped() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done.").held_by("model"))).unwrap();
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 1);
    let (task, pid) = (id(&world.tasks(1)[0]), live.child.id());
    let refused = |ended: Ended| {
        let said = format!("error: {task} is still running, in process {pid}; wait for it, or stop it first\n");
        assert_eq!((ended.code, ended.stderr), (1, said));
    };
    refused(world.sortie(["resume", &task, "More"]).on(&server, "anthropic").run());
    send(&live, Signal::STOP);
    refused(world.sortie(["tasks", "resume", &task]).on(&server, "anthropic").run());
    send(&live, Signal::CONT);
    server.gate("model").open();
    assert_eq!(live.wait().code, 0);
    assert_eq!(server.traffic().calls, 1);
}

#[test]
fn a_child_that_its_parent_waits_for_resumes_only_with_the_root() {
    let world = World::new();
    let server = ScriptedServer::start(held_child(("LS", json!({})))).unwrap();
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 3);
    let tasks = world.tasks(2);
    kill(live);
    let (root, child) = (id(&tasks[0]), id(&tasks[1]));
    let ended = world.sortie(["resume", &child]).on(&server, "anthropic").run();
    let said = format!("{child} works for {root}, which waits for it; resume {root}, and it resumes with it");
    assert_eq!((ended.code, ended.stderr), (1, format!("error: {said}\nhint: sortie resume {root}\n")));
    server.gate("child").open();
    assert_eq!(world.sortie(["resume", &root]).on(&server, "anthropic").run().code, 0);
    let script = Script::always(reply::text("More of it."));
    let followed = ScriptedServer::start(script).unwrap();
    let ended = world.sortie(["resume", &child, "And more?"]).on(&followed, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "More of it.\n"), "{ended:#?}");
    assert!(last_sent(&followed, "CHILD works").contains("And more?"));
}

#[test]
fn a_task_resumes_only_in_its_own_workspace() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    fs::create_dir_all(world.path("elsewhere/.git")).unwrap();
    let task = id(&world.tasks(1)[0]);
    for command in [&["resume", &task, "More"][..], &["tasks", "retry", &task]] {
        let ended = world.sortie(command).cwd(world.path("elsewhere")).on(&server, "anthropic").run();
        assert_eq!(ended.code, 2, "{ended:#?}");
        let workspace = world.path("workspace").display().to_string();
        assert!(ended.stderr.contains(&workspace), "{}", ended.stderr);
    }
    assert_eq!(server.traffic().calls, 1);
}

#[test]
fn after_a_signal_the_run_shows_how_to_resume_and_a_bare_resume_finds_it() {
    let world = World::new();
    let held = || ScriptedServer::start(Script::always(reply::text("Done.").held_by("model"))).unwrap();
    let begin = |server: &ScriptedServer, prompt: &str| {
        let live = world.sortie(["run", prompt]).on(server, "anthropic").start();
        wait_for(server, |traffic| traffic.calls >= 1);
        live
    };
    let (first, second, third) = (held(), held(), held());
    let (early, late, stopped) = (begin(&first, "FIRST"), begin(&second, "SECOND"), begin(&third, "THIRD"));
    let ids: Vec<String> = world.tasks(3).iter().map(id).collect();
    send(&late, Signal::TERM);
    assert_eq!(late.wait().code, 143);
    // An interruption writes nothing, so the task that began second was active last.
    send(&early, Signal::INT);
    let ended = early.wait();
    assert_eq!(ended.code, 130);
    let hint = format!("warning: interrupted\nhint: `sortie resume {}` continues it\n", ids[0]);
    assert!(ended.stderr.contains(&hint), "{}", ended.stderr);
    assert_eq!(world.sortie(["tasks", "stop", &ids[2]]).run().code, 0);
    assert_eq!(stopped.wait().code, 1);

    for (server, task, title) in [(&second, &ids[1], "SECOND"), (&first, &ids[0], "FIRST")] {
        server.gate("model").open();
        let ended = world.sortie(["resume"]).on(server, "anthropic").run();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "Done.\n"), "{ended:#?}");
        let said = format!("note: resuming {task}, interrupted: {title}\n");
        let newest = format!("{said}note: the newest task here is {}, cancelled: THIRD\n", ids[2]);
        assert!(ended.stderr.starts_with(&newest), "{}", ended.stderr);
    }
    third.gate("model").open();
    assert_eq!(world.sortie(["resume"]).on(&third, "anthropic").run().code, 1, "only by its name");
    assert_eq!(world.sortie(["resume", &ids[2]]).on(&third, "anthropic").run().stdout, "Done.\n");
}

#[test]
fn a_follow_up_to_an_interrupted_task_comes_after_its_open_calls() {
    let (world, server) = (with_pipes(), commanding(false));
    let live = world.sortie(["run", "--allow", "Bash", "QUESTION"]).on(&server, "anthropic").start();
    wait_for_command(&world);
    kill(live);
    let task = id(&world.tasks(1)[0]);
    let answer = ScriptedServer::start(Script::always(reply::text("I looked."))).unwrap();
    let args = ["resume", &task, "Look first", "--allow", "Bash"];
    let ended = world.sortie(args).on(&answer, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "I looked.\n"), "{ended:#?}");
    let sent = last_sent(&answer, "QUESTION");
    let (settled, said) = (sent.find("unknown: ").unwrap(), sent.find("Look first").unwrap());
    assert!(settled < said, "{sent}");
}

#[test]
fn a_follow_up_can_come_from_stdin_and_a_blank_one_is_wrong_usage() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    let task = id(&world.tasks(1)[0]);
    for (prompt, stdin) in [("", ""), (" \n", ""), ("-", " \n")] {
        let ended = world.sortie(["resume", &task, prompt]).stdin(stdin).on(&server, "anthropic").run();
        assert_eq!(ended.code, 2, "{ended:#?}");
        assert!(ended.stderr.starts_with("error: the prompt is empty\n"), "{}", ended.stderr);
    }
    assert_eq!(server.traffic().calls, 1);
    let ended = world.sortie(["resume", &task, "-"]).stdin("MORE of it\n").on(&server, "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(last_sent(&server, "QUESTION").contains("MORE of it"));
}

#[test]
fn resumed_sub_agents_keep_their_titles_and_each_ending_is_shown_once() {
    let world = World::new();
    let write = json!({"file_path": "out.txt", "content": "once"});
    let server = ScriptedServer::start(held_child(("Write", write))).unwrap();
    let live = world.sortie(["run", "--allow", "Write", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 3);
    recorded(&world, "call_finished");
    kill(live);
    server.gate("child").open();
    let args = ["resume", "--allow", "Write", "--show", "line"];
    expect![[r#"
        exit 0
        --- stdout
        All done.
        --- stderr
        note: resuming agent-1___________, interrupted: QUESTION
        ○ Delegating task to sub-agent... Work · general-purpose agent-2___________ · main (test-model)
        ● Sub-agent completed: Work · general-purpose agent-2___________ · 1 call · <n>k tokens · <t>s
        changed: out.txt
        agent-1___________ completed · main (test-model) · 2 calls · <n>k tokens · <t>s
    "#]]
    .assert_eq(&world.sortie(args).on(&server, "anthropic").run().transcript());
    let child = id(&world.tasks(2)[1]);
    let more = ScriptedServer::start(Script::always(reply::text("More of it."))).unwrap();
    let args = ["resume", &child, "More", "--allow", "Write", "--show", "line"];
    expect![[r#"
        exit 0
        --- stdout
        More of it.
        --- stderr
        changed: out.txt
        agent-1___________ completed · main (test-model) · 1 call · <n>k tokens · <t>s
    "#]]
    .assert_eq(&world.sortie(args).on(&more, "anthropic").run().transcript());
}

#[test]
fn an_old_task_resumes_with_a_note_about_its_age() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    make_older(&world, 9);
    let task = id(&world.tasks(1)[0]);
    let ended = world.sortie(["resume", &task, "More"]).on(&server, "anthropic").run();
    let said = format!("note: {task} was last active 9 days ago; much may have changed since\n");
    assert!(ended.code == 0 && ended.stderr.starts_with(&said), "{ended:#?}");
    let again = world.sortie(["resume", &task, "More"]).on(&server, "anthropic").run();
    assert!(!again.stderr.contains("days ago"), "{}", again.stderr);
}

#[test]
fn a_task_that_was_started_with_walls_around_its_commands_keeps_them() {
    let world = World::new();
    let outside = world.path("outside.txt");
    let line = json!({"command": format!("echo out > {}", outside.display()), "description": "Writes"});
    let script = Script::new()
        .on(when::last_contains("MORE"), reply::calls([reply::call("Bash", line)]))
        .otherwise(reply::text("Done."));
    let server = ScriptedServer::start(script).unwrap();
    let started = |flags: &[&str]| {
        let args = [&["run", "--allow", "Bash", "--output-format", "json", "QUESTION"], flags].concat();
        id(&world.sortie(args).on(&server, "anthropic").run().stdout_json())
    };
    let resumed = |task: &str| {
        let flags = ["--allow", "Bash", "--unconfined", "--output-format", "json"];
        let args = [&["resume", task, "MORE"][..], &flags].concat();
        world.sortie(args).on(&server, "anthropic").run().stdout_json()["notices"].to_string()
    };
    let notices = resumed(&started(&[]));
    assert!(notices.contains("this task was started with walls around its commands, and keeps them"), "{notices}");
    assert!(!outside.exists(), "{notices}");
    let notices = resumed(&started(&["--unconfined"]));
    assert!(notices.contains("commands ran without walls"), "{notices}");
    assert!(outside.exists(), "as it was started");
}

#[test]
fn a_child_with_a_damaged_log_is_reported_as_started() {
    let (world, server) = (World::new(), waiting());
    let (owner, ids) = begun(&world, &server);
    recorded(&world, "model_called");
    kill(owner);
    damage(&world, &ids[1], "task_admitted");
    server.gate("model").open();
    let ended = world.sortie(["resume", &ids[0]]).on(&server, "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    let answer = recorded(&world, "call_finished")["for_model"].as_str().unwrap().to_owned();
    assert!(answer.starts_with(&format!("{} general-purpose failed", ids[1])), "{answer}");
    assert!(answer.contains("could not resume") && answer.contains("is damaged"), "{answer}");
}
