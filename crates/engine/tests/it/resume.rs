//! Going on with a task that has ended.

use expect_test::expect;
use serde_json::json;
use sortie_engine::Resumption;
use sortie_protocol::{Limits, Status};
use sortie_testkit::{Script, reply, when};

use super::support::{Plan, World, ask};

fn follow_up(prompt: &str) -> Resumption {
    Resumption { prompt: Some(prompt.to_owned()), ..Resumption::default() }
}

async fn resume(world: &World, task: sortie_protocol::TaskId, resumption: Resumption) -> sortie_protocol::TaskOutcome {
    world.engine.resume(task, resumption).await.expect("it can go on").outcome().await.expect("the journal works")
}

#[tokio::test]
async fn a_follow_up_goes_on_with_the_whole_conversation_in_a_new_leg() {
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
async fn a_completed_task_needs_a_prompt_and_one_that_is_not_there_is_named() {
    let world = Plan::script(Script::always(reply::text("Done."))).build();
    let done = world.run(ask("Do it.")).await;
    let error = world.engine.resume(done.task_id, Resumption::default()).await.err().expect("it is refused");
    expect!["this task is completed; say what it should do next"].assert_eq(&error.to_string());
    let nobody = "agent-zzzzzzzzzzzz".parse().expect("an id");
    let error = world.engine.resume(nobody, follow_up("x")).await.err().expect("it is refused");
    expect!["no task agent-zzzzzzzzzzzz"].assert_eq(&error.to_string());
}

#[tokio::test]
async fn a_task_that_reached_its_turns_goes_on_with_as_many_again() {
    let script = Script::new()
        .on(when::last_contains("limit"), reply::text("So far: nothing."))
        .on(when::turn(5), reply::text("All of it."))
        .otherwise(reply::calls([reply::call("LS", json!({}))]));
    let world = Plan::script(script).build();
    let request = sortie_protocol::TaskRequest {
        limits: Limits { max_turns: Some(2), ..Limits::default() },
        ..ask("Look around.")
    };
    let first = world.run(request).await;
    assert_eq!((first.status, first.usage.turns), (Status::Partial, 3));
    let second = resume(&world, first.task_id, Resumption::default()).await;
    assert_eq!((second.status, second.usage.turns), (Status::Partial, 6), "two more, and one to report");
    let last = world.seen_by("Look around.");
    assert!(format!("{:?}", last.last()).contains("Go on with your work where you stopped."));
}
