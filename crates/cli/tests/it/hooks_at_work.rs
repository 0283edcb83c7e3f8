//! Hooks while tasks run: scripts of the user that veto, listen and fail.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::ask::Session;
use crate::background::recorded;
use crate::resume::kill;
use crate::stopping::{begun, waiting};
use crate::world::{Ended, World};

/// Main agent that asks for one sub-agent of each kind, and then reports how it ends.
fn delegating(agents: &[&str]) -> ScriptedServer {
    let task = |agent: &&str| {
        reply::call("Task", json!({"description": "Find it", "prompt": "CHILD", "subagent_type": agent}))
    };
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls(agents.iter().map(task)))
        .on(when::prompt_contains("QUESTION"), reply::text("It is settled."))
        .otherwise(reply::text("The child's report."));
    ScriptedServer::start(script).unwrap()
}

/// World with one hook: a script in the user's home with a file of its own to write to.
pub(crate) fn with_hook(on: &str, script: &str, more: &str) -> World {
    let world = World::new();
    let path = world.write("home/hooks/hook.sh", script);
    world.config(&format!(
        "[[hooks]]\non = \"{on}\"\ncommand = [\"/bin/sh\", \"{}\", \"{}\"]\n{more}\n",
        path.display(),
        world.path("home/told").display()
    ));
    world
}

fn run(world: &World, server: &ScriptedServer, args: &[&str]) -> Ended {
    world.sortie(["run"].iter().chain(args).chain(&["QUESTION"])).on(server, "anthropic").run()
}

/// Events that the hook got, one object a line.
fn told(world: &World) -> Vec<Value> {
    let told = fs::read_to_string(world.path("home/told")).unwrap();
    told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const LISTEN: &str = "cat >> \"$1\"; echo >> \"$1\"\n";

#[test]
fn a_vetoed_sub_agent_does_not_start_and_its_parent_learns_why() {
    let world = with_hook("task_started", "echo 'not on Sundays' >&2; exit 2\n", "agents = [\"explore\"]");
    let server = delegating(&["explore", "general-purpose"]);
    let ended = run(&world, &server, &[]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "It is settled.\n"), "{ended:#?}");
    let requests = server.requests();
    let results = requests.last().unwrap().body["messages"][2]["content"].as_array().unwrap();
    expect!["No sub-agent was started (vetoed): a hook did not let the task start: not on Sundays"]
        .assert_eq(results[0]["content"].as_str().unwrap());
    assert_eq!(results[0]["is_error"], true);
    assert!(results[1]["content"].as_str().unwrap().contains("The child's report."), "{}", results[1]);
    let agents: Vec<Value> = world.tasks(2).iter().map(|task| task["agent"].clone()).collect();
    assert_eq!(agents, ["main", "general-purpose"]);
    assert_eq!(requests.iter().filter(|request| !request.body.to_string().contains("QUESTION")).count(), 1);
}

#[test]
fn a_vetoed_call_has_the_id_that_the_hook_got() {
    let world = with_hook("task_started", &format!("{LISTEN}exit 2\n"), "");
    let call = json!({"description": "d", "prompt": "CHILD", "subagent_type": "Explore"}).to_string();
    let server = ScriptedServer::start(Script::new()).unwrap();
    let ended = world.sortie(["task", "--contract", "typed", "--json", &call]).on(&server, "anthropic").run();
    assert_eq!((ended.code, &ended.stdout_json()["agentId"]), (1, &told(&world)[0]["task_id"]), "{ended:#?}");
}

#[test]
fn a_vetoed_sub_agent_in_the_background_is_refused_at_once() {
    let world = with_hook("task_started", "exit 2\n", "agents = [\"explore\"]");
    let task = json!({
        "description": "d", "prompt": "CHILD", "subagent_type": "explore", "run_in_background": true
    });
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("Task", task)]))
        .otherwise(reply::text("It is settled."));
    let server = ScriptedServer::start(script).unwrap();
    assert_eq!(run(&world, &server, &[]).stdout, "It is settled.\n");
    let last = server.requests().pop().unwrap().body.to_string();
    assert!(last.contains("(vetoed): a hook did not let the task start: `/bin/sh"), "{last}");
    assert!(last.contains("gave no reason"), "{last}");
    assert_eq!(world.tasks(1).len(), 1);
}

