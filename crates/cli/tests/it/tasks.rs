//! `sortie tasks`: finding past runs again.

use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::older::make_older;
use crate::run::delegating;
use crate::world::{World, wait_for};

/// World after one delegated run, and the ids of its tasks, the root's first.
pub(crate) fn after_a_run() -> (World, Vec<String>) {
    let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
    let outcome =
        world.sortie(["run", "--output-format", "json", "QUESTION"]).on(&server, "anthropic").run().stdout_json();
    let id = |task: &Value| task["task_id"].as_str().unwrap().to_owned();
    let mut ids = vec![id(&outcome)];
    ids.extend(outcome["children"].as_array().unwrap().iter().map(id));
    (world, ids)
}

#[test]
fn a_fresh_machine_has_no_tasks_and_listing_creates_none() {
    let world = World::new();
    expect![[r#"
        exit 0
        --- stdout
        there are no tasks yet
    "#]]
    .assert_eq(&world.sortie(["tasks", "list"]).run().transcript());
    expect![[r#"
        exit 1
        --- stderr
        error: there is no task `abc`
        hint: `sortie tasks list --all` lists the newest tasks
    "#]]
    .assert_eq(&world.sortie(["tasks", "show", "abc"]).run().transcript());
    assert_eq!(world.sortie(["tasks", "list", "--json"]).run().stdout, "[]\n");
    assert!(world.kept_nothing());
}

#[test]
fn the_list_shows_runs_and_on_request_their_sub_agents() {
    let (world, ids) = after_a_run();
    let list = world.sortie(["tasks", "list"]).run();
    assert_eq!(list.stdout.lines().count(), 1, "{}", list.stdout);
    assert!(list.stdout.starts_with(&format!("{}  completed    main  ", ids[0])), "{}", list.stdout);
    assert!(list.stdout.contains("s ago  ") && list.stdout.ends_with("  QUESTION\n"), "{}", list.stdout);
    let all = world.sortie(["tasks", "list", "--all"]).run();
    assert!(ids.iter().all(|id| all.stdout.contains(id)), "{}", all.stdout);
    let one = world.sortie(["tasks", "list", "--all", "--limit", "1"]).run();
    assert_eq!(one.stdout.lines().count(), 2);
    assert!(one.stdout.ends_with("… there are more; see --limit\n"), "{}", one.stdout);
    let json = world.sortie(["tasks", "list", "--json"]).run().stdout_json();
    assert_eq!(json[0]["task_id"], ids[0].as_str());
    assert_eq!(json[0]["status"], "completed");
}

#[test]
fn the_list_is_of_this_project_and_on_request_of_all() {
    let world = World::new();
    std::fs::create_dir_all(world.path("other/.git")).unwrap();
    let other = world.path("other");
    assert_eq!(world.sortie(["run", "hello"]).cwd(&other).run().code, 0);
    expect![[r#"
        exit 0
        --- stdout
        there are no tasks of this project yet; `sortie tasks list --all-projects` lists those of others
    "#]]
    .assert_eq(&world.sortie(["tasks", "list"]).run().transcript());
    assert_eq!(world.sortie(["tasks", "list", "--json"]).run().stdout, "[]\n");
    assert_eq!(world.sortie(["run", "How are you?"]).run().code, 0);
    let here = world.sortie(["tasks", "list"]).run().stdout;
    assert!(here.lines().count() == 1 && here.ends_with("  How are you?\n"), "{here}");
    let all = world.sortie(["tasks", "list", "--all-projects"]).run().stdout;
    let ends: Vec<String> = ["workspace  How are you?", "other      hello"].map(|end| format!("/{end}")).into();
    assert!(all.lines().zip(&ends).all(|(line, end)| line.ends_with(end)), "{all}");
    assert_eq!(all.lines().count(), 2);
}

#[test]
fn durations_are_listed_without_reading_the_logs() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let run = |args: &[&str]| assert_eq!(world.sortie(args).on(&server, "anthropic").run().code, 0);
    run(&["run", "QUESTION"]);
    make_older(&world, 9);
    let task = world.tasks(1)[0]["task_id"].as_str().unwrap().to_owned();
    run(&["resume", &task, "MORE"]);
    let listed = world.sortie(["tasks", "list"]).run().stdout;
    assert!(!listed.contains("216h"), "the days in which nobody ran it do not count: {listed}");
    assert!(world.sql().execute("DELETE FROM events", []).unwrap() > 0);
    assert_eq!(world.sortie(["tasks", "list"]).run().stdout, listed);
}

#[test]
fn sub_agents_are_listed_below_their_parent() {
    let (world, ids) = after_a_run();
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let newer = world.sortie(["run", "--output-format", "json", "LATER"]).on(&server, "anthropic").run().stdout_json();
    let all = world.sortie(["tasks", "list", "--all"]).run().stdout;
    let first = |line: &str| line.split("  ").filter(|part| !part.is_empty()).map(str::to_owned).next().unwrap();
    let lines: Vec<(bool, String)> = all.lines().map(|line| (line.starts_with("  agent-"), first(line))).collect();
    let newer = newer["task_id"].as_str().unwrap().to_owned();
    let [root, one, other] = [0, 1, 2].map(|index| ids[index].clone());
    assert_eq!(lines, [(false, newer), (false, root), (true, one), (true, other)], "{all}");
    let json = world.sortie(["tasks", "list", "--all", "--json"]).run().stdout_json();
    let parents = json.as_array().unwrap().iter().filter(|task| task["parent_id"] == ids[0].as_str()).count();
    assert_eq!((json.as_array().unwrap().len(), parents), (4, 2), "flat, each with its parent");
}

#[test]
fn a_run_is_stopped_from_another_process_with_a_receipt_and_late_stops_do_no_harm() {
    let world = World::new();
    let delegate = serde_json::json!({"description": "Wait", "prompt": "CHILD"});
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", delegate)]))
        .otherwise(reply::never());
    let server = ScriptedServer::start(script).unwrap();
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 2);
    let ids: Vec<Value> = world.tasks(2).iter().map(|task| task["task_id"].clone()).collect();
    let root = ids[0].as_str().unwrap();
    let receipt = world.sortie(["tasks", "stop", root, "--json"]).run();
    assert_eq!((receipt.code, receipt.stdout_json()["stopped"].as_array().unwrap()), (0, &ids));
    assert_eq!(live.wait().code, 1);
    wait_for(&server, |traffic| traffic.open_connections == 0);
    let late = world.sortie(["tasks", "stop", root]).run();
    assert_eq!((late.code, late.stdout), (0, format!("{root} had ended before: cancelled\n")));
}

#[test]
fn a_task_is_shown_with_its_tree_and_its_report_by_any_unique_beginning_of_its_id() {
    let (world, ids) = after_a_run();
    let whole = world.sortie(["tasks", "show", &ids[0]]).run();
    assert_eq!(whole.code, 0);
    let letters = ids[0].strip_prefix("agent-").unwrap();
    let unique = (1..=letters.len())
        .map(|length| &letters[..length])
        .find(|prefix| ids.iter().filter(|id| id["agent-".len()..].starts_with(prefix)).count() == 1)
        .unwrap();
    for id in [letters, unique, &format!("agent-{unique}")] {
        assert_eq!(world.sortie(["tasks", "show", id]).run().stdout, whole.stdout, "{id}");
    }
    for part in ["QUESTION", "main (test-model)", "4 calls", "Errors are made in `src/auth.rs:2`."] {
        assert!(whole.stdout.contains(part), "{part}: {}", whole.stdout);
    }
    for id in &ids[1..] {
        assert!(whole.stdout.contains(&format!("\n  explore {id} completed · ")), "{}", whole.stdout);
    }
}

#[test]
fn a_child_is_shown_on_its_own() {
    let (world, ids) = after_a_run();
    let child = world.sortie(["tasks", "show", &ids[1]]).run();
    assert!(child.stdout.contains(&format!("parent     {}\n", ids[0])), "{}", child.stdout);
    assert!(!child.stdout.contains(&ids[2]), "not its sibling: {}", child.stdout);
    let json = world.sortie(["tasks", "show", &ids[1], "--json"]).run().stdout_json();
    assert_eq!(json["agent"], "explore");
    assert_eq!(json["children"], serde_json::json!([]));
}

#[test]
fn a_task_as_json_is_its_outcome_with_its_childrens() {
    let (world, ids) = after_a_run();
    let json = world.sortie(["tasks", "show", &ids[0], "--json"]).run().stdout_json();
    assert_eq!(json["status"], "completed");
    let children: Vec<&str> =
        json["children"].as_array().unwrap().iter().map(|child| child["task_id"].as_str().unwrap()).collect();
    assert_eq!(children, ids[1..]);
}

#[test]
fn an_id_that_does_not_exist_is_exit_1_and_one_that_is_not_unique_is_wrong_usage() {
    let (world, ids) = after_a_run();
    let none = world.sortie(["tasks", "show", "agent-zzzzzzzzzzzz9"]).run();
    expect![[r#"
        exit 1
        --- stderr
        error: there is no task `agent-1___________9`
        hint: `sortie tasks list --all` lists the newest tasks
    "#]]
    .assert_eq(&none.transcript());
    let every = world.sortie(["tasks", "show", "agent-"]).run();
    assert_eq!((every.code, every.stdout.as_str()), (2, ""));
    assert!(every.stderr.starts_with("error: `agent-` is a prefix of 3 ids\n"), "{}", every.stderr);
    assert!(ids.iter().all(|id| every.stderr.contains(&format!("hint: {id} "))), "{}", every.stderr);
}

#[test]
fn a_title_takes_one_line_of_bounded_width_wherever_it_is_listed() {
    let world = World::new();
    let title = format!("two\nhint: lines {}", "x".repeat(500));
    for _ in 0..2 {
        let ended = world.sortie(["task", "--description", &title, "--prompt", "p"]).run();
        assert!(ended.stderr.lines().all(|line| line.len() < 200), "{}", ended.stderr);
    }
    let list = world.sortie(["tasks", "list"]).run().stdout;
    let hints = world.sortie(["tasks", "show", "agent-"]).run().stderr;
    for text in [list, hints] {
        let titles: Vec<&str> = text.lines().filter_map(|line| line.split_once("two ")).map(|(_, rest)| rest).collect();
        assert_eq!(titles.len(), 2, "{text}");
        assert!(titles.iter().all(|rest| rest.starts_with("hint: lines x") && rest.len() < 80), "{text}");
        assert!(!text.contains("\nhint: lines"), "{text}");
    }
}

#[test]
fn wrong_numbers_and_empty_ids_are_explained() {
    let world = World::new();
    expect![[r#"
        exit 2
        --- stderr
        error: invalid value '0' for '--limit <N>': it must be a whole number of at least 1

        For more information, try '--help'.
    "#]]
    .assert_eq(&world.sortie(["tasks", "list", "--limit", "0"]).run().transcript());
    expect![[r#"
        exit 2
        --- stderr
        error: invalid value '' for '<ID>': give a task's id, or its first letters

        For more information, try '--help'.
    "#]]
    .assert_eq(&world.sortie(["tasks", "show", ""]).run().transcript());
}

#[test]
fn a_run_that_was_killed_is_shown_as_interrupted() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::never())).unwrap();
    let mut live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 1);
    let listed = world.sortie(["tasks", "list", "--json"]).run().stdout_json();
    assert_eq!(listed[0]["status"], "running", "seen by another process as soon as its model is asked");
    live.child.kill().unwrap();
    assert_eq!(live.wait().code, 137);
    let list = world.sortie(["tasks", "list", "--json"]).run().stdout_json();
    assert_eq!(list[0]["status"], "interrupted");
    let id = list[0]["task_id"].as_str().unwrap();
    let shown = world.sortie(["tasks", "show", id]).run();
    assert!(shown.stdout.starts_with(&format!("{id} main interrupted\n")), "{}", shown.stdout);
    assert_eq!(world.sortie(["tasks", "show", id, "--json"]).run().stdout_json()["status"], "interrupted");
}

#[test]
fn a_task_that_waits_for_a_slot_is_shown_as_waiting() {
    let piece = |prompt: &str| reply::call("Task", json!({"description": "A piece", "prompt": prompt}));
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([piece("CHILD one"), piece("CHILD two")]))
        .on(when::prompt_contains("CHILD"), reply::text("Done.").held_by("child"))
        .otherwise(reply::text("Answer."));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let alone = ["run", "QUESTION", "--set", "task_tool.max_concurrent=1"];
    let live = world.sortie(alone).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls == 2);
    let children: Vec<String> =
        world.tasks(3)[1..].iter().map(|task| task["task_id"].as_str().unwrap().to_owned()).collect();
    let told = |command: &[&str]| -> Vec<String> {
        let all =
            children.iter().map(|child| world.sortie(command.iter().copied().chain([child.as_str()])).run().stdout);
        all.filter(|told| told.contains("slot")).collect()
    };
    // Records can be read a moment later.
    let since = Instant::now();
    while told(&["task-status"]).len() != 1 {
        assert!(since.elapsed() < Duration::from_secs(30), "one of the two waits");
    }
    let [status] = &told(&["task-status"])[..] else { panic!("one of the two waits") };
    assert!(status.lines().next().unwrap().ends_with("running, waiting for a slot"), "{status}");
    let [shown] = &told(&["tasks", "show"])[..] else { panic!("one of the two waits") };
    assert!(shown.contains("\nwaits for  a slot\n"), "{shown}");
    let [object] = &told(&["task-status", "--json"])[..] else { panic!("one of the two waits") };
    assert!(object.contains("\"needs\":"), "{object}");
    server.gate("child").open();
    assert_eq!(live.wait().code, 0);
}
