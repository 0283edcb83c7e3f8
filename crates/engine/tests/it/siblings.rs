//! Sub-agents side by side. A failure of one harms no other, nobody waits for another's resources, and a background
//! agent is the same as a foreground one.

use std::time::Duration;

use serde_json::json;
use sortie_protocol::{AgentConfig, Event, Fact, GrantLayer, Status};
use sortie_testkit::{Script, ScriptedModel, ScriptedReply, Seen, reply, when};

use crate::mail_at_every_event::{Asked, call, task};
use crate::mail_races::{Site, answering, rules};
use crate::permissions::{user, usual};
use crate::support::{Plan, World, ask};
use crate::told::Told;

/// One is stuck, one fails and one breaks down next to two others; the stuck one is stopped once the last one has
/// reported.
fn mishaps(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls(["FIRST", "STUCK", "FAILING", "BREAKING", "LAST"].map(|part| task(part, true))),
        ("MAIN", _) if asked.last.contains("The report of LAST") => call("TaskStop", json!({"task_id": "<task 2>"})),
        ("STUCK", _) => reply::never(),
        ("FAILING", _) => reply::status(401).after_ms(500),
        ("BREAKING", 0) => call("LS", json!({})).after_ms(1000),
        ("BREAKING", _) => panic!("as the script says"),
        ("FIRST", _) => asked.report().after_ms(100),
        ("LAST", _) => asked.report().after_ms(3000),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn f40_a_child_that_is_stuck_fails_or_panics_harms_no_other() {
    let site = Site::new(answering(mishaps));
    let began = tokio::time::Instant::now();
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert!(began.elapsed() < Duration::from_secs(5), "nobody waited for the stuck one: {:?}", began.elapsed());
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    let read = |event: &Event| match &event.fact {
        Fact::MailRead { text, .. } => Some(text.clone()),
        _ => None,
    };
    let mail: Vec<String> = site.events(outcome.task_id).iter().filter_map(read).collect();
    let told = ["The report of FIRST", "401", "broke down", "The report of LAST"];
    let has = |(text, words): (&String, &str)| text.contains(words);
    assert!(mail.len() == told.len() && mail.iter().zip(told).all(has), "one after the other: {mail:#?}");
    assert!(site.outputs("MAIN").iter().any(|output| output.contains("cancelled")), "{:?}", site.outputs("MAIN"));
}

#[tokio::test(start_paused = true)]
async fn f40_a_parent_that_waits_for_all_gets_ended_reports_even_if_one_is_stuck() {
    let all = json!({"task_ids": ["<task 1>", "<task 2>", "<task 3>"], "timeout": 60_000});
    let script = Script::new()
        .on(
            when::prompt_contains("MAIN").turn(0),
            reply::calls(["FIRST", "STUCK", "LAST"].map(|part| task(part, true))),
        )
        .on(when::prompt_contains("MAIN").turn(1), call("TaskOutput", all))
        .on(when::prompt_contains("MAIN").turn(2), call("TaskStop", json!({"task_id": "<task 2>"})))
        .on(when::prompt_contains("MAIN"), reply::text("On."))
        .on(when::prompt_contains("STUCK"), reply::never())
        .on(when::prompt_contains("FIRST"), reply::text("The first report!"))
        .otherwise(reply::text("The last report!").after_ms(500));
    let site = Site::new(Plan::script(script));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    let looked = site.outputs("MAIN").remove(3);
    assert!(looked.contains("The first report!") && looked.contains("The last report!"), "{looked}");
    assert!(looked.contains("1 of 3 has not ended"), "{looked}");
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
}

/// Two agents read both files and then edit them, each in the other's order.
fn crossing(asked: &Asked<'_>) -> ScriptedReply {
    let read = |path: &str| reply::call("Read", json!({"file_path": path}));
    let edit =
        |path: &str| reply::call("Edit", json!({"file_path": path, "old_string": asked.who, "new_string": "edited"}));
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("LEFT", true), task("RIGHT", true)]),
        ("LEFT" | "RIGHT", 0) => reply::calls([read("a.md"), read("b.md")]),
        ("LEFT", 1) => reply::calls([edit("a.md"), edit("b.md")]),
        ("RIGHT", 1) => reply::calls([edit("b.md"), edit("a.md")]),
        _ => asked.report(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn f49_two_agents_that_edit_the_same_files_in_crossed_order_both_finish() {
    for at_once in [1, 2] {
        for _ in 0..10 {
            let model = ScriptedModel::answering(|request| crossing(&Asked::of(request)));
            let text = "LEFT\nRIGHT\n";
            let world = Plan::of(model).files(&[("a.md", text), ("b.md", text)]).rules(rules(at_once)).build();
            let ended = tokio::time::timeout(Duration::from_mins(5), world.run(ask("MAIN"))).await;
            assert_eq!(ended.expect("nobody waits for ever").status, Status::Completed);
            assert_eq!(n_edited(&world), n_told_as_edited(&world), "{at_once} at once");
            assert!(n_edited(&world) == 4 || at_once > 1, "one after the other, none is in the other's way");
        }
    }
}

fn n_edited(world: &World) -> usize {
    let text = |name: &str| std::fs::read_to_string(world.home.path().join("workspace").join(name)).expect("a file");
    ["a.md", "b.md"].map(|name| text(name).matches("edited").count()).iter().sum()
}

/// Number of edits reported as made. The other edits were refused because somebody else had changed the file.
fn n_told_as_edited(world: &World) -> usize {
    let is_made = |event: &Event| match &event.fact {
        Fact::CallFinished { output, .. } => !output.output.files_changed.is_empty(),
        _ => false,
    };
    world.events().iter().filter(|event| is_made(event)).count()
}

/// Configuration of one sub-agent, started in the background or not, and its input at each turn.
async fn made(contract: &str, agent: &str, background: bool) -> (AgentConfig, Vec<Seen>) {
    let arguments = json!({
        "description": "Part", "prompt": "CHILD", "subagent_type": agent, "run_in_background": background
    });
    let calls = [
        reply::call("Read", json!({"file_path": "a.md"})),
        reply::call("Read", json!({"file_path": "secret.md"})),
        reply::call("Write", json!({"file_path": "new.md", "content": "new"})),
        reply::call("Bash", json!({"command": "true"})),
    ];
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", arguments)]))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls(calls))
        .otherwise(reply::text("Done."));
    let layer = GrantLayer { deny: vec!["Read(secret.md)".to_owned()], ..usual() };
    let plan = Plan::script(script).contract(contract).files(&[("a.md", "text"), ("secret.md", "text")]);
    let world = plan.permissions(user(layer)).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    let config = |event: Event| match event.fact {
        Fact::TaskStarted { job } if job.parent.is_some() => Some(job.config),
        _ => None,
    };
    let config = world.events().into_iter().find_map(config).expect("it was started");
    (config, world.seen_by("CHILD"))
}

#[tokio::test(start_paused = true)]
async fn a_background_agent_has_the_same_tools_and_grant() {
    for contract in ["typed", "sortie"] {
        for agent in ["explore", "plan", "bash", "general-purpose"] {
            let (before, beside) = (made(contract, agent, false).await, made(contract, agent, true).await);
            assert_eq!(before.0, beside.0, "{contract} {agent}");
            let asked = |seen: &[Seen]| -> Vec<String> { seen.iter().map(|seen| format!("{seen:?}")).collect() };
            assert_eq!(asked(&before.1), asked(&beside.1), "{contract} {agent}: offered and answered alike");
            assert_eq!(before.1.len(), 2, "{contract} {agent}");
        }
    }
}
