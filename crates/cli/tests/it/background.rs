//! Background sub-agents at the command line: waited for, shown, left, messaged, released, inspected.

use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::{Ended, Live, World, wait_for};

/// Main agent with a sub-agent that makes one call; its model is held before and after it.
pub(crate) fn held(background: bool) -> ScriptedServer {
    let task = json!({
        "description": "Find it", "prompt": "CHILD", "subagent_type": "explore", "run_in_background": background
    });
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("QUESTION").turn(1), reply::text("It is on its way."))
        .on(when::prompt_contains("QUESTION"), reply::text("It is here."))
        .on(when::last_contains("Look in src"), reply::text("It is in src."))
        .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]).held_by("child"))
        .otherwise(reply::text("The child's report.").held_by("end"));
    ScriptedServer::start(script).unwrap()
}

/// Waits until this many facts of this kind are on disk.
pub(crate) fn recorded(world: &World, kind: &str, count: i64) {
    let since = Instant::now();
    let query = "SELECT count(*) FROM events WHERE kind = ?1";
    while world.sql().query_row(query, [kind], |row| row.get::<_, i64>(0)).unwrap_or_default() < count {
        assert!(since.elapsed() < Duration::from_secs(30), "{kind} is not recorded");
    }
}

/// Run whose sub-agent works in the background, as soon as nothing else does.
pub(crate) fn parked(world: &World, server: &ScriptedServer) -> (Live, String) {
    let live = world.sortie(["run", "QUESTION"]).on(server, "anthropic").start();
    wait_for(server, |traffic| traffic.calls >= 2);
    recorded(world, "task_parked", 1);
    (live, id(&world.tasks(2)[1]))
}

pub(crate) fn id(task: &Value) -> String {
    task["task_id"].as_str().unwrap().to_owned()
}

