//! A task resumes under other circumstances than it began: it can do less, and learns so, or it is refused.

use std::fs;

use expect_test::expect;
use serde_json::json;
use sortie_engine::Resumption;
use sortie_protocol::{Failure, FailureCode, GrantLayer, Status, TaskId, TaskOutcome, TaskRequest};
use sortie_testkit::{Script, reply, when};

use crate::permissions::{rules, user, usual};
use crate::support::{Plan, World, ask};

const SCOUT: &str = ".sortie/agents/scout.md";

/// An agent's file with these tools.
fn scout(tools: &str) -> String {
    format!("---\nname: scout\ndescription: looks around\ntools: {tools}\n---\nYou scout.\n")
}

/// Writes a file at its first turn after each prompt, if it can, and then reports.
fn writing() -> Script {
    let write = reply::call("Write", json!({"file_path": "new.txt", "content": "new"}));
    Script::new().on(when::last_contains("AGAIN"), reply::calls([write])).otherwise(reply::text("Done."))
}

fn world() -> World {
    Plan::script(writing()).files(&[(SCOUT.to_owned(), scout("Read, Write"))]).agent_files().build()
}

/// A task of the scout that has ended.
async fn scouted(world: &World) -> TaskId {
    let request = TaskRequest { agent: "scout".to_owned(), ..ask("Look around.") };
    world.engine.task(request).await.expect("it starts").outcome().await.expect("the journal works").task_id
}

async fn again(world: &World, task: TaskId) -> Result<TaskOutcome, Failure> {
    let resumption = Resumption { prompt: Some("AGAIN".to_owned()), ..Resumption::default() };
    Ok(world.engine.resume(task, resumption).await?.outcome().await.expect("the journal works"))
}

fn tools_offered(world: &World) -> String {
    world.model.seen().last().expect("a request").tools.join(" ")
}

fn has_written(world: &World) -> bool {
    world.home.path().join("workspace/new.txt").exists()
}

#[tokio::test]
async fn a_resumed_agent_without_one_of_its_tools_says_so() {
    let world = world();
    let task = scouted(&world).await;
    assert_eq!(tools_offered(&world), "Read Write");
    fs::write(world.home.path().join("workspace").join(SCOUT), scout("Read")).expect("the file can be written");
    let outcome = again(&world, task).await.expect("it resumes");
    assert_eq!((tools_offered(&world).as_str(), has_written(&world)), ("Read", false), "{outcome:?}");
    assert_eq!(outcome.notices, ["no longer granted: Write", "its only tool call was refused"]);
}

#[tokio::test]
async fn a_tool_denied_in_one_resumption_is_back_in_the_next() {
    let world = world();
    let task = scouted(&world).await;
    let denying = GrantLayer { deny: rules(&["Write"]), ..usual() };
    let stricter = Plan::script(writing()).agent_files().permissions(user(denying)).build_over(&world);
    again(&stricter, task).await.expect("it resumes");
    assert!(!has_written(&world));
    again(&world, task).await.expect("it resumes");
    assert_eq!((tools_offered(&world).as_str(), has_written(&world)), ("Read Write", true));
}

#[tokio::test]
async fn a_directory_added_later_stays_closed_to_a_resumed_task() {
    let elsewhere = tempfile::tempdir().expect("a temp directory");
    let file = elsewhere.path().canonicalize().expect("it is there").join("far.txt");
    fs::write(&file, "far away").expect("a fresh file");
    let reading = || {
        let read = reply::call("Read", json!({"file_path": file}));
        let script = Script::new().on(when::last_contains("AGAIN"), reply::calls([read]));
        Plan::script(script.otherwise(reply::text("Done.")))
    };
    let added = |plan: Plan| Plan { added: vec![elsewhere.path().to_owned()], ..plan };
    let far_away = |world: &World| format!("{:?}", world.model.seen().last()).contains("far away");
    let without = reading().build();
    let task = without.run(ask("Look around.")).await.task_id;
    let later = added(reading()).build_over(&without);
    let outcome = again(&later, task).await.expect("it resumes");
    let told = outcome
        .notices
        .join("\n")
        .replace(&elsewhere.path().canonicalize().expect("it is there").display().to_string(), "DIR");
    expect![[r#"
        DIR was not added when this task was started, and stays closed to it
        its only tool call failed"#]]
    .assert_eq(&told);
    assert!(!far_away(&later));
    let with = added(reading()).build();
    let task = with.run(ask("Look around.")).await.task_id;
    again(&with, task).await.expect("it resumes");
    assert!(far_away(&with), "it had it at its start");
    let gone = again(&reading().build_over(&with), task).await.expect("it resumes");
    assert!(gone.notices.iter().any(|notice| notice.ends_with("is no longer added")), "{:?}", gone.notices);
}

#[tokio::test]
async fn a_resumed_agent_does_not_gain_later_permissions() {
    let world = world();
    let task = scouted(&world).await;
    let more = scout("Read, Write, Grep").replace("You scout.", "You do all.");
    fs::write(world.home.path().join("workspace").join(SCOUT), more).expect("the file can be written");
    let outcome = again(&world, task).await.expect("it resumes");
    assert_eq!((outcome.status, has_written(&world)), (Status::Completed, true));
    let changed = "the file of agent `scout` has changed; this task keeps the role it began with";
    assert_eq!(outcome.notices, [changed]);
    assert_eq!(tools_offered(&world), "Read Write");
    assert_eq!(world.model.seen().last().expect("a request").system, "You scout.", "its conversation began so");
}

#[tokio::test]
async fn a_missing_or_renamed_agent_is_refused_with_the_reason() {
    let (removed, renamed) = (world(), world());
    let tasks = [scouted(&removed).await, scouted(&renamed).await];
    fs::remove_file(removed.home.path().join("workspace").join(SCOUT)).expect("the file is there");
    let other = scout("Read, Write").replace("name: scout", "name: ranger");
    fs::write(renamed.home.path().join("workspace").join(SCOUT), other).expect("the file can be written");
    let refusal = again(&removed, tasks[0]).await.expect_err("it is refused");
    expect!["agent_gone: this task's agent cannot be found: unknown agent `scout`; there are main, general-purpose, explore, plan, summary, bash; bring its file back, or start a new task"].assert_eq(&format!("{}: {}", refusal.code, refusal.message));
    let refusal = again(&renamed, tasks[1]).await.expect_err("it is refused");
    assert!(refusal.code == FailureCode::AgentGone && refusal.message.contains("ranger"), "{refusal:?}");
    for world in [&removed, &renamed] {
        assert!(world.events().iter().all(|event| event.leg == 1), "nothing was begun");
    }
}

#[tokio::test]
async fn a_stricter_policy_applies_to_a_resumed_task() {
    let world = world();
    let task = scouted(&world).await;
    let denying = GrantLayer { deny: rules(&["Write"]), ..usual() };
    let stricter = Plan::script(writing()).agent_files().permissions(user(denying)).build_over(&world);
    let outcome = again(&stricter, task).await.expect("it resumes");
    assert_eq!((tools_offered(&stricter).as_str(), has_written(&world)), ("Read", false));
    assert_eq!(outcome.notices, ["no longer granted: Write", "its only tool call was refused"]);
}
