//! Somebody from outside who delegates: which tasks it sees, and what it can do with them.

use sortie_engine::Host;
use sortie_protocol::{Fact, FailureCode, GrantLayer, Sender, TaskRequest};
use sortie_testkit::{Script, reply, when};
use tokio_util::sync::CancellationToken;

use crate::mail_races::Site;
use crate::permissions::{user, usual};
use crate::relic::Relic;
use crate::support::{Plan, World, ask};

fn brief(prompt: &str) -> TaskRequest {
    TaskRequest { agent: "explore".to_owned(), ..ask(prompt) }
}

async fn call(visitor: &Host, tool: &str, arguments: serde_json::Value) -> String {
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
    let visitor = world.engine.host();
    let own = world.run(ask("by a person")).await.task_id;
    let running = visitor.start(brief("from outside")).await.expect("it can be started");
    let delegated = running.outcome().await.expect("the journal works").task_id;
    assert!(visitor.look(delegated).await.is_ok());
    let unseen = visitor.look(own).await.expect_err("a person's own task");
    assert_eq!(unseen.code, FailureCode::NoSuchTask);
    let listed = call(&visitor, "TaskList", serde_json::json!({})).await;
    assert!(listed.contains(&delegated.to_string()) && !listed.contains(&own.to_string()), "{listed}");
    for refused in [
        visitor.stop(own).await.expect_err("not its own"),
        visitor.start(TaskRequest { resume: Some(own.to_string()), ..brief("more") }).await.err().expect("not its own"),
        visitor.go_on(own, None).await.expect_err("not its own"),
    ] {
        assert_eq!(refused.code, FailureCode::NoSuchTask);
    }
    let sent = call(&visitor, "SendMessage", serde_json::json!({"to": own.to_string(), "message": "hello"})).await;
    assert!(sent.contains("there is no task"), "{sent}");
}

#[tokio::test]
async fn an_empty_id_is_nobodys() {
    let world = at_peace();
    let visitor = world.engine.host();
    visitor.start(brief("the only one")).await.expect("it can be started").outcome().await.expect("the journal works");
    let looked = call(&visitor, "TaskOutput", serde_json::json!({"task_id": "agent-"})).await;
    assert!(looked.contains("there is no task"), "{looked}");
}

#[tokio::test]
async fn what_a_visitor_keeps_works_on_until_it_ends() {
    let world = Plan::script(Script::always(reply::text("done").held_by("gate"))).build();
    let visitor = world.engine.host();
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
    let visitor = world.engine.host();
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
    let refused = call(&world.engine.host(), "TaskList", serde_json::json!({})).await;
    assert!(refused.starts_with("TaskList was not run: "), "{refused}");
}

/// A task that was delegated from outside and whose process was killed before it ended; and the place as a later one
/// has it.
async fn interrupted(script: fn() -> Script) -> (Site, String) {
    let site = Site::new(Plan::script(script()));
    let running = site.engine.host().start(brief("from outside")).await.expect("it can be started");
    let task = running.outcome().await.expect("the journal works").task_id;
    let appends = site.journal.appends();
    let left = Relic::of(&appends[..appends.len() - 1]).await;
    (site.later(Plan::script(script()), left), task.to_string())
}

fn done() -> Script {
    Script::always(reply::text("done"))
}

#[tokio::test]
async fn a_visitor_can_end_a_task_that_nobody_runs_any_more() {
    let (site, task) = interrupted(done).await;
    let visitor = site.engine.host();
    let stopped = call(&visitor, "TaskStop", serde_json::json!({"task_id": task})).await;
    assert!(stopped.contains(&format!("{task} explore cancelled")), "{stopped}");
    let again = call(&visitor, "TaskStop", serde_json::json!({"task_id": task})).await;
    assert!(again.contains("it had ended before: nothing was stopped"), "{again}");
}

#[tokio::test]
async fn a_visitor_can_end_a_task_that_works_elsewhere() {
    let world = Plan::script(Script::always(reply::never())).build();
    let there = world.engine.host();
    let launched = there.keep(there.start(brief("by itself")).await.expect("it can be started"));
    let here = Plan::script(Script::new()).build_over(&world).engine.host();
    let stopped = call(&here, "TaskStop", serde_json::json!({"task_id": launched.task_id.to_string()})).await;
    assert!(stopped.contains("explore cancelled"), "{stopped}");
    there.idle().await;
}

#[tokio::test]
async fn a_visitor_is_told_how_an_interrupted_task_goes_on_and_that_it_does() {
    let (site, task) = interrupted(done).await;
    let visitor = site.engine.host();
    let looked = call(&visitor, "TaskOutput", serde_json::json!({"task_id": task, "block": false})).await;
    let expected = format!("nobody runs {task}: no report of it comes before SendMessage has it go on");
    assert!(looked.contains(&expected), "{looked}");
    let sent = call(&visitor, "SendMessage", serde_json::json!({"to": task, "message": "Go on."})).await;
    assert_eq!(sent, format!("{task} goes on with it in the background; TaskOutput waits for its report"));
    visitor.idle().await;
}
