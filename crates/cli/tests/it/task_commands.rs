//! Commands to the tasks of another process: release and send; refusals, and delays.

use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::background::{check, held, id, kill, parked, recorded};
use crate::world::{World, wait_for};

#[test]
fn a_sub_agent_that_is_waited_for_can_be_released() {
    let (world, server) = (World::new(), held(false));
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 2);
    let tasks = world.tasks(2);
    let (main, child) = (id(&tasks[0]), id(&tasks[1]));
    check(
        &world.sortie(["tasks", "release", &child]).run(),
        &expect![[r#"
        exit 0
        --- stdout
        agent-1___________ continues in the background; agent-2___________ gets its report
    "#]],
    );
    recorded(&world, "task_parked", 1);
    check(
        &world.sortie(["tasks", "release", &child]).run(),
        &expect![[r#"
        exit 0
        --- stdout
        agent-1___________ already works in the background; agent-2___________ gets its report
    "#]],
    );
    check(
        &world.sortie(["tasks", "release", &main]).run(),
        &expect![[r#"
        exit 1
        --- stderr
        error: agent-1___________ has no parent that waits for it
    "#]],
    );
    server.gate("child").open();
    server.gate("end").open();
    let ended = live.wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "It is on its way.\n\nIt is here.\n"), "{ended:#?}");
    check(
        &world.sortie(["tasks", "release", &child, "--json"]).run(),
        &expect![[r#"
        exit 1
        --- stderr
        error: agent-1___________ does not run: completed
    "#]],
    );
}

#[test]
fn disabled_background_refuses_a_release_at_once() {
    let (world, server) = (World::new(), held(false));
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 2);
    let child = id(&world.tasks(2)[1]);
    check(
        &world.sortie(["tasks", "release", &child, "--set", "task_tool.background=false"]).run(),
        &expect![[r#"
        exit 1
        --- stderr
        error: agent-1___________ cannot be released: background tasks are switched off here (`task_tool.background`)
    "#]],
    );
    kill(live);

    let script = Script::new()
        .on(when::prompt_contains("QUESTION"), reply::calls([reply::call("task", json!({"task": "CHILD"}))]))
        .otherwise(reply::never());
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let live = world.sortie(["run", "--contract", "delegate", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 2);
    let child = id(&world.tasks(2)[1]);
    check(
        &world.sortie(["tasks", "release", &child]).run(),
        &expect![[r#"
        exit 1
        --- stderr
        error: agent-1___________ cannot be released: its contract has no background tasks: `delegate`
    "#]],
    );
    kill(live);
}

#[test]
fn a_persons_message_may_be_as_long_as_an_agents() {
    let (world, server) = (World::new(), held(true));
    let (live, child) = parked(&world, &server);
    let send = |text: String| world.sortie(["tasks", "send", &child, "-"]).stdin(text).run();
    assert_eq!(send("x".repeat(16 * 1024)).code, 0);
    for refused in [send("x".repeat(16 * 1024 + 1)), world.sortie(["tasks", "send", &child, &"x".repeat(16_385)]).run()]
    {
        check(
            &refused,
            &expect![[r#"
            exit 2
            --- stderr
            error: the message has more than 16384 bytes, the most that can be sent at once
            hint: write it to a file, and send the file's name
        "#]],
        );
    }
    kill(live);
}

#[test]
fn a_missed_message_is_not_kept() {
    // At its limit it reads nothing any more.
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]))
        .on(when::last_contains("LATE"), reply::text("So late."))
        .otherwise(reply::text("The report.").held_by("report"));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let live = world.sortie(["run", "--max-turns", "1", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 2);
    let task = id(&world.tasks(1)[0]);
    let sending = world.sortie(["tasks", "send", &task, "LATE"]).start();
    let since = Instant::now();
    while world.sql().query_row("SELECT count(*) FROM commands", [], |row| row.get::<_, i64>(0)).unwrap() == 0 {
        assert!(since.elapsed() < Duration::from_secs(30), "nothing is sent");
    }
    server.gate("report").open();
    live.wait();
    let sent = sending.wait();
    assert_eq!(sent.code, 1, "{sent:#?}");
    assert!(sent.stderr.contains("ended before it could read it, and will not read it"), "{}", sent.stderr);
    let resumed = world.sortie(["resume", &task, "LATE"]).on(&server, "anthropic").run();
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "So late.\n"), "{resumed:#?}");
    let requests = server.requests();
    assert_eq!(requests.last().unwrap().body["messages"].to_string().matches("LATE").count(), 1);
}