fn states(world: &World) -> Vec<String> {
    world.tasks(0).iter().map(|task| task["status"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn check(ended: &Ended, expected: &Expect) {
    expected.assert_eq(&without_tokens(&ended.transcript()));
}

/// Transcript without token counts, which change with every word for the models.
fn without_tokens(transcript: &str) -> String {
    let without = |line: &str| match line.rsplit_once(" · ") {
        Some((before, after)) if after.ends_with(" tokens") => format!("{before} · <n> tokens\n"),
        _ => format!("{line}\n"),
    };
    transcript.lines().map(without).collect()
}

pub(crate) fn kill(live: Live) {
    kill_process(Pid::from_child(&live.child), Signal::KILL).unwrap();
    assert_eq!(live.wait().code, 137);
}

#[test]
fn a_run_names_its_background_tasks_and_waits_for_them() {
    let (world, server) = (World::new(), held(true));
    let (live, _) = parked(&world, &server);
    server.gate("child").open();
    server.gate("end").open();
    check(
        &live.wait(),
        &expect![[r#"
        exit 0
        --- stdout
        It is on its way.

        It is here.
        --- stderr
        explore agent-1___________ started: Find it · main (test-model)
        [Task running in background: agent-1___________]
        Use `sortie task-status agent-1___________` in another terminal to check progress.
        main: waiting for a background task: agent-1___________ explore “Find it”
        explore agent-1___________ completed · 1 call · <n>k tokens · <t>s
        agent-2___________ completed · main (test-model) · 2 calls · <n>k tokens · <t>s
    "#]],
    );
}

#[test]
fn a_run_that_is_left_prints_the_last_text_even_after_an_empty_reply() {
    let task = json!({"description": "Find it", "prompt": "CHILD", "run_in_background": true});
    let script = Script::new()
        .on(
            when::prompt_contains("QUESTION").turn(0),
            reply::text("I have started one.").calls([reply::call("Task", task)]),
        )
        .on(when::prompt_contains("QUESTION"), reply::text(""))
        .otherwise(reply::never());
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    for command in [&["run", "--detach", "QUESTION"][..], &["resume", "--detach"]] {
        let ended = world.sortie(command).on(&server, "anthropic").run();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "I have started one.\n"), "{command:?}: {ended:#?}");
    }
}

#[test]
fn f41_a_run_that_is_left_is_interrupted_and_resumes_where_it_was() {
    let (world, server) = (World::new(), held(true));
    let ended = world.sortie(["run", "--detach", "QUESTION"]).on(&server, "anthropic").run();
    check(
        &ended,
        &expect![[r#"
        exit 0
        --- stdout
        It is on its way.
        --- stderr
        explore agent-1___________ started: Find it · main (test-model)
        [Task running in background: agent-1___________]
        Use `sortie task-status agent-1___________` in another terminal to check progress.
        note: agent-1___________ explore “Find it” is stopped, and resumes with the run
        note: the run is stopped; continue it with: sortie resume agent-2___________
    "#]],
    );
    assert_eq!(states(&world), ["interrupted", "interrupted"]);
    let again = world.sortie(["resume", "--detach"]).on(&server, "anthropic").run();
    let stopped = format!("note: {} explore “Find it” is stopped, and resumes with the run", id(&world.tasks(2)[1]));
    assert!(again.stderr.contains(&stopped), "what began before is known by its title: {}", again.stderr);
    assert_eq!(again.stdout, "It is on its way.\n", "what it said before it waited");
    assert_eq!(
        (again.code, states(&world).as_slice()),
        (0, ["interrupted".to_owned(), "interrupted".to_owned()].as_slice())
    );
    server.gate("child").open();
    server.gate("end").open();
    let resumed = world.sortie(["resume"]).on(&server, "anthropic").run();
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "It is on its way.\n\nIt is here.\n"), "{resumed:#?}");
    assert_eq!(states(&world), ["completed", "completed"]);
    let refused = world.sortie(["run", "--detach", "--output-format", "json", "x"]).on(&server, "anthropic").run();
    check(
        &refused,
        &expect![[r#"
        exit 2
        --- stderr
        error: --detach is for --output-format text: a detached run has no outcome
    "#]],
    );
}

#[test]
fn a_detachable_run_prints_its_text_however_fast_its_sub_agents_are() {
    for _ in 0..5 {
        let (world, server) = (World::new(), held(true));
        server.gate("child").open();
        server.gate("end").open();
        let ended = world.sortie(["run", "--detach", "QUESTION"]).on(&server, "anthropic").run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        assert!(
            ["It is on its way.\n", "It is on its way.\n\nIt is here.\n"].contains(&ended.stdout.as_str()),
            "{ended:#?}"
        );
    }
}

#[test]
fn a_message_reaches_a_running_task_of_another_process() {
    let (world, server) = (World::new(), held(true));
    let (live, child) = parked(&world, &server);
    check(
        &world.sortie(["tasks", "send", &child, "Look in src"]).run(),
        &expect![[r#"
        exit 0
        --- stdout
        delivered: agent-1___________ reads it at its next turn, unless it ends before
    "#]],
    );
    check(
        &world.sortie(["tasks", "send", &child, " "]).run(),
        &expect![[r#"
        exit 2
        --- stderr
        error: the message is empty
    "#]],
    );
    let stdin = world.sortie(["tasks", "send", &child, "-", "--json"]).stdin("Look in src, please").run();
    assert_eq!((stdin.code, stdin.stdout_json()), (0, json!({"task_id": child, "state": "delivered"})));
    server.gate("child").open();
    let ended = live.wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "It is on its way.\n\nIt is here.\n"), "{ended:#?}");
    check(
        &ended,
        &expect![[r#"
        exit 0
        --- stdout
        It is on its way.

        It is here.
        --- stderr
        explore agent-1___________ started: Find it · main (test-model)
        [Task running in background: agent-1___________]
        Use `sortie task-status agent-1___________` in another terminal to check progress.
        main: waiting for a background task: agent-1___________ explore “Find it”
        explore agent-1___________: message from the person: Look in src
        explore agent-1___________: message from the person: Look in src, please
        explore agent-1___________: has read 2 messages
        explore agent-1___________ completed · 1 call · <n>k tokens · <t>s
        agent-2___________ completed · main (test-model) · 2 calls · <n>k tokens · <t>s
    "#]],
    );
    let late = world.sortie(["tasks", "send", &child, "More"]).run();
    check(
        &late,
        &expect![[r#"
        exit 1
        --- stderr
        error: agent-1___________ has ended: completed
        hint: sortie resume agent-1___________ "…"
    "#]],
    );
    check(
        &world.sortie(["tasks", "send", "agent-zzzzzzzzzzzz", "x"]).run(),
        &expect![[r#"
        exit 1
        --- stderr
        error: there is no task `agent-1___________`
        hint: `sortie tasks list --all` lists the newest tasks
    "#]],
    );
}

#[test]
fn a_message_to_an_interrupted_task_is_kept_and_read_on_resume() {
    let (world, server) = (World::new(), held(true));
    let (live, child) = parked(&world, &server);
    kill(live);
    check(
        &world.sortie(["tasks", "send", &child, "Look in src"]).run(),
        &expect![[r#"
        exit 0
        --- stdout
        kept: agent-1___________ was interrupted, and reads it when resumed: sortie resume agent-2___________
    "#]],
    );
    server.gate("child").open();
    let resumed = world.sortie(["resume"]).on(&server, "anthropic").run();
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "It is on its way.\n\nIt is here.\n"), "{resumed:#?}");
    let report = world.sortie(["tasks", "output", &child]).run();
    assert_eq!(report.stdout, "It is in src.\n");
}

#[test]
fn one_screen_shows_the_status_of_a_task() {
    let (world, server) = (World::new(), held(true));
    let (live, child) = parked(&world, &server);
    let main = id(&world.tasks(2)[0]);
    check(
        &world.sortie(["task-status", &main]).run(),
        &expect![[r#"
        exit 0
        --- stdout
        agent-1___________ main running, waiting for agent-2___________

        title    QUESTION
        elapsed  <t>s
        used     2 turns · 1 call · <n> tokens
        last     It is on its way.
    "#]],
    );
    server.gate("child").open();
    recorded(&world, "call_finished", 2);
    check(
        &world.sortie(["task-status", child.strip_prefix("agent-").unwrap()]).run(),
        &expect![[r#"
        exit 0
        --- stdout
        agent-1___________ explore running

        title    Find it
        parent   agent-2___________
        elapsed  <t>s
        used     1 turn · 1 call · <n> tokens
        last     LS
        output   <dir>/state/reports/agent-1___________-output.log
    "#]],
    );
    let object = world.sortie(["task-status", &child, "--json"]).run().stdout_json();
    let typed = format!(" /task-status {child}");
    let asked = world.sortie(["run", "--output-format", "json", &typed]).on(&server, "anthropic").run();
    assert_eq!((asked.code, &asked.stdout_json()["task_id"]), (0, &object["task_id"]), "{asked:#?}");
    let nameless = world.sortie(["run", "/task-status"]).on(&server, "anthropic").run();
    assert!(nameless.code == 2 && nameless.stderr.contains("`/task-status`: give a task's id"), "{nameless:#?}");
    assert_eq!(
        (&object["status"], &object["tool_calls"], &object["last"]),
        (&json!("running"), &json!(1), &json!("LS"))
    );
    server.gate("end").open();
    assert_eq!(live.wait().code, 0);
    check(
        &world.sortie(["task-status", &child]).run(),
        &expect![[r#"
        exit 0
        --- stdout
        agent-1___________ explore completed

        title    Find it
        parent   agent-2___________
        elapsed  <t>s
        used     2 turns · 1 call · <n> tokens
        output   <dir>/state/reports/agent-1___________-output.log

        The child's report.
    "#]],
    );
}

/// Main agent whose sub-agent asks a question that only the person can answer.
fn asking() -> ScriptedServer {
    asking_all(&["Which one?"])
}

/// Sub-agent that asks all of this at once.
fn asking_all(questions: &[&str]) -> ScriptedServer {
    let calls = questions.iter().map(|question| reply::call("Ask", json!({"question": question})));
    let task = json!({"description": "Ask", "prompt": "CHILD", "subagent_type": "general-purpose"});
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("QUESTION").turn(1), reply::text("The person knows."))
        .on(when::prompt_contains("QUESTION"), reply::text("It is settled."))
        .on(when::turn(0), reply::calls(calls.collect::<Vec<_>>()))
        .otherwise(reply::text("So the second."));
    ScriptedServer::start(script).unwrap()
}

#[test]
fn a_question_outlives_the_process_and_so_does_its_answer() {
    let (world, server) = (World::new(), asking());
    let (live, child) = parked(&world, &server);
    kill(live);
    let status = world.sortie(["task-status", &child, "--json"]).run().stdout_json();
    assert_eq!((&status["status"], &status["question"]), (&json!("interrupted"), &json!("Which one?")));
    assert!(world.sortie(["tasks", "send", &child, "The second one."]).run().stdout.starts_with("kept: "));
    let resumed = world.sortie(["resume"]).on(&server, "anthropic").run();
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "The person knows.\n\nIt is settled.\n"), "{resumed:#?}");
    let last =
        server.requests().iter().rfind(|request| !request.body.to_string().contains("QUESTION")).unwrap().clone();
    let results = last.body["messages"][2]["content"].to_string();
    assert!(results.contains("The second one."), "{results}");
    assert_eq!(last.body.to_string().matches("The second one.").count(), 1, "{}", last.body);
}

#[test]
fn k18_events_are_in_order_and_each_names_its_task() {
    let (world, server) = (World::new(), held(true));
    server.gate("child").open();
    server.gate("end").open();
    let args = ["run", "--output-format", "stream-json", "QUESTION"];
    let ended = world.sortie(args).on(&server, "anthropic").run();
    let mut lines: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let outcome = lines.pop().unwrap();
    let text = json!("It is on its way.\n\nIt is here.");
    assert_eq!((ended.code, &outcome["type"], &outcome["text"]), (0, &json!("outcome"), &text));
    let (main, child) = (outcome["task_id"].clone(), outcome["children"][0]["task_id"].clone());
    let at = |task: &Value, kind: &str| {
        let place = lines.iter().position(|line| line["task_id"] == *task && line["type"] == kind);
        place.unwrap_or_else(|| panic!("no {kind} of {task}: {}", ended.stdout))
    };
    for (task, parent, depth) in [(&main, &Value::Null, 0), (&child, &main, 1)] {
        let own: Vec<&Value> = lines.iter().filter(|line| line["task_id"] == *task).collect();
        let numbers: Vec<u64> = own.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=own.len() as u64).collect::<Vec<_>>(), "{task}");
        assert!(own.iter().all(|line| line["parent_id"] == *parent && line["depth"] == depth), "{own:#?}");
    }
    let order = [
        at(&main, "task_started"),
        at(&child, "task_started"),
        at(&child, "task_ended"),
        at(&main, "mail_read"),
        at(&main, "task_ended"),
    ];
    assert!(order.is_sorted(), "{order:?} {}", ended.stdout);
    assert!(at(&main, "child_started") < at(&child, "task_admitted"), "{}", ended.stdout);
    assert!(at(&main, "child_ended") < at(&main, "mail_read"), "{}", ended.stdout);
}

#[test]
fn a_question_to_the_parent_is_shown_with_the_way_to_answer_it() {
    let (world, server) = (World::new(), asking());
    let (live, child) = parked(&world, &server);
    check(
        &world.sortie(["task-status", &child]).run(),
        &expect![[r#"
        exit 0
        --- stdout
        agent-1___________ general-purpose running, waiting for an answer

        title    Ask
        parent   agent-2___________
        elapsed  <t>s
        used     1 turn · 0 calls · <n> tokens
        last     Ask
        output   <dir>/state/reports/agent-1___________-output.log
        asks     Which one?
        answer   sortie tasks send agent-1___________ "…"
    "#]],
    );
    check(
        &world.sortie(["tasks", "send", &child, "The second one."]).run(),
        &expect![[r#"
        exit 0
        --- stdout
        delivered: agent-1___________ takes it as the answer to: Which one?
    "#]],
    );
    let ended = live.wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "The person knows.\n\nIt is settled.\n"), "{ended:#?}");
    for line in [
        format!("main: {child} general-purpose “Ask” continues in the background\n"),
        format!("general-purpose {child}: asks its parent: Which one?\n"),
        "main: has read the message\n".to_owned(),
        format!("general-purpose {child}: message from the person: The second one.\n"),
    ] {
        assert_eq!(ended.stderr.matches(&line).count(), 1, "{line}{}", ended.stderr);
    }
    assert!(!ended.stderr.contains("main: message from"), "a question is told once: {}", ended.stderr);
    let told = server.requests().iter().map(|request| request.body.to_string()).collect::<String>();
    assert!(told.contains("The second one."), "{told}");
}

#[test]
fn all_open_questions_are_shown_and_a_message_answers_the_first_one() {
    let (world, server) = (World::new(), asking_all(&["Delete all?", "Which colour?"]));
    let (live, child) = parked(&world, &server);
    recorded(&world, "question_asked", 2);
    let status = world.sortie(["task-status", &child]).run().stdout;
    let shown: Vec<&str> =
        status.lines().filter(|line| line.starts_with("asks") || line.starts_with("answer")).collect();
    let answer = format!("answer   sortie tasks send {child} \"…\" # answers the first of them");
    assert_eq!(shown, ["asks     Delete all?", "asks     Which colour?", &answer]);
    let status = world.sortie(["task-status", &child, "--json"]).run().stdout_json();
    assert_eq!(status["question"], "Delete all?");
    assert_eq!(status["questions"], json!(["Delete all?", "Which colour?"]));
    let sent = world.sortie(["tasks", "send", &child, "None of it."]).run();
    assert_eq!(sent.stdout, format!("delivered: {child} takes it as the answer to: Delete all?\n"));
    let sent = world.sortie(["tasks", "send", &child, "Blue.", "--json"]).run().stdout_json();
    assert_eq!(sent, json!({"task_id": child, "state": "delivered", "question": "Which colour?"}));
    assert_eq!(live.wait().code, 0);
    let last =
        server.requests().iter().rfind(|request| !request.body.to_string().contains("QUESTION")).unwrap().clone();
    let results = last.body["messages"][2]["content"].to_string();
    let (first, second) = (results.find("None of it.").unwrap(), results.find("Blue.").unwrap());
    assert!(first < second, "{results}");
}
