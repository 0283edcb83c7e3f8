//! Templates in prompts to tasks: when they start, and when they are resumed.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_engine::Resumption;
use sortie_protocol::{Message, Status, TaskRequest};
use sortie_testkit::{Script, reply, when};

use super::support::{Plan, World, ask};

/// The first task that a main agent starts.
const CHILD: &str = "agent-aaaaaaaaaaab";
const TEMPLATE: &str = "---
description: Write tests for one file
agent: plan
model: light
arguments: [path]
---
Test {{path}}.
";

/// A world with a template, and a main agent that has a part done and then makes this call.
fn world(call: &str, arguments: Value) -> World {
    let first = json!({"description": "Part", "prompt": "FIRST", "subagent_type": "explore"});
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", first)]))
        .on(when::prompt_contains("MAIN").turn(1), reply::calls([reply::call(call, arguments)]))
        .otherwise(reply::text("Done."));
    Plan::script(script).agent_files().files(&[(".sortie/templates/try-file.md", TEMPLATE)]).build()
}

/// The main agent's last output.
fn read(world: &World) -> String {
    let last = world.seen_by("MAIN").pop().and_then(|mut seen| seen.messages.pop());
    match last {
        Some(Message::Outputs { mut outputs }) => outputs.pop().expect("an output").output.for_model,
        Some(Message::User { text }) => text,
        other => panic!("neither outputs nor mail: {other:?}"),
    }
}

/// The last prompt of the task with this brief.
fn asked(world: &World, brief: &str) -> String {
    match world.seen_by(brief).pop().and_then(|mut seen| seen.messages.pop()) {
        Some(Message::User { text }) => text,
        other => panic!("nobody asked: {other:?}"),
    }
}

const NOTICES: &str = "\
the prompt is the template `try-file` (project: .sortie/templates/try-file.md)
requested `plan`; the task keeps its agent `explore`
requested `light`; the task keeps its model `scripted`";

#[tokio::test(start_paused = true)]
async fn a_task_resumed_by_a_call_gets_the_expanded_template() {
    let call = json!({"description": "More", "prompt": "/try-file path=zz", "resume": CHILD});
    let world = world("Task", call);
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(asked(&world, "FIRST"), "Test zz.");
    let told = read(&world);
    let notices: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("notice: ")).collect();
    assert_eq!(notices.join("\n"), NOTICES);
}

#[tokio::test(start_paused = true)]
async fn an_ended_task_gets_a_message_as_an_expanded_template() {
    let world = world("SendMessage", json!({"to": CHILD, "message": "/try-file path=zz"}));
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(asked(&world, "FIRST"), "Test zz.");
    let told = read(&world);
    assert!(NOTICES.lines().all(|notice| told.contains(notice)), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_task_resumed_without_a_parent_gets_the_expanded_template() {
    let world = world("LS", json!({"path": "."}));
    let main = world.run(ask("MAIN")).await;
    let prompt = Some("/try-file path=kk".to_owned());
    let running = world.engine.resume(main.task_id, Resumption { prompt, ..Resumption::default() }).await;
    let resumed = running.expect("it resumes").outcome().await.expect("the journal works");
    assert_eq!(asked(&world, "MAIN"), "Test kk.");
    assert_eq!(resumed.notices.join("\n"), NOTICES.replace("`explore`", "`main`"));
    let resume = Some(CHILD.to_owned());
    let running = world.engine.task(TaskRequest { resume, ..ask("/try-file path=zz") }).await;
    running.expect("it resumes").outcome().await.expect("the journal works");
    assert_eq!(asked(&world, "FIRST"), "Test zz.");
}

#[tokio::test(start_paused = true)]
async fn a_template_call_that_does_not_fit_starts_no_leg() {
    let world = world("Task", json!({"description": "More", "prompt": "/try-file", "resume": CHILD}));
    world.run(ask("MAIN")).await;
    assert_eq!(world.seen_by("FIRST").len(), 1);
    expect![
        "No sub-agent was started (template_arguments): the template `try-file` needs `path=…`; it takes path=… [words]"
    ]
    .assert_eq(&read(&world));
}

#[tokio::test(start_paused = true)]
async fn a_resuming_call_without_an_agent_requests_no_other_agent() {
    let world = world("Task", json!({"description": "More", "prompt": "SECOND", "resume": CHILD}));
    world.run(ask("MAIN")).await;
    assert_eq!(asked(&world, "FIRST"), "SECOND");
    let told = read(&world);
    assert!(!told.contains("notice"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_templates_agent_serves_if_the_call_names_none() {
    for (named, serves) in [(None, "plan"), (Some("general-purpose"), "general-purpose"), (Some("explore"), "explore")]
    {
        let mut call = json!({"description": "More", "prompt": "/try-file path=zz"});
        if let Some(named) = named {
            call["subagent_type"] = json!(named);
        }
        let world = world("Task", call);
        world.run(ask("MAIN")).await;
        let told = read(&world);
        assert!(told.contains(&format!(" {serves} completed")), "{named:?}: {told}");
    }
}
