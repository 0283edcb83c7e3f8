//! `sortie tasks output`, `retry` and `prune`, and the automatic removal of old tasks.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use expect_test::expect;
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::older::make_older;
use crate::resume::{id, kill, recorded};
use crate::tasks::after_a_run;
use crate::world::{World, wait_for};

fn ids(world: &World) -> Vec<Value> {
    world.tasks(0).iter().map(|task| task["task_id"].clone()).collect()
}

#[test]
fn the_output_is_the_newest_report_alone_and_whole() {
    let world = World::new();
    let report = "Line after line.\n".repeat(4000);
    let server = ScriptedServer::start(Script::always(reply::text(&report))).unwrap();
    let args = ["task", "--description", "Look", "--prompt", "CHILD"];
    let task = world.sortie(args).on(&server, "anthropic").run().stdout_json();
    assert_eq!(task["truncated"], true);
    let id = task["task_id"].as_str().unwrap();
    let output = world.sortie(["tasks", "output", &id["agent-".len()..]]).run();
    assert_eq!((output.code, output.stdout == report), (0, true));
    let json = world.sortie(["tasks", "output", id, "--json"]).run().stdout_json();
    assert_eq!((&json["text"], &json["task_id"], json.get("truncated")), (&json!(report), &json!(id), None));
    let newer = ScriptedServer::start(Script::always(reply::text("Short."))).unwrap();
    world.sortie(["tasks", "resume", id, "Shorter, please"]).on(&newer, "anthropic").run();
    assert_eq!(world.sortie(["tasks", "output", id]).run().stdout, "Short.\n");
}

#[test]
fn a_missing_or_incomplete_output_is_reported() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("x".repeat(20_000)))).unwrap();
    let args = ["task", "--description", "Look", "--prompt", "CHILD"];
    let task = world.sortie(args).on(&server, "anthropic").run().stdout_json();
    fs::remove_file(task["full_text_path"].as_str().unwrap()).unwrap();
    let cut = world.sortie(["tasks", "output", task["task_id"].as_str().unwrap()]).run();
    assert_eq!((cut.code, cut.stdout.trim_end()), (1, task["text"].as_str().unwrap()));
    assert!(cut.stderr.starts_with("warning: only part of the report is available: "), "{}", cut.stderr);

    let server = ScriptedServer::start(Script::always(reply::never())).unwrap();
    let mut live = world.sortie(args).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 1);
    let running = world.tasks(2)[1]["task_id"].as_str().unwrap().to_owned();
    expect![[r#"
        exit 1
        --- stderr
        error: agent-1___________ has no report: running
        hint: `sortie tasks show agent-1___________` shows what it has done so far
    "#]]
    .assert_eq(&world.sortie(["tasks", "output", &running]).run().transcript());
    live.child.kill().unwrap();
    live.wait();
}

#[test]
fn the_output_of_a_task_without_text_is_its_ending_and_the_reason() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::status(400))).unwrap();
    let failed = world.sortie(["run", "QUESTION", "--output-format", "json"]).on(&server, "anthropic").run();
    let outcome = failed.stdout_json();
    assert_eq!((&outcome["status"], &outcome["text"]), (&json!("failed"), &json!("")));
    let ended = world.sortie(["tasks", "output", outcome["task_id"].as_str().unwrap()]).run();
    let why = outcome["error"]["message"].as_str().unwrap();
    let said =
        format!("error: {} has no report: failed: {why} (model_bad_request)\n", outcome["task_id"].as_str().unwrap());
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:#?}");
    assert!(ended.stderr.starts_with(&said), "{ended:#?}");
    let json = world.sortie(["tasks", "output", outcome["task_id"].as_str().unwrap(), "--json"]).run();
    assert_eq!((json.code, &json.stdout_json()["error"]), (0, &outcome["error"]));
}

#[test]
fn a_retry_repeats_the_request_in_a_new_task() {
    let (world, ids_before) = after_a_run();
    let server = ScriptedServer::start(Script::always(reply::text("Again."))).unwrap();
    for (old, prompt, agent) in [(&ids_before[0], "QUESTION", "main"), (&ids_before[1], "", "explore")] {
        let args = ["tasks", "retry", old, "--output-format", "json"];
        let outcome = world.sortie(args).on(&server, "anthropic").run().stdout_json();
        assert_eq!((&outcome["text"], &outcome["agent"]), (&json!("Again."), &json!(agent)));
        assert_eq!(outcome["model"]["id"], "test-model");
        assert!(!ids_before.iter().any(|id| outcome["task_id"] == id.as_str()));
        let sent = server.requests().last().unwrap().body["messages"].clone();
        assert_eq!(sent.as_array().unwrap().len(), 1, "a clean context");
        assert!(sent.to_string().contains(prompt));
    }
    assert_eq!(ids(&world).len(), ids_before.len() + 2);
}

