//! Resuming a task that has ended.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sortie_engine::Resumption;
use sortie_llm::{Chosen, ErrorKind, Model, ModelError, Models, UnknownModel};
use sortie_protocol::{FailureCode, GrantLayer, Limit, Limits, ModelChoice, Status, TaskOutcome, TaskRequest};
use sortie_testkit::{Script, reply, when};

use super::permissions::{rules, user, usual};
use super::support::{Plan, World, ask, restless};

fn follow_up(prompt: &str) -> Resumption {
    Resumption { prompt: Some(prompt.to_owned()), ..Resumption::default() }
}

async fn resume(world: &World, task: sortie_protocol::TaskId, resumption: Resumption) -> sortie_protocol::TaskOutcome {
    world.engine.resume(task, resumption).await.expect("it can resume").outcome().await.expect("the journal works")
}

#[tokio::test]
async fn a_follow_up_continues_the_whole_conversation_in_a_new_leg() {
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]))
        .on(when::last_contains("And now?"), reply::text("Now this."))
        .otherwise(reply::text("First that."));
    let world = Plan::script(script).build();
    let first = world.run(ask("What is here?")).await;
    assert_eq!((first.status, first.text.as_str()), (Status::Completed, "First that."));
    let second = resume(&world, first.task_id, follow_up("And now?")).await;
    assert_eq!((second.task_id, second.text.as_str()), (first.task_id, "Now this."));
    assert_eq!((second.usage.turns, second.usage.tool_calls), (3, 1), "of the whole task");
    let seen = world.seen_by("What is here?");
    assert_eq!(seen.len(), 3);
    expect![[r#"
        task-1 #1 task_started main "a question": "What is here?"
        task-1 #2 task_admitted
        task-1 #3 model_called turn 1
        task-1 #4 model_replied turn 1: call_0_1 LS {}
        task-1 #5 call_started call_0_1: LS {}
        task-1 #6 call_finished call_0_1: "[empty directory]"
        task-1 #7 model_called turn 2
        task-1 #8 model_replied turn 2: "First that."
        task-1 #9 task_ended completed: "First that." LS×1
        task-1 leg 2 #10 task_resumed main: "And now?"
        task-1 leg 2 #11 task_admitted
        task-1 leg 2 #12 model_called turn 3
        task-1 leg 2 #13 model_replied turn 3: "Now this."
        task-1 leg 2 #14 task_ended completed: "Now this." LS×1
    "#]]
    .assert_eq(&world.transcript());
}

#[tokio::test]
async fn a_completed_task_needs_a_prompt_and_an_unknown_one_is_named() {
    let world = Plan::script(Script::always(reply::text("Done."))).build();
    let done = world.run(ask("Do it.")).await;
    let error = world.engine.resume(done.task_id, Resumption::default()).await.err().expect("it is refused");
    expect!["this task is completed; say what it should do next"].assert_eq(&error.to_string());
    let nobody = "agent-zzzzzzzzzzzz".parse().expect("an id");
    let error = world.engine.resume(nobody, follow_up("x")).await.err().expect("it is refused");
    expect!["no task agent-zzzzzzzzzzzz"].assert_eq(&error.to_string());
}

/// A main agent that lists as long as it can, stopped by these limits.
async fn at_the_limit(limits: Limits) -> (World, TaskOutcome) {
    let script = Script::new().on(when::last_contains("limit"), reply::text("So far: nothing."));
    let world = Plan::script(restless(script)).build();
    let outcome = world.run(TaskRequest { limits, ..ask("Look around.") }).await;
    (world, outcome)
}

#[tokio::test]
async fn a_task_at_its_turn_limit_resumes_with_as_many_again() {
    let (world, first) = at_the_limit(Limits { max_turns: Some(2), ..Limits::default() }).await;
    assert_eq!((first.status, first.usage.turns), (Status::Partial, 3));
    let second = resume(&world, first.task_id, Resumption::default()).await;
    assert_eq!((second.status, second.usage.turns), (Status::Partial, 6), "two more, and one to report");
    let last = world.seen_by("Look around.");
    assert!(format!("{:?}", last.last()).contains("Continue your work where you stopped."));
}

#[tokio::test]
async fn a_person_who_resumes_a_task_sets_the_limits_of_the_new_leg() {
    let turns = |max_turns| Limits { max_turns: Some(max_turns), ..Limits::default() };
    let with = |limits| Resumption { limits, ..Resumption::default() };
    let (world, first) = at_the_limit(turns(2)).await;
    let second = resume(&world, first.task_id, with(turns(5))).await;
    assert_eq!((second.status, second.usage.turns), (Status::Partial, 3 + 6), "more than it began with");
    let third = resume(&world, first.task_id, with(turns(1))).await;
    assert_eq!(third.usage.turns, 9 + 2, "or fewer");
    let fourth = resume(&world, first.task_id, Resumption::default()).await;
    assert_eq!(fourth.usage.turns, 11 + 3, "or as at first, if nobody says");
    let most = resume(&world, first.task_id, with(turns(500))).await;
    assert_eq!(most.usage.turns, 14 + 101, "as many as a new task of this agent could have");
    assert_eq!(most.notices, ["500 turns were asked for; `main` has 100"]);
}

#[tokio::test]
async fn tokens_of_a_new_leg_are_counted_from_its_beginning() {
    let (world, first) = at_the_limit(Limits { max_tokens: Some(12_000), ..Limits::default() }).await;
    assert_eq!(first.reason, Some(Limit::Tokens));
    let more = Limits { max_tokens: Some(30_000), ..Limits::default() };
    let second = resume(&world, first.task_id, Resumption { limits: more, ..Resumption::default() }).await;
    let (few, many) = (first.usage.turns, second.usage.turns - first.usage.turns);
    assert!(many > few, "{many} turns, {few} before");
    let third = resume(&world, first.task_id, Resumption::default()).await;
    assert!(third.usage.turns - second.usage.turns <= few, "as few as at first");
}

#[tokio::test]
async fn an_invalid_prompt_is_refused_before_anything_is_written() {
    let world = Plan::script(Script::always(reply::text("Done."))).build();
    let done = world.run(ask("Do it.")).await;
    let before = world.events();
    let refusal = async |prompt: &str| {
        let refusal = world.engine.resume(done.task_id, follow_up(prompt)).await.err().expect("it is refused");
        format!("{}: {}", refusal.code, refusal.message)
    };
    expect!["empty_prompt: the prompt is empty; say what is to be done"].assert_eq(&refusal(" \n").await);
    expect!["prompt_too_long: the prompt has 1048577 bytes; the limit is 1048576 (`task_tool.max_prompt_bytes`)"]
        .assert_eq(&refusal(&"x".repeat((1 << 20) + 1)).await);
    assert_eq!(world.events(), before);
}

/// Models that can no longer be reached.
struct Gone;

impl Models for Gone {
    fn choose(&self, _: Option<&str>, _: Option<&ModelChoice>) -> Result<Chosen, UnknownModel> {
        Ok(Chosen::from(ModelChoice { route: "main".to_owned(), id: "gone".to_owned() }))
    }

    fn open(&self, choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelError> {
        Err(ModelError::new(ErrorKind::Unreachable, format!("nobody serves `{}` any more", choice.id)))
    }
}

#[tokio::test]
async fn a_task_without_its_model_stays_as_it_is_until_the_model_is_back() {
    let world = Plan::script(Script::always(reply::text("Done."))).build();
    let done = world.run(ask("Do it.")).await;
    let before = world.events();
    let without = Plan { models: Some(Arc::new(Gone)), ..Plan::script(Script::new()) }.build_over(&world);
    let refusal = without.engine.resume(done.task_id, follow_up("More.")).await.err().expect("it is refused");
    expect!["nobody serves `scripted` any more"].assert_eq(&refusal.message);
    assert_eq!(world.events(), before);
    assert_eq!(resume(&world, done.task_id, follow_up("More.")).await.status, Status::Completed);
}

#[tokio::test]
async fn the_text_of_an_earlier_leg_is_not_the_result_of_this_one() {
    let script = Script::new()
        .on(when::last_contains("FAIL"), reply::status(400))
        .on(when::last_contains("WAIT"), reply::never())
        .otherwise(reply::text("Done."));
    let world = Plan::script(script).build();
    let done = world.run(ask("Do it.")).await;
    let failed = resume(&world, done.task_id, follow_up("FAIL")).await;
    assert_eq!((failed.status, failed.text.as_str()), (Status::Failed, ""));
    let limits = Limits { timeout: Some(Duration::from_millis(50)), ..Limits::default() };
    let late = resume(&world, done.task_id, Resumption { limits, ..follow_up("WAIT") }).await;
    let code = late.error.map(|error| error.code);
    assert_eq!(
        (late.status, late.text.as_str(), code.as_ref().map(FailureCode::as_str)),
        (Status::Failed, "", Some("timeout"))
    );
}

#[tokio::test]
async fn a_leg_has_its_own_notices_and_not_those_of_earlier_ones() {
    let world = Plan::script(Script::always(reply::text("Done."))).build();
    let limits = Limits { max_turns: Some(500), ..Limits::default() };
    let first = world.run(TaskRequest { limits, ..ask("Do it.") }).await;
    assert_eq!(first.notices, ["500 turns were asked for; `main` has 100"]);
    let layer = GrantLayer { deny: rules(&["LS"]), ..usual() };
    let narrow = Plan::script(Script::always(reply::text("Done."))).permissions(user(layer)).build_over(&world);
    let second = resume(&narrow, first.task_id, follow_up("More.")).await;
    assert_eq!(second.notices, ["no longer granted: LS"]);
    let third = resume(&world, first.task_id, follow_up("And more.")).await;
    assert_eq!(third.notices, [""; 0]);
}
