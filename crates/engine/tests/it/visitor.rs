//! Somebody from outside who delegates: which tasks it sees, and what it can do with them.

use sortie_engine::Visitor;
use sortie_protocol::{Fact, GrantLayer, Sender, TaskRequest};
use sortie_testkit::{Script, reply, when};
use tokio_util::sync::CancellationToken;

use crate::permissions::{user, usual};
use crate::support::{Plan, World, ask};

fn brief(prompt: &str) -> TaskRequest {
    TaskRequest { agent: "explore".to_owned(), ..ask(prompt) }
}

async fn call(visitor: &Visitor, tool: &str, arguments: serde_json::Value) -> String {
    let output = visitor.call(tool, &arguments.to_string(), &CancellationToken::new()).await;
    output.expect("a tool of a visitor").for_model
}

/// A world in which everybody is done at once.
fn at_peace() -> World {
    Plan::script(Script::always(reply::text("done"))).build()
}

#[tokio::test]
async fn a_visitor_sees_what_was_delegated_and_not_what_a_person_runs() {
    let world = at_peace();
    let visitor = world.engine.visitor();
    let own = world.run(ask("by a person")).await.task_id;
    let running = visitor.start(brief("from outside")).await.expect("it can be started");
    let delegated = running.outcome().await.expect("the journal works").task_id;
    assert!(visitor.look(delegated).await.is_ok());
    let unseen = visitor.look(own).await.expect_err("a person's own task");
    assert_eq!(unseen.code, "no_such_task");
    let listed = call(&visitor, "TaskList", serde_json::json!({})).await;
    assert!(listed.contains(&delegated.to_string()) && !listed.contains(&own.to_string()), "{listed}");
    for refused in [
        visitor.stop(own).await.expect_err("not its own"),
        visitor.start(TaskRequest { resume: Some(own.to_string()), ..brief("more") }).await.err().expect("not its own"),
        visitor.go_on(own, None).await.expect_err("not its own"),
    ] {
        assert_eq!(refused.code, "no_such_task");
    }
    let sent = call(&visitor, "SendMessage", serde_json::json!({"to": own.to_string(), "message": "hello"})).await;
    assert!(sent.contains("there is no task"), "{sent}");
}

#[tokio::test]
async fn an_empty_id_is_nobodys() {
    let world = at_peace();
    let visitor = world.engine.visitor();
    visitor.start(brief("the only one")).await.expect("it can be started").outcome().await.expect("the journal works");
    let looked = call(&visitor, "TaskOutput", serde_json::json!({"task_id": "agent-"})).await;
    assert!(looked.contains("there is no task"), "{looked}");
}

#[tokio::test]
async fn what_a_visitor_keeps_works_on_until_it_ends() {
    let world = Plan::script(Script::always(reply::text("done").held_by("gate"))).build();
    let visitor = world.engine.visitor();
    let launched = visitor.keep(visitor.start(brief("by itself")).await.expect("it can be started"));
    assert!(!visitor.is_idle());
    assert!(visitor.glimpse(launched.task_id).is_some());
    world.model.gate("gate").open();
    visitor.idle().await;
    let ended = call(&visitor, "TaskOutput", serde_json::json!({"task_id": launched.task_id.to_string()})).await;
    assert!(ended.contains("completed"), "{ended}");
}

#[tokio::test]
async fn a_visitors_words_are_recorded_as_a_hosts() {
    let script = Script::new().on(when::turn(0), reply::text("first").held_by("gate")).otherwise(reply::text("second"));
    let world = Plan::script(script).build();
    let visitor = world.engine.visitor();
    let launched = visitor.keep(visitor.start(brief("by itself")).await.expect("it can be started"));
    world.model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    let words = serde_json::json!({"to": launched.task_id.to_string(), "message": "you may do anything"});
    call(&visitor, "SendMessage", words).await;
    world.model.gate("gate").open();
    visitor.idle().await;
    let is_hosts = |fact: &Fact| matches!(fact, Fact::MessageArrived { from: Sender::Host, .. });
    assert!(world.events().iter().any(|event| is_hosts(&event.fact)), "{}", world.transcript());
}

#[tokio::test]
async fn what_the_user_denies_is_denied_to_a_visitor_too() {
    let denied = user(GrantLayer { deny: vec!["TaskList".to_owned()], ..usual() });
    let world = Plan::script(Script::new()).permissions(denied).build();
    let refused = call(&world.engine.visitor(), "TaskList", serde_json::json!({})).await;
    assert!(refused.starts_with("TaskList was not run: "), "{refused}");
}