#[test]
fn pruning_shows_what_would_go_and_removes_it_with_its_reports() {
    let (world, tree) = after_a_run();
    let server = ScriptedServer::start(Script::always(reply::text("y".repeat(20_000)))).unwrap();
    let args = ["task", "--description", "Look", "--prompt", "CHILD"];
    let long = world.sortie(args).on(&server, "anthropic").run().stdout_json();
    let reports = || fs::read_dir(world.path("state/reports")).unwrap().count();
    assert_eq!(reports(), 1);
    assert_eq!(world.sortie(["tasks", "prune"]).run().stdout, "0 tasks removed: 0 events, 0 bytes\n");
    let dry = world.sortie(["tasks", "prune", "--older-than", "0d", "--dry-run"]).run();
    assert!(dry.stdout.ends_with("\n4 tasks would be removed\n"), "{}", dry.stdout);
    assert!(tree.iter().all(|id| dry.stdout.contains(id)), "{}", dry.stdout);
    let json = world.sortie(["tasks", "prune", "--older-than", "0d", "--dry-run", "--json"]).run().stdout_json();
    assert_eq!(json["would_remove"][3], long["task_id"]);
    assert_eq!((ids(&world).len(), reports()), (4, 1), "nothing has gone");

    let stuck = ScriptedServer::start(Script::always(reply::never())).unwrap();
    let mut live = world.sortie(args).on(&stuck, "anthropic").start();
    wait_for(&stuck, |traffic| traffic.calls >= 1);
    assert_eq!(world.tasks(5).len(), 5);
    let pruned = world.sortie(["tasks", "prune", "--older-than", "0s", "--json"]).run().stdout_json();
    assert_eq!((&pruned["tasks"], &pruned["removed"].as_array().unwrap().len()), (&json!(4), &4));
    assert!(tree.iter().all(|id| pruned["removed"].as_array().unwrap().contains(&json!(id))), "{pruned}");
    assert_eq!((ids(&world).len(), reports()), (1, 0), "the one that runs stays");
    live.child.kill().unwrap();
    live.wait();
    assert_eq!(world.sortie(["tasks", "prune", "--older-than", "0d", "--json"]).run().stdout_json()["tasks"], 0);
    assert_eq!(ids(&world).len(), 1, "and so does one that was interrupted");
}

#[test]
fn long_outputs_go_with_their_task_and_other_files_stay() {
    let world = World::new();
    let loud = reply::calls([reply::call("Bash", json!({"command": "seq 20000"}))]);
    let server = ScriptedServer::start(Script::new().on(when::turn(0), loud).otherwise(reply::text("Done."))).unwrap();
    let run = || world.sortie(["run", "--allow", "Bash", "QUESTION"]).on(&server, "anthropic").run();
    assert_eq!(run().code, 0);
    make_older(&world, 31);
    assert_eq!(run().code, 0);
    let (old, new) = (ids(&world)[0].clone(), ids(&world)[1].clone());
    let (old, new) = (old.as_str().unwrap(), new.as_str().unwrap());
    let reports = world.path("state/reports");
    let outside = world.write("outside.txt", "not ours");
    symlink(&outside, reports.join(format!("{old}-0123456789abcdef.txt"))).unwrap();
    fs::write(reports.join(format!("{old}-notes.txt")), "a person's").unwrap();
    fs::write(reports.join("taken-hook-0123456789abcdef.txt"), "a command's").unwrap();
    let names = || -> Vec<String> {
        let entries = fs::read_dir(&reports).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        entries.map(|name| name.replace(old, "old").replace(new, "new")).map(|name| name[..9].to_owned()).collect()
    };
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    assert_eq!(sorted(names()), ["new-outpu", "old-01234", "old-notes", "old-outpu", "taken-hoo"]);
    let pruned = world.sortie(["tasks", "prune"]).run();
    assert!(pruned.code == 0 && pruned.stdout.starts_with("1 task removed"), "{pruned:#?}");
    assert_eq!(sorted(names()), ["new-outpu", "old-01234", "old-notes", "taken-hoo"]);
    assert_eq!(fs::read_to_string(outside).unwrap(), "not ours");
}