#[test]
fn a_vetoed_run_is_rejected_for_people_and_for_programs() {
    let world = with_hook("task_started", "echo 'not on Sundays' >&2; exit 2\n", "");
    let server = delegating(&[]);
    expect![[r"
        exit 1
        --- stderr
        error: a hook did not let the task start: not on Sundays
    "]]
    .assert_eq(&run(&world, &server, &[]).transcript());
    for (format, more) in [("json", ""), ("stream-json", r#""v":1,"type":"outcome","#)] {
        let ended = run(&world, &server, &["--output-format", format]);
        let error = r#"{"code":"vetoed","message":"a hook did not let the task start: not on Sundays"}"#;
        let expected = format!("{{{more}\"status\":\"rejected\",\"error\":{error},\"children\":[]}}\n");
        assert_eq!((ended.code, ended.stdout, ended.stderr), (1, expected, String::new()));
    }
    let request = json!({"description": "d", "prompt": "CHILD", "subagent_type": "explore"}).to_string();
    let task = world.sortie(["task", "--json", &request]).on(&server, "anthropic").run();
    let error = json!({"code": "vetoed", "message": "a hook did not let the task start: not on Sundays"});
    assert_eq!((task.code, task.stdout_json()), (1, json!({"status": "rejected", "error": error})));
    assert_eq!((server.traffic().calls, world.tasks(0)), (0, Vec::new()));
}

#[test]
fn a_run_whose_time_passes_in_a_hook_fails_for_people_and_for_programs() {
    let world = with_hook("task_started", "sleep 600\n", "timeout_seconds = 60");
    let server = delegating(&[]);
    let message = "the time ran out before a hook let the task start";
    let ended = run(&world, &server, &["--timeout", "1"]);
    // A note about the wait may precede it.
    let said = ended.stderr.lines().last().unwrap_or_default();
    assert_eq!((ended.code, ended.stdout.as_str(), said), (1, "", &*format!("error: {message}")), "{}", ended.stderr);
    let (status, error) = ("failed", json!({"code": "timeout", "message": message}));
    for (format, mut expected) in [("json", json!({})), ("stream-json", json!({"type": "outcome", "v": 1}))] {
        let ended = run(&world, &server, &["--timeout", "1", "--output-format", format]);
        for (key, value) in [("children", json!([])), ("error", error.clone()), ("status", json!(status))] {
            expected[key] = value;
        }
        assert_eq!((ended.code, ended.stdout_json()), (1, expected));
    }
    let request = json!({"description": "d", "prompt": "CHILD", "subagent_type": "explore"}).to_string();
    let short = ["task", "--set", "task_tool.default_timeout_seconds=1", "--json", &request];
    let task = world.sortie(short).on(&server, "anthropic").run();
    assert_eq!((task.code, task.stdout_json()), (1, json!({"status": status, "error": error})));
    assert_eq!((server.traffic().calls, world.tasks(0)), (0, Vec::new()));
}

#[test]
fn a_hook_gets_the_ending_with_its_outcome_before_the_program_ends() {
    let world = with_hook("task_ended", LISTEN, "agents = [\"explore\"]");
    let server = delegating(&["explore"]);
    assert_eq!(run(&world, &server, &[]).code, 0);
    let (told, tasks) = (told(&world), world.tasks(2));
    assert_eq!(told.len(), 1);
    assert_eq!(
        (&told[0]["event"], &told[0]["task_id"], &told[0]["parent_id"], &told[0]["depth"], &told[0]["title"]),
        (&json!("task_ended"), &tasks[1]["task_id"], &tasks[0]["task_id"], &json!(1), &json!("Find it"))
    );
    let outcome = &told[0]["outcome"];
    assert_eq!((&outcome["status"], &outcome["text"]), (&json!("completed"), &json!("The child's report.")));
    assert_eq!(outcome["usage"]["turns"], 1);
}

#[test]
fn a_failing_hook_is_reported_and_changes_nothing() {
    let world = with_hook("task_started", "echo broken >&2; exit 1\n", "agents = [\"explore\"]");
    let server = delegating(&["explore"]);
    let ended = run(&world, &server, &["--output-format", "json"]);
    let outcome = ended.stdout_json();
    assert_eq!((ended.code, &outcome["text"]), (0, &json!("It is settled.")), "{ended:#?}");
    let notices = outcome["children"][0]["notices"].to_string();
    assert!(notices.contains("for task_started failed with exit code 1\""), "{notices}");
    let warning = ended.stderr.lines().last().unwrap();
    assert!(warning.ends_with("for task_started failed with exit code 1: broken"), "{}", ended.stderr);

    let world = with_hook("task_ended", "echo broken >&2; exit 2\n", "agents = [\"explore\"]");
    let ended = run(&world, &delegating(&["explore"]), &[]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "It is settled.\n"));
    let warning = ended.stderr.lines().last().unwrap();
    assert!(warning.starts_with("warning: the hook ") && warning.ends_with(": broken"), "{}", ended.stderr);
}

#[test]
fn no_model_reads_the_words_of_a_failed_hook() {
    const KEY: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let script = format!("echo 'POST with token {KEY} failed' >&2; exit 1\n");
    let world = with_hook("task_started", &script, "agents = [\"explore\"]");
    let server = delegating(&["explore", "explore"]);
    let ended = run(&world, &server, &[]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    let read = server.requests().pop().unwrap().body.to_string();
    assert_eq!(read.matches("for task_started failed with exit code 1").count(), 2, "{read}");
    assert!(!read.contains("POST"), "{read}");
    let warning = ended.stderr.lines().last().unwrap();
    let said = "failed with exit code 1: POST with token [redacted: GitHub token] failed (2 times)";
    assert!(warning.starts_with("warning: ") && warning.ends_with(said), "{}", ended.stderr);
    assert!(!ended.stderr.contains(KEY), "{}", ended.stderr);

    let veto = with_hook("task_started", &script.replace("exit 1", "exit 2"), "agents = [\"explore\"]");
    let server = delegating(&["explore"]);
    run(&veto, &server, &[]);
    let read = server.requests().pop().unwrap().body.to_string();
    assert!(read.contains("did not let the task start: POST with token [redacted: GitHub token] failed"), "{read}");
}

#[test]
fn a_hanging_hook_is_ended_and_reported() {
    let world = with_hook("task_started", "sleep 600\n", "timeout_seconds = 1\nagents = [\"explore\"]");
    let ended = run(&world, &delegating(&["explore"]), &["--output-format", "json"]);
    let notices = ended.stdout_json()["children"][0]["notices"].to_string();
    assert!(ended.code == 0 && notices.contains("for task_started was ended after 1s"), "{ended:#?}");
}

#[test]
fn a_signal_ends_the_wait_for_a_slow_start_hook() {
    let world = with_hook("task_started", "echo > \"$1\"; sleep 600\n", "timeout_seconds = 60");
    let server = delegating(&[]);
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    let since = Instant::now();
    while !world.path("home/told").exists() {
        assert!(since.elapsed() < Duration::from_secs(30), "the hook has not begun");
    }
    kill_process(Pid::from_child(&live.child), Signal::INT).unwrap();
    let ended = live.wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (130, ""));
    let said: Vec<&str> = ended.stderr.lines().rev().take(2).collect();
    assert!(
        said[1].starts_with("note: the hook `") && said[1].ends_with("for task_started was ended early"),
        "{said:?}"
    );
    assert_eq!(said[0], "error: the task was interrupted before it began");
    assert_eq!((server.traffic().calls, world.tasks(0)), (0, Vec::new()));
}

#[test]
fn a_start_that_waits_for_a_hook_says_so() {
    let world = with_hook("task_started", "cat \"$1\"\n", "timeout_seconds = 60");
    mkfifoat(CWD, world.path("home/told"), Mode::RUSR | Mode::WUSR).unwrap();
    let server = ScriptedServer::start(Script::always(reply::text("It is settled."))).unwrap();
    let mut session = Session::start(world.sortie(["run", "QUESTION"]).on(&server, "anthropic"));
    session.sees("note: waiting for 1 hook (Ctrl-C: do not wait)");
    fs::write(world.path("home/told"), "now").unwrap();
    assert_eq!(session.ends(), (0, "It is settled.\n".to_owned()));
}

#[test]
fn a_completed_run_stays_completed_if_its_last_hook_is_not_awaited() {
    let world = with_hook("task_ended", "sleep 600\n", "timeout_seconds = 60");
    let server = ScriptedServer::start(Script::always(reply::text("It is settled."))).unwrap();
    let mut session = Session::start(world.sortie(["run", "QUESTION"]).on(&server, "anthropic"));
    session.sees("note: waiting for 1 hook (Ctrl-C: do not wait)");
    kill_process(Pid::from_child(&session.child), Signal::INT).unwrap();
    session.sees("for task_ended was ended early");
    assert_eq!(session.ends(), (0, "It is settled.\n".to_owned()));
}

#[test]
fn a_second_signal_does_not_wait_for_the_hooks_of_an_interrupted_run() {
    let world = with_hook("task_ended", "echo > \"$1\"; sleep 600\n", "timeout_seconds = 60\nagents = [\"explore\"]");
    let delegate = json!({"description": "Find it", "prompt": "CHILD", "subagent_type": "explore"});
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", delegate)]))
        .on(when::prompt_contains("QUESTION"), reply::never())
        .otherwise(reply::text("The child's report."));
    let server = ScriptedServer::start(script).unwrap();
    let mut session = Session::start(world.sortie(["run", "QUESTION"]).on(&server, "anthropic"));
    let since = Instant::now();
    while !world.path("home/told").exists() {
        assert!(since.elapsed() < Duration::from_secs(30), "the hook has not begun");
    }
    kill_process(Pid::from_child(&session.child), Signal::INT).unwrap();
    session.sees("note: waiting for 1 hook (Ctrl-C: do not wait)");
    kill_process(Pid::from_child(&session.child), Signal::INT).unwrap();
    session.sees("for task_ended was ended early");
    assert_eq!(session.ends(), (130, String::new()));
}

#[test]
fn hooks_run_for_the_endings_that_a_stop_writes() {
    // Written in one piece: both hooks run at once.
    let world = with_hook("task_ended", "told=$(cat); echo \"$told\" >> \"$1\"\n", "");
    let server = waiting();
    let (owner, ids) = begun(&world, &server);
    kill(owner);
    let ended = world.sortie(["tasks", "stop", &ids[0]]).run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    let mut told: Vec<(Value, Value)> =
        told(&world).iter().map(|told| (told["task_id"].clone(), told["outcome"]["status"].clone())).collect();
    told.sort_by_key(|(task, _)| ids.iter().position(|id| task == id));
    assert_eq!(told, [(json!(ids[0]), json!("cancelled")), (json!(ids[1]), json!("cancelled"))]);
}

#[test]
fn a_hook_and_its_processes_end_with_a_killed_run() {
    let world = with_hook("task_started", "exec 9> \"$1\"; echo runs >&9; sleep 20; echo late >&9\n", "");
    mkfifoat(CWD, world.path("home/told"), Mode::RUSR | Mode::WUSR).unwrap();
    let live = world.sortie(["run", "QUESTION"]).on(&delegating(&[]), "anthropic").start();
    let mut told = BufReader::new(File::open(world.path("home/told")).unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert_eq!(line, "runs\n");
    kill(live);
    // Ends once its last writer has gone.
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn a_hook_gets_a_question_while_it_is_asked() {
    let world = with_hook("task_asks", LISTEN, "");
    let write = reply::call("Write", json!({"file_path": "notes.md", "content": "hello\n"}));
    let script = Script::new().on(when::turn(0), reply::calls([write])).otherwise(reply::text("done"));
    let server = ScriptedServer::start(script).unwrap();
    let mut session = Session::start(world.sortie(["run", "WRITE"]).on(&server, "anthropic"));
    session.sees("[n]o (and why) ");
    session.types("n\n");
    assert_eq!(session.ends().0, 0);
    let told = told(&world);
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0]["event"], &told[0]["tool"]), (&json!("task_asks"), &json!("Write")));
    assert_eq!(told[0]["arguments"]["file_path"], "notes.md");
    assert!(told[0]["rules"].to_string().contains("notes.md"), "{}", told[0]);
}

#[test]
fn a_hook_gets_an_agents_own_question_like_any_other_call() {
    let world = with_hook("task_asks", LISTEN, "");
    let task = reply::call("Task", json!({"description": "Ask", "prompt": "CHILD"}));
    let ask = reply::call("Ask", json!({"question": "42", "to": "person"}));
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([task]))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls([ask]))
        .otherwise(reply::text("done"));
    let server = ScriptedServer::start(script).unwrap();
    let mut session = Session::start(world.sortie(["run", "QUESTION"]).on(&server, "anthropic"));
    session.sees("Ctrl-D: no answer) ");
    session.types("yes\n");
    assert_eq!(session.ends().0, 0);
    let told = told(&world);
    assert_eq!((&told[0]["tool"], &told[0]["arguments"]), (&json!("Ask"), &json!({"question": "42"})));
}

