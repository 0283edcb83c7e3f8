//! A journal that fails during a run, is locked by another program, or is damaged.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::tasks::after_a_run;
use crate::world::{Invocation, World};

/// Server whose answer does not fit on the small disk of these tests.
fn verbose() -> ScriptedServer {
    ScriptedServer::start(Script::always(reply::text("x".repeat(1 << 20)))).unwrap()
}

const SMALL: u32 = 256;

#[test]
fn a_journal_that_fails_during_a_run_is_a_failure_in_the_runs_own_format() {
    let task = ["task", "--description", "d", "--prompt", "p"];
    let json = ["run", "--output-format", "json", "x"];
    let stream = ["run", "--output-format", "stream-json", "x"];
    for args in [&task[..], &json, &stream] {
        let (world, server) = (World::new(), verbose());
        let ended = world.sortie(args).on(&server, "anthropic").on_a_disk_of(SMALL).run();
        assert_eq!(ended.code, 1, "{args:?}: {ended:#?}");
        let outcome: Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
        assert_eq!(outcome["status"], "failed", "{outcome}");
        assert_eq!(outcome["error"]["code"], "journal", "{outcome}");
        assert_eq!(outcome["text"], "");
        assert_eq!(outcome["model"]["id"], "test-model");
        let id = outcome["task_id"].as_str().unwrap();
        let listed = world.sortie(["tasks", "show", id, "--json"]).run().stdout_json();
        assert_eq!(listed["agent"], outcome["agent"]);
        assert_eq!(listed["status"], "interrupted", "it has no recorded end");
        if args == stream {
            let first: Value = serde_json::from_str(ended.stdout.lines().next().unwrap()).unwrap();
            assert_eq!((&first["type"], &outcome["type"]), (&"task_started".into(), &"outcome".into()));
        }
    }
    let (world, server) = (World::new(), verbose());
    let ended = world.sortie(["run", "x"]).on(&server, "anthropic").on_a_disk_of(SMALL).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:#?}");
    assert!(ended.stderr.contains("error: the journal could not be written: "), "{}", ended.stderr);
    let task = world.tasks(1)[0]["task_id"].as_str().unwrap().to_owned();
    assert!(ended.stderr.contains(&format!("hint: `sortie resume {task}` continues it\n")), "{}", ended.stderr);
    let resumed = world.sortie(["resume"]).on(&server, "anthropic").run();
    assert_eq!(resumed.code, 0, "{resumed:#?}");
}

#[test]
fn an_unrecorded_run_is_not_offered_for_resume() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("x"))).unwrap());
    assert_eq!(world.sortie(["run", "x"]).on(&server, "anthropic").run().code, 0);
    // Its first event, with the whole prompt, does not fit.
    let long = "x".repeat(300 << 10);
    let task = ["task", "--json", "-"];
    for (args, stdin) in
        [(&["run", "-"][..], long.clone()), (&task, json!({"description": "d", "prompt": long}).to_string())]
    {
        let ended = world.sortie(args).stdin(stdin).on(&server, "anthropic").on_a_disk_of(SMALL).run();
        assert_eq!((ended.code, world.tasks(0).len()), (1, 1), "{ended:#?}");
        assert!(!ended.stderr.contains("goes on"), "{}", ended.stderr);
    }
}

#[test]
fn a_journal_that_cannot_be_written_from_the_start_is_a_failure_in_the_runs_own_format() {
    let task = ["task", "--description", "d", "--prompt", "p"];
    let run = |format| ["run", "--output-format", format, "x"].to_vec();
    let resume = |format, id| ["resume", id, "--output-format", format, "x"].to_vec();
    let (used, ids) = after_a_run();
    // Nothing at all can be stored; and the directory cannot exist.
    for no_home in [None, Some("/dev/null/state")] {
        let fresh = World::new();
        let mut rows = vec![(&fresh, task.to_vec()), (&fresh, run("json")), (&fresh, run("stream-json"))];
        if no_home.is_none() {
            rows.extend(["json", "stream-json"].map(|format| (&used, resume(format, &ids[0]))));
        }
        for (world, args) in rows {
            let server = ScriptedServer::start(Script::always(reply::text("x"))).unwrap();
            let invocation = world.sortie(&args).on(&server, "anthropic");
            let ended = match no_home {
                Some(home) => invocation.env("SORTIE_HOME", home).run(),
                None => invocation.on_a_disk_of(0).run(),
            };
            assert_eq!((ended.code, ended.stdout.lines().count()), (1, 1), "{args:?}: {ended:#?}");
            let outcome = ended.stdout_json();
            assert_eq!(outcome["status"], "failed", "{args:?}: {outcome}");
            assert_eq!(outcome["error"]["code"], "journal", "{args:?}: {outcome}");
            let kind = if args.contains(&"stream-json") { json!("outcome") } else { Value::Null };
            assert_eq!(outcome["type"], kind, "{args:?}: {outcome}");
            assert_eq!(server.traffic().calls, 0, "no model is asked");
        }
        let text = fresh.sortie(["run", "x"]);
        let ended = match no_home {
            Some(home) => text.env("SORTIE_HOME", home).run(),
            None => text.on_a_disk_of(0).run(),
        };
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:#?}");
        assert!(ended.stderr.contains("error: the journal "), "{}", ended.stderr);
    }
}

