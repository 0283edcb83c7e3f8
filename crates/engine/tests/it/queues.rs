//! Waiting for tokens or slots that others hold is visible.

use std::time::Duration;

use serde_json::json;
use sortie_protocol::{Fact, Limits, Need, Status, TaskRequest, Usage};
use sortie_testkit::{Script, ScriptedPart, reply, when};

use crate::support::{Plan, ask};

fn task(prompt: &str) -> ScriptedPart {
    reply::call("Task", json!({"description": "A piece", "prompt": prompt, "subagent_type": "general-purpose"}))
}

#[tokio::test]
async fn tasks_that_wait_for_tokens_are_visible() {
    let each = Usage { input_tokens: 100, ..Usage::default() };
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("CHILD one"), task("CHILD two")]).usage(each))
        .on(when::prompt_contains("CHILD"), reply::text("Done.").usage(each).held_by("answer"))
        .otherwise(reply::text("All told.").usage(each));
    let world = Plan::script(script).build();
    // The first one holds everything there is.
    let limits = Limits { max_tokens: Some(12_000), ..Limits::default() };
    let running = world.start(TaskRequest { limits, ..ask("MAIN") }).await;
    world.model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    let queued = || world.events().into_iter().find(|event| matches!(event.fact, Fact::TaskQueued { .. }));
    let seen = async {
        while queued().is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), seen).await.expect("the other one waits");
    world.model.gate("answer").open();
    let outcome = running.outcome().await.expect("the journal works");
    assert_eq!(outcome.status, Status::Completed);
    let queued = queued().expect("it was there");
    assert_eq!((queued.depth, queued.fact), (1, Fact::TaskQueued { needs: Need::Tokens }));
}