#[test]
fn a_run_that_is_left_waits_for_the_hooks_that_run() {
    let world = with_hook("task_ended", "echo began >> \"$1\"; sleep 2; echo done >> \"$1\"\n", "");
    let task = |prompt: &str| {
        let arguments = json!({"description": "Find it", "prompt": prompt, "run_in_background": true});
        reply::call("Task", arguments)
    };
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([task("FIRST"), task("SECOND")]))
        // Until then the first one has ended.
        .on(when::prompt_contains("QUESTION").turn(1), reply::text("Parked.").held_by("main"))
        .on(when::prompt_contains("QUESTION"), reply::text("Parked again."))
        .on(when::prompt_contains("FIRST"), reply::text("The first report."))
        .otherwise(reply::never());
    let server = ScriptedServer::start(script).unwrap();
    let live = world.sortie(["run", "--detach", "QUESTION"]).on(&server, "anthropic").start();
    recorded(&world, "task_ended", 1);
    // Its parent has the report before its hook begins.
    let since = Instant::now();
    while !fs::read_to_string(world.path("home/told")).is_ok_and(|told| told.contains("began")) {
        assert!(since.elapsed() < Duration::from_secs(30), "the hook does not begin");
    }
    server.gate("main").open();
    let ended = live.wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Parked again.\n"), "{ended:#?}");
    assert_eq!(fs::read_to_string(world.path("home/told")).unwrap(), "began\ndone\n");
}

#[test]
fn a_hook_finds_the_state_and_the_settings_of_the_program_that_runs_it() {
    let script = "echo \"$SORTIE_HOME $XDG_STATE_HOME $XDG_CONFIG_HOME\" > \"$1\"\n";
    let world = with_hook("task_ended", script, "");
    let (state, config) = (world.path("other-state"), world.path("home/.config"));
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let run = world.sortie(["run", "QUESTION"]).on(&server, "anthropic");
    let ended = run.env("XDG_STATE_HOME", &state).env("XDG_CONFIG_HOME", &config).run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    let told = fs::read_to_string(world.path("home/told")).unwrap();
    assert_eq!(told, format!("{} {} {}\n", world.path("state").display(), state.display(), config.display()));
}