/// Runs it until it reports the lock, calls `look`, and unlocks; returns its exit code and output.
fn run_while_locked(invocation: Invocation, lock: rusqlite::Connection, look: impl FnOnce()) -> (Option<i32>, String) {
    let mut command = invocation.into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.starts_with("note: waiting for the journal"), "{line}");
    look();
    drop(lock);
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("waiting"), "said once: {rest}");
    (child.wait().unwrap().code(), stdout)
}

#[test]
fn a_wait_for_a_locked_journal_is_reported_and_ends_with_the_lock() {
    let (world, ids) = after_a_run();
    for args in [["tasks", "list"], ["run", "hello"]] {
        let lock = world.sql();
        lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT").unwrap();
        let (code, stdout) = run_while_locked(world.sortie(args), lock, || {});
        assert_eq!(code, Some(0), "{stdout}");
        assert!(args[0] == "run" || stdout.contains(&ids[0]), "{stdout}");
    }
}

#[test]
fn a_model_is_not_asked_before_the_run_is_in_the_journal() {
    let (world, _) = after_a_run();
    let server = ScriptedServer::start(Script::always(reply::text("done"))).unwrap();
    let lock = world.sql();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let run = world.sortie(["run", "hello"]).on(&server, "anthropic");
    let look = || assert_eq!(server.traffic().calls, 0);
    assert_eq!(run_while_locked(run, lock, look), (Some(0), "done\n".to_owned()));
}

#[test]
fn a_request_that_cannot_be_started_does_not_wait_for_a_locked_journal() {
    let (world, _) = after_a_run();
    let lock = world.sql();
    lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT").unwrap();
    let ended = world.sortie(["run", ""]).run();
    assert_eq!(ended.stderr, "error: the prompt is empty; say what is to be done\n");
}

/// Changes one event of a task behind the journal's back.
pub(crate) fn damage(world: &World, id: &str, kind: &str) {
    let letters = id.strip_prefix("agent-").unwrap();
    let change = "UPDATE events SET time = time + 1 WHERE task = ?1 AND kind = ?2 AND seq > 1";
    assert!(world.sql().execute(change, (letters, kind)).unwrap() > 0);
}

#[test]
fn a_damaged_task_is_shown_as_far_as_it_is_intact() {
    let (world, ids) = after_a_run();
    damage(&world, &ids[0], "task_admitted");
    let shown = world.sortie(["tasks", "show", &ids[0]]).run();
    assert_eq!(shown.code, 1);
    assert!(
        shown.stderr.starts_with(&format!("warning: the log of {} is damaged at event", ids[0])),
        "{}",
        shown.stderr
    );
    for part in ["main completed\n", "QUESTION", "main (test-model)", "Errors are made in", &ids[1], &ids[2]] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    damage(&world, &ids[1], "task_ended");
    let shown = world.sortie(["tasks", "show", &ids[1]]).run();
    assert_eq!(shown.code, 1);
    assert!(shown.stdout.starts_with(&format!("{} explore completed\n", ids[1])), "{}", shown.stdout);
}

#[test]
fn one_damaged_child_does_not_hide_the_others() {
    let (world, ids) = after_a_run();
    damage(&world, &ids[1], "task_ended");
    let shown = world.sortie(["tasks", "show", &ids[0], "--json"]).run();
    assert_eq!(shown.code, 1);
    assert!(shown.stderr.contains(&format!("the log of {} is damaged", ids[1])), "{}", shown.stderr);
    let tree = shown.stdout_json();
    assert_eq!(tree["status"], "completed");
    let [damaged, whole] = tree["children"].as_array().unwrap().as_slice() else { panic!("{tree}") };
    assert_eq!((&damaged["task_id"], &damaged["agent"]), (&ids[1].as_str().into(), &"explore".into()));
    assert_eq!(damaged["error"]["code"], "journal");
    assert!(whole["text"].is_string() && whole.get("error").is_none(), "{whole}");
}
