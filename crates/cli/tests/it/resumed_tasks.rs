//! Resumed tasks: their limits, their contract, and messages about earlier work.

use serde_json::{Value, json};
use sortie_testkit::{Fault, Script, ScriptedServer, StatusFault, reply, when};

use crate::resume::id;
use crate::world::{World, wait_for};

/// Main agent that lists as long as it may. Its text at the limit is its report.
fn lister() -> ScriptedServer {
    let script = Script::new()
        .on(when::last_contains("limit"), reply::text("So far."))
        .otherwise(reply::calls([reply::call("LS", json!({}))]));
    ScriptedServer::start(script).unwrap()
}

fn newest(world: &World) -> String {
    world.tasks(1).last().unwrap()["task_id"].as_str().unwrap().to_owned()
}

/// Newest fact of a kind.
fn recorded(world: &World, kind: &str) -> Value {
    let query = "SELECT body FROM events WHERE kind = ?1 ORDER BY position DESC";
    let body: String = world.sql().query_row(query, [kind], |row| row.get(0)).unwrap();
    serde_json::from_str(&body).unwrap()
}

#[test]
fn after_a_limit_a_task_resumes_with_the_given_limits() {
    let (world, server) = (World::new(), lister());
    let ended = world.sortie(["run", "--max-turns", "2", "--timeout", "1h", "x"]).on(&server, "anthropic").run();
    let task = newest(&world);
    let said = format!("hint: `sortie resume {task} --max-turns N` continues it\n");
    assert!(ended.code == 1 && ended.stderr.contains(&said), "{}", ended.stderr);
    assert_eq!(server.requests().len(), 3, "two turns and the report");
    let more = ["resume", &task, "--max-turns", "5", "--timeout", "2h"];
    world.sortie(more).on(&server, "anthropic").run();
    assert_eq!(server.requests().len(), 3 + 6, "more than it began with");
    assert_eq!(recorded(&world, "task_resumed")["config"]["limits"]["timeout"], 7200.0);
    world.sortie(["tasks", "resume", &task, "--max-turns", "4"]).on(&server, "anthropic").run();
    assert_eq!(server.requests().len(), 9 + 5);
    assert_eq!(recorded(&world, "task_resumed")["config"]["limits"]["timeout"], 3600.0, "as it began");
}

#[test]
fn a_call_that_resumes_a_task_is_shown_by_its_own_title() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("Done."))).unwrap());
    let task = |brief: &Value| {
        let ended = world.sortie(["task", "--verbose", "--json", &brief.to_string()]).on(&server, "anthropic").run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        (ended.stdout_json()["task_id"].as_str().unwrap().to_owned(), ended.stderr)
    };
    let (id, shown) = task(&json!({"description": "Find it", "prompt": "The whole first brief"}));
    assert!(shown.contains("started: Find it · "), "{shown}");
    let (same, shown) = task(&json!({"description": "Look again", "prompt": "The whole second brief", "resume": id}));
    assert!(shown.contains("started: Look again · ") && !shown.contains("second brief"), "{shown}");
    assert_eq!((same, &recorded(&world, "task_resumed")["title"]), (id.clone(), &json!("Look again")));
    // A person's follow-up has no title.
    let resumed = world.sortie(["tasks", "resume", &id, "And now?"]).on(&server, "anthropic").run();
    assert_eq!((resumed.code, recorded(&world, "task_resumed").get("title")), (0, None), "{resumed:#?}");
}

#[test]
fn a_time_limit_shows_how_to_resume() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::never())).unwrap();
    let ended = world.sortie(["run", "--timeout", "0.2", "x"]).on(&server, "anthropic").run();
    let said = format!("hint: `sortie resume {} --timeout TIME` continues it\n", newest(&world));
    assert!(ended.stderr.contains(&said), "{}", ended.stderr);
}

