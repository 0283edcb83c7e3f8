//! `tasks show`, `list` and `retry` about tasks that were resumed, run, were interrupted or are damaged.

use expect_test::expect;
use rustix::process::Signal;
use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::older::make_older;
use crate::resume::{held_child, id, kill, recorded, send};
use crate::world::{World, wait_for};

/// Main agent that writes a file, says something, and is then held.
fn writer() -> ScriptedServer {
    let write = json!({"file_path": "out.txt", "content": "once"});
    let script = Script::new()
        .on(when::turn(0), reply::text("I write.").calls([reply::call("Write", write)]))
        .on(when::turn(1), reply::text("Written.").held_by("model"))
        .on(when::turn(2), reply::text("Looking.").calls([reply::call("LS", json!({}))]))
        .otherwise(reply::never());
    ScriptedServer::start(script).unwrap()
}

/// Output without what differs between runs.
fn shown(world: &World, task: &str) -> String {
    let told = world.sortie(["tasks", "show", task]).run().transcript();
    told.lines().filter(|line| !line.starts_with("started ")).fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn a_first_leg_shows_what_it_has_done_so_far() {
    let (world, server) = (World::new(), writer());
    let live = world.sortie(["run", "--allow", "Write", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 2);
    recorded(&world, "call_finished");
    let task = id(&world.tasks(1)[0]);
    let running = shown(&world, &task);
    kill(live);
    expect![[r#"
        exit 0
        --- stdout
        agent-1___________ main interrupted

        title      QUESTION
        model      main (test-model)
        workspace  <dir>/workspace
        so far     1 turn · 1 call · <n>k tokens · <t>s
        changed    out.txt

        so far:
        I write.
    "#]]
    .assert_eq(&shown(&world, &task));
    assert_eq!(running, shown(&world, &task).replace("main interrupted", "main running"));
    let json = world.sortie(["tasks", "show", &task, "--json"]).run().stdout_json();
    assert_eq!((&json["status"], &json["leg"]), (&json!("interrupted"), &json!(1)));
    assert_eq!(json["so_far"]["files_changed"], json!(["out.txt"]));
    assert_eq!((&json["so_far"]["text"], &json["so_far"]["usage"]["turns"]), (&json!("I write."), &json!(1)));
}

#[test]
fn a_later_leg_is_not_reported_as_the_one_before_it() {
    let (world, server) = (World::new(), writer());
    server.gate("model").open();
    world.sortie(["run", "--allow", "Write", "QUESTION"]).on(&server, "anthropic").run();
    let task = id(&world.tasks(1)[0]);
    let live = world.sortie(["resume", &task, "AGAIN"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 4);
    kill(live);
    expect![[r#"
        exit 0
        --- stdout
        agent-1___________ main interrupted

        title      QUESTION
        model      main (test-model)
        workspace  <dir>/workspace
        leg 1      completed · 1 call · <n>k tokens · <t>s
        leg        2
        so far     3 turns · 2 calls · <n>k tokens · <t>s
        changed    out.txt

        leg 1, completed:
        Written.

        so far:
        Looking.
    "#]]
    .assert_eq(&shown(&world, &task));
    let json = world.sortie(["tasks", "show", &task, "--json"]).run().stdout_json();
    assert_eq!((&json["status"], &json["leg"], json.get("text")), (&json!("interrupted"), &json!(2), None));
    assert_eq!((&json["earlier_legs"][0]["leg"], &json["earlier_legs"][0]["text"]), (&json!(1), &json!("Written.")));
    assert_eq!(json["so_far"]["text"], "Looking.");
    let turns = |told: &serde_json::Value| told["usage"]["turns"].as_u64().unwrap();
    assert_eq!(
        (turns(&json["earlier_legs"][0]), turns(&json["so_far"])),
        (2, 3),
        "of the whole task, by then and by now"
    );
    let newest = world.sortie(["tasks", "output", &task]).run();
    let note = format!("note: leg 2 of {task} is interrupted; this is the report of leg 1\n");
    assert_eq!((newest.code, newest.stdout.as_str(), newest.stderr), (0, "Written.\n", note));
}

#[test]
fn usage_so_far_includes_sub_agents() {
    let world = World::new();
    let server = ScriptedServer::start(held_child(("LS", json!({})))).unwrap();
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 3);
    recorded(&world, "call_finished");
    let task = id(&world.tasks(2)[0]);
    kill(live);
    let usage = &world.sortie(["tasks", "show", &task, "--json"]).run().stdout_json()["so_far"]["usage"];
    assert_eq!((&usage["turns"], &usage["tool_calls"]), (&json!(2), &json!(1)), "{usage}");
    let status = world.sortie(["task-status", &task, "--json"]).run().stdout_json();
    assert_eq!(
        (&status["turns"], &status["tool_calls"], &status["tokens"]),
        (&json!(2), &json!(1), &usage["total_tokens"])
    );
    server.gate("child").open();
    let ended = world.sortie(["resume", "--output-format", "json"]).on(&server, "anthropic").run().stdout_json();
    assert_eq!(
        (&ended["usage"]["turns"], &ended["usage"]["tool_calls"]),
        (&json!(4), &json!(2)),
        "the same figures, later"
    );
}

#[test]
fn a_task_can_be_retried_if_only_its_first_event_is_intact() {
    let (world, server) = (World::new(), writer());
    server.gate("model").open();
    world.sortie(["run", "--allow", "Write", "QUESTION"]).on(&server, "anthropic").run();
    let task = id(&world.tasks(1)[0]);
    let damage = "UPDATE events SET body = replace(body, 'I write', 'I wrote') WHERE kind = 'model_replied'";
    assert!(world.sql().execute(damage, []).unwrap() > 0);
    let refused = world.sortie(["resume", &task, "More"]).on(&server, "anthropic").run();
    assert_eq!(refused.code, 1, "{refused:#?}");
    assert!(refused.stderr.starts_with(&format!("error: the log of {task} is damaged at event ")), "{refused:#?}");
    let retried = world.sortie(["tasks", "retry", &task, "--allow", "Write"]).on(&server, "anthropic").run();
    assert_eq!((retried.code, retried.stdout.as_str()), (0, "Written.\n"), "{retried:#?}");
}

/// Column of a list with the duration of a task.
fn listed(world: &World) -> String {
    let list = world.sortie(["tasks", "list"]).run().stdout;
    list.split("  ")
        .map(str::trim)
        .find(|part| part.starts_with(|first: char| first.is_ascii_digit()) && part.ends_with('s'))
        .unwrap_or_else(|| panic!("{list}"))
        .to_owned()
}

#[test]
fn the_time_without_a_process_is_not_counted() {
    let (world, server) = (World::new(), writer());
    server.gate("model").open();
    world.sortie(["run", "--allow", "Write", "QUESTION"]).on(&server, "anthropic").run();
    make_older(&world, 9);
    let task = id(&world.tasks(1)[0]);
    let next = world.sortie(["resume", &task, "AGAIN"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 4);
    assert!(!listed(&world).contains('h'));
    send(&next, Signal::INT);
    assert_eq!(next.wait().code, 130);
    let (took, shown) = (listed(&world), world.sortie(["tasks", "show", &task]).run().stdout);
    assert!(shown.contains(&format!("tokens · {took}\n")), "one figure: {took} {shown}");
}
