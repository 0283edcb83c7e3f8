//! Hosts, which delegate from outside: the tasks they see, and their actions on them.

use std::sync::Arc;

use serde_json::{Value, json};
use sortie_engine::{Host, Permissions};
use sortie_policy::Redactor;
use sortie_protocol::{Fact, FailureCode, GrantLayer, Sender, TaskRequest, ToolOutput};
use sortie_testkit::{Script, reply, when};
use sortie_tools::{CallContext, TypedTool};
use tokio_util::sync::CancellationToken;

use crate::mail_races::Site;
use crate::permissions::{user, usual};
use crate::relic::Relic;
use crate::support::{Plan, World, ask};

fn brief(prompt: &str) -> TaskRequest {
    TaskRequest { agent: "explore".to_owned(), ..ask(prompt) }
}

async fn call(host: &Host, tool: &str, arguments: Value) -> String {
    let output = host.call(tool, &arguments.to_string(), &CancellationToken::new()).await;
    output.expect("a tool of a host").for_model
}

/// A world in which everybody is done at once.
fn at_peace() -> World {
    Plan::script(Script::always(reply::text("done"))).build()
}

#[tokio::test]
async fn a_host_sees_delegated_tasks_but_not_a_persons_runs() {
    let world = at_peace();
    let host = world.engine.host();
    let own = world.run(ask("by a person")).await.task_id;
    let running = host.start(brief("from outside")).await.expect("it can be started");
    let delegated = running.outcome().await.expect("the journal works").task_id;
    assert!(host.look(delegated).await.is_ok());
    let unseen = host.look(own).await.expect_err("a person's own task");
    assert_eq!(unseen.code, FailureCode::NoSuchTask);
    let listed = call(&host, "SubagentList", json!({})).await;
    assert!(listed.contains(&delegated.to_string()) && !listed.contains(&own.to_string()), "{listed}");
    for refused in [
        host.stop(own).await.expect_err("not its own"),
        host.start(TaskRequest { resume: Some(own.to_string()), ..brief("more") }).await.err().expect("not its own"),
        host.resume(own, None).await.expect_err("not its own"),
    ] {
        assert_eq!(refused.code, FailureCode::NoSuchTask);
    }
    let sent = call(&host, "SubagentMessage", json!({"to": own.to_string(), "message": "hello"})).await;
    assert!(sent.contains("there is no task"), "{sent}");
}

#[tokio::test]
async fn an_empty_id_matches_no_task() {
    let world = at_peace();
    let host = world.engine.host();
    host.start(brief("the only one")).await.expect("it can be started").outcome().await.expect("the journal works");
    let looked = call(&host, "SubagentOutput", json!({"task_id": "agent-"})).await;
    assert!(looked.contains("there is no task"), "{looked}");
}

#[tokio::test]
async fn a_task_kept_by_a_host_runs_until_it_ends() {
    let world = Plan::script(Script::always(reply::text("done").held_by("gate"))).build();
    let host = world.engine.host();
    let launched = host.keep(host.start(brief("by itself")).await.expect("it can be started"));
    assert!(!host.is_idle());
    assert!(host.glimpse(launched.task_id).is_some());
    world.model.gate("gate").open();
    host.idle().await;
    let ended = call(&host, "SubagentOutput", json!({"task_id": launched.task_id.to_string()})).await;
    assert!(ended.contains("completed"), "{ended}");
}

#[tokio::test]
async fn a_hosts_messages_are_recorded_as_a_hosts() {
    let script = Script::new().on(when::turn(0), reply::text("first").held_by("gate")).otherwise(reply::text("second"));
    let world = Plan::script(script).build();
    let host = world.engine.host();
    let launched = host.keep(host.start(brief("by itself")).await.expect("it can be started"));
    world.model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    let words = json!({"to": launched.task_id.to_string(), "message": "you may do anything"});
    call(&host, "SubagentMessage", words).await;
    world.model.gate("gate").open();
    host.idle().await;
    let is_hosts = |fact: &Fact| matches!(fact, Fact::MessageArrived { from: Sender::Host, .. });
    assert!(world.events().iter().any(|event| is_hosts(&event.fact)), "{}", world.transcript());
}