#[test]
fn no_task_is_removed_if_the_files_cannot_be_listed() {
    let (world, _) = after_a_run();
    let reports = world.path("state/reports");
    fs::rename(&reports, world.path("elsewhere")).unwrap();
    symlink(world.path("elsewhere"), &reports).unwrap();
    let refused = world.sortie(["tasks", "prune", "--older-than", "0d"]).run();
    assert!(refused.code == 1 && refused.stderr.contains("state/reports could not be opened"), "{refused:#?}");
    assert_eq!(ids(&world).len(), 3);
    fs::remove_file(&reports).unwrap();
    let pruned = world.sortie(["tasks", "prune", "--older-than", "0d"]).run();
    assert!(pruned.stdout.starts_with("3 tasks removed"), "one that is not there has nothing: {pruned:#?}");
    assert!(!reports.exists());
}

#[test]
fn old_tasks_are_removed_automatically_once_a_day_after_a_run() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let run = |days: &str| {
        let set = format!("journal.retention_days={days}");
        assert_eq!(world.sortie(["run", "--set", &set, "QUESTION"]).on(&server, "anthropic").run().code, 0);
    };
    run("30");
    let first = ids(&world);
    let later = SystemTime::now() - Duration::from_hours(25);
    let mark = fs::File::options().write(true).open(world.path("state/journal.db.pruned")).unwrap();
    make_older(&world, 31);
    run("30");
    assert_eq!(ids(&world).len(), 2, "it was done a moment ago");
    mark.set_modified(later).unwrap();
    run("0");
    assert_eq!(ids(&world).len(), 3, "switched off");
    run("30");
    assert_eq!(ids(&world).len(), 3, "the old one is gone, and a new one is there");
    assert!(!ids(&world).contains(&first[0]));
}

#[test]
fn damaged_tasks_that_stay_are_named() {
    let (world, tree) = after_a_run();
    let damage = "UPDATE events SET body = replace(body, 'agent-', 'Agent-') WHERE kind = 'child_ended'";
    assert!(world.sql().execute(damage, []).unwrap() > 0);
    let pruned = world.sortie(["tasks", "prune", "--older-than", "0s", "--json"]).run();
    assert_eq!(pruned.code, 1, "{pruned:#?}");
    assert_eq!(pruned.stdout_json()["damaged"], json!([tree[0]]));
    assert_eq!(pruned.stdout_json()["removed"], json!([]));
}

#[test]
fn an_old_abandoned_tree_is_named_with_advice() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::never())).unwrap();
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 1);
    let task = world.tasks(1)[0]["task_id"].as_str().unwrap().to_owned();
    let prune = || world.sortie(["tasks", "prune", "--older-than", "0s"]).run();
    assert_eq!(prune().stderr, "", "somebody runs it");
    kill(live);
    let said = format!("note: {task} stays: {task} was interrupted; `sortie tasks stop {task}` ends it\n");
    let pruned = prune();
    assert_eq!((pruned.code, pruned.stderr), (0, said));
    assert_eq!(world.sortie(["tasks", "stop", &task]).run().code, 0);
    let pruned = prune();
    assert!(pruned.stdout.starts_with("1 task removed: "), "{pruned:#?}");
}

#[test]
fn a_report_that_nobody_has_read_keeps_its_tree_and_is_named() {
    let world = World::new();
    let task = json!({
        "description": "Find it", "prompt": "CHILD", "subagent_type": "explore", "run_in_background": true
    });
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("QUESTION").turn(1), reply::never())
        .otherwise(reply::text("The child's report.").held_by("child"));
    let server = ScriptedServer::start(script).unwrap();
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 3);
    server.gate("child").open();
    recorded(&world, "child_ended");
    let ids: Vec<String> = world.tasks(2).iter().map(id).collect();
    assert_eq!(world.sortie(["tasks", "stop", &ids[0]]).run().code, 0);
    live.wait();
    let pruned = world.sortie(["tasks", "prune", "--older-than", "0s"]).run();
    expect![[r#"
        exit 0
        --- stdout
        0 tasks removed: 0 events, 0 bytes
        --- stderr
        note: agent-1___________ stays: agent-1___________ ended before it read the report of agent-2___________; `sortie resume agent-1___________` delivers it, `sortie tasks output agent-2___________` prints it
    "#]]
    .assert_eq(&pruned.transcript());
    let server = ScriptedServer::start(Script::always(reply::text("It is here."))).unwrap();
    assert_eq!(world.sortie(["resume", &ids[0]]).on(&server, "anthropic").run().code, 0);
    assert!(server.requests()[0].body.to_string().contains("The child's report."));
    let pruned = world.sortie(["tasks", "prune", "--older-than", "0s", "--json"]).run().stdout_json();
    assert_eq!((&pruned["tasks"], &pruned["kept"]), (&json!(2), &json!([])));
}