#[test]
fn given_limits_of_an_interrupted_task_count_from_now_on() {
    let world = World::new();
    let script = Script::new()
        .on(when::last_contains("limit"), reply::text("So far."))
        .on(when::turn(2), reply::calls([reply::call("LS", json!({}))]).held_by("third"))
        .on(when::turn(4), reply::calls([reply::call("LS", json!({"path": "src"}))]))
        .otherwise(reply::calls([reply::call("LS", json!({}))]));
    let server = ScriptedServer::start(script).unwrap();
    let mut live = world.sortie(["run", "--max-turns", "4", "x"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 3);
    live.child.kill().unwrap();
    live.wait();
    server.gate("third").open();
    let ended = world.sortie(["resume", "--max-turns", "6"]).on(&server, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (1, "So far.\n"), "{ended:#?}");
    assert_eq!(server.requests().len(), 3 + 6 + 1, "six turns, whatever was before, and the report");
}

#[test]
fn a_task_resumes_in_the_contract_that_it_was_started_in() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    world.sortie(["run", "--contract", "typed", "x"]).on(&server, "anthropic").run();
    let task = newest(&world);
    let tools = |index: usize| server.requests()[index].body["tools"].clone();
    world.config("contract = \"delegate\"\n");
    for (number, more) in [&[][..], &["--contract", "s3"], &["--contract", "typed"]].into_iter().enumerate() {
        let args = ["resume", &task, "More"].into_iter().chain(more.iter().copied());
        let ended = world.sortie(args).on(&server, "anthropic").env("SORTIE_CONTRACT", "envelope").run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        assert_eq!(tools(number + 1), tools(0), "{more:?}");
    }
    let n_asked = server.requests().len();
    for command in [&["resume"][..], &["tasks", "resume"]] {
        for other in [["--contract", "sortie"], ["--set", "contract=sortie"]] {
            let args = command.iter().copied().chain([task.as_str(), "More"]).chain(other);
            let ended = world.sortie(args).on(&server, "anthropic").run();
            let said = format!(
                "error: {task} was started in the contract `typed` and cannot be resumed in `sortie`\n\
                 hint: leave the contract out: a task resumes in its own\n"
            );
            assert_eq!((ended.code, ended.stderr), (2, said));
        }
    }
    assert_eq!(server.requests().len(), n_asked, "nobody was asked");
}

#[test]
fn a_call_does_not_resume_a_task_of_another_contract() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let first = json!({"description": "Look", "prompt": "Look.", "subagent_type": "Explore"}).to_string();
    world.sortie(["task", "--contract", "typed", "--json", &first]).on(&server, "anthropic").run();
    let second = json!({"description": "Look", "prompt": "More.", "resume": newest(&world)}).to_string();
    let ended = world.sortie(["task", "--json", &second]).on(&server, "anthropic").run();
    let error = &ended.stdout_json()["error"];
    assert_eq!((ended.code, &error["code"]), (1, &json!("other_contract")), "{error}");
    let said = "this task uses the contract `typed`, not `sortie`; resume it in that one";
    assert_eq!(error["message"], said);
    assert_eq!(server.requests().len(), 1);
}

/// Main agent that has two children work in sequence, and is held before its answer.
fn delegating() -> ScriptedServer {
    let delegate = |prompt: &str| {
        let arguments = json!({"description": "Work", "prompt": prompt, "subagent_type": "explore"});
        reply::calls([reply::call("Task", arguments)])
    };
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), delegate("FIRST"))
        .on(when::prompt_contains("QUESTION").turn(1), delegate("SECOND"))
        .on(when::prompt_contains("QUESTION"), reply::text("All done."))
        .on(when::prompt_contains("SECOND"), reply::text("The second report.").held_by("second"))
        .otherwise(reply::text("The first report."));
    ScriptedServer::start(script).unwrap()
}

#[test]
fn the_outcome_of_a_resumed_task_has_its_children_of_earlier_processes() {
    let (world, server) = (World::new(), delegating());
    let mut live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 4);
    let tasks = world.tasks(3);
    live.child.kill().unwrap();
    live.wait();
    server.gate("second").open();
    let reports = |outcome: &Value| -> Vec<String> {
        let children = outcome["children"].as_array().unwrap();
        children.iter().map(|child| format!("{} {}", child["status"], child["text"])).collect()
    };
    let both = [r#""completed" "The first report.""#, r#""completed" "The second report.""#];
    let outcome = world.sortie(["resume", "--output-format", "json"]).on(&server, "anthropic").run().stdout_json();
    assert_eq!(reports(&outcome), both, "one ended before, one now");

    let (root, child) = (tasks[0]["task_id"].as_str().unwrap(), tasks[1]["task_id"].as_str().unwrap());
    let again = ["resume", child, "And more?", "--output-format", "stream-json"];
    let stdout = world.sortie(again).on(&server, "anthropic").run().stdout;
    let last: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&last["task_id"], &last["leg"], &last["depth"]), (&json!(child), &json!(2), &json!(1)));
    assert!(last["seq"].as_u64().unwrap() > 1, "that of its ending: {last}");

    let more = ["resume", root, "And now?", "--output-format", "stream-json"];
    let stdout = world.sortie(more).on(&server, "anthropic").run().stdout;
    let last: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], reports(&last)), (&json!("outcome"), both.map(str::to_owned).to_vec()), "each once");
}