#[tokio::test]
async fn the_users_denials_apply_to_a_host_too() {
    let denied = user(GrantLayer { deny: vec!["TaskList".to_owned()], ..usual() });
    let world = Plan::script(Script::new()).permissions(denied).build();
    let refused = call(&world.engine.host(), "SubagentList", json!({})).await;
    assert!(refused.starts_with("SubagentList was not run: "), "{refused}");
    // A rule may use the name by which the host knows the tool.
    let denied = user(GrantLayer { deny: vec!["SubagentList".to_owned()], ..usual() });
    let world = Plan::script(Script::new()).permissions(denied).build();
    assert!(call(&world.engine.host(), "SubagentList", json!({})).await.starts_with("SubagentList was not run: "));
}

/// A list of tasks that says what its caller's rules forbid, or breaks down.
struct Leaky;

impl TypedTool for Leaky {
    type Input = Value;
    const NAME: &'static str = "TaskList";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "lists".to_owned()
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    async fn run(&self, input: Value, _context: CallContext<'_>) -> ToolOutput {
        assert!(input["trips"].is_null(), "it trips");
        ToolOutput::done(format!("one task, with {KEY}"), "one task")
    }
}

const KEY: &str = "our-own-key-1234567890";

#[tokio::test]
async fn a_hosts_calls_are_redacted_and_may_break_down_like_a_tasks() {
    let redactor = Arc::new(Redactor::new(vec![KEY.to_owned()]));
    let permissions = Permissions { redactor, ..Permissions::unrestricted() };
    let world = Plan::script(Script::new()).permissions(permissions).tool(Leaky).build();
    let listed = call(&world.engine.host(), "SubagentList", json!({})).await;
    assert!(listed.starts_with("one task, with ") && !listed.contains(KEY), "{listed}");
    let broken = call(&world.engine.host(), "SubagentList", json!({"trips": true})).await;
    assert_eq!(broken, "SubagentList broke down: it trips. This is a bug in the tool; try another way.");
}

/// A host's task whose process was killed before it ended, and the workspace as a later process has it.
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
async fn a_host_can_stop_an_interrupted_task() {
    let (site, task) = interrupted(done).await;
    let host = site.engine.host();
    let stopped = call(&host, "SubagentStop", json!({"task_id": task})).await;
    assert!(stopped.contains(&format!("{task} explore cancelled")), "{stopped}");
    let again = call(&host, "SubagentStop", json!({"task_id": task})).await;
    assert!(again.contains("it had ended before: nothing was stopped"), "{again}");
}

#[tokio::test]
async fn a_host_can_stop_a_task_in_another_process() {
    let world = Plan::script(Script::always(reply::never())).build();
    let there = world.engine.host();
    let launched = there.keep(there.start(brief("by itself")).await.expect("it can be started"));
    let here = Plan::script(Script::new()).build_over(&world).engine.host();
    let stopped = call(&here, "SubagentStop", json!({"task_id": launched.task_id.to_string()})).await;
    assert!(stopped.contains("explore cancelled"), "{stopped}");
    there.idle().await;
}

#[tokio::test]
async fn a_host_resumes_an_interrupted_task_and_learns_how() {
    let (site, task) = interrupted(done).await;
    let host = site.engine.host();
    let looked = call(&host, "SubagentOutput", json!({"task_id": task, "block": false})).await;
    let expected = format!("no process runs {task}: there is no report until SubagentMessage resumes it");
    assert!(looked.contains(&expected), "{looked}");
    let sent = call(&host, "SubagentMessage", json!({"to": task, "message": "Go on."})).await;
    assert_eq!(
        sent,
        format!("{task} resumes with it in the background; SubagentOutput with task_id {task} waits for its report")
    );
    host.idle().await;
}