#[test]
fn a_child_that_is_not_resumed_keeps_its_state() {
    let (world, server) = (World::new(), delegating());
    server.gate("second").open();
    world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    let tasks = world.tasks(3);
    let (root, child) = (tasks[0]["task_id"].as_str().unwrap(), tasks[1]["task_id"].as_str().unwrap());
    let stuck = ScriptedServer::start(Script::always(reply::never())).unwrap();
    let mut live = world.sortie(["resume", child, "And more?"]).on(&stuck, "anthropic").start();
    wait_for(&stuck, |traffic| traffic.calls >= 1);
    live.child.kill().unwrap();
    live.wait();
    let more = ["resume", root, "And now?", "--output-format", "json"];
    let outcome = world.sortie(more).on(&server, "anthropic").run().stdout_json();
    let of_child = &outcome["children"][0];
    assert_eq!((&of_child["status"], of_child.get("text")), (&json!("interrupted"), None), "its newest leg has no end");
    let shown = world.sortie(["tasks", "show", root, "--json"]).run().stdout_json();
    assert_eq!(shown["children"][0]["status"], "interrupted");
}

#[test]
fn a_revoked_key_stops_a_running_task_and_a_new_key_resumes_it() {
    const OLD_KEY: &str = "sk-old-canary-key";
    let (world, message) = (World::new(), Some(format!("key {OLD_KEY} was revoked")));
    let revoked = StatusFault { code: 401, message, retry_after: None };
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]))
        .once(when::turn(1), reply::fault(Fault::Status(revoked)))
        .otherwise(reply::text("Done."));
    let server = ScriptedServer::start(script).unwrap();
    let sortie = |args: &[&str], key: &str| world.sortie(args).on(&server, "anthropic").env("LLM_API_KEY", key).run();
    let ended = sortie(&["run", "--output-format", "json", "x"], OLD_KEY);
    assert_eq!((ended.code, &ended.stdout_json()["error"]["code"]), (1, &json!("model_auth")), "{ended:#?}");
    assert_eq!(server.requests().len(), 2, "it is not tried again");
    let told = recorded(&world, "task_ended").to_string();
    for seen in [&ended.stdout, &ended.stderr, &told] {
        assert!(!seen.contains(OLD_KEY), "{seen}");
    }
    let ended = sortie(&["resume", &newest(&world)], "sk-new-key");
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Done.\n"), "{ended:#?}");
    assert_eq!(server.requests().last().unwrap().header("x-api-key"), Some("sk-new-key"));
}

#[test]
fn a_resume_with_fewer_permissions_names_the_missing_ones() {
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let world = World::new();
    let run = |args: &[&str]| {
        let ended = world.sortie(args.iter().chain(&["--output-format", "json"])).on(&server, "anthropic").run();
        ended.stdout_json()
    };
    let flags = ["--allow", "Bash(make:*)", "--allow", "Edit"];
    let task = id(&run(&[&["run", "QUESTION"][..], &flags].concat()));
    assert_eq!(run(&[&["resume", &task, "MORE"][..], &flags].concat()).get("notices"), None);
    assert_eq!(
        run(&["resume", &task, "MORE", "--allow", "Edit"])["notices"],
        json!(["no longer allowed without approval: Bash(make:*); pass `--allow` again"])
    );
    let task = id(&run(&["run", "QUESTION", "--permission-mode", "bypass"]));
    assert_eq!(
        run(&["resume", &task, "MORE"])["notices"],
        json!(["no longer in the permission mode `bypass`; pass `--permission-mode bypass` again"])
    );
}
