//! Every task ends once, and says how.

use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::json;
use sortie_llm::ToolChoice;
use sortie_protocol::{Fact, FailureCode, Status, StopReason, TaskOutcome};
use sortie_testkit::{Fault, Script, ScriptedModel, ScriptedReply, reply, when};

use crate::support::{Plan, World, ask, restless};

pub(crate) fn told(outcome: &TaskOutcome) -> String {
    let mut text = outcome.status.to_string();
    if let Some(limit) = outcome.reason {
        text += &format!(" ({limit})");
    }
    if let Some(error) = &outcome.error {
        text += &format!(" {}: {}", error.code, error.message);
    }
    text + &format!(" | {}", outcome.text)
}

async fn check(plan: Plan, expected: Expect) {
    let world = plan.build();
    let outcome = world.run(ask("Go.")).await;
    expected.assert_eq(&told(&outcome));
    assert_ends_once(&world, &outcome);
}

fn assert_ends_once(world: &World, outcome: &TaskOutcome) {
    let endings: Vec<_> = world
        .events()
        .into_iter()
        .filter(|event| event.task_id == outcome.task_id)
        .filter_map(|event| match event.fact {
            Fact::TaskEnded { outcome } => Some(*outcome),
            _ => None,
        })
        .collect();
    assert_eq!(endings, std::slice::from_ref(outcome), "one recorded ending, and it is the one that was given");
}

fn endless() -> ScriptedReply {
    reply::calls([reply::call("Read", json!({"file_path": "a.txt"}))]).text("Still reading.")
}

#[tokio::test]
async fn at_the_turn_limit_one_grace_call_asks_for_the_report() {
    let script = Script::new()
        .on(when::last_contains("reached a limit"), reply::text("What I have so far."))
        .otherwise(endless());
    let world = Plan::script(script).files(&[("a.txt", "text")]).build();
    let mut request = ask("Go.");
    request.limits.max_turns = Some(3);
    let outcome = world.run(request).await;
    expect!["partial (turns) | What I have so far."].assert_eq(&told(&outcome));
    assert_ends_once(&world, &outcome);
    let seen = world.model.seen();
    assert_eq!(seen.len(), 4, "three ordinary calls and one for the report");
    assert_eq!(seen[3].tools, seen[2].tools, "the same tools stay in the request");
    assert_eq!((seen[2].tool_choice, seen[3].tool_choice), (ToolChoice::Auto, ToolChoice::None));
}

#[tokio::test]
async fn calls_in_the_answer_to_a_grace_call_are_refused() {
    let world = Plan::script(Script::always(endless())).files(&[("a.txt", "text")]).build();
    let mut request = ask("Go.");
    request.limits.max_turns = Some(1);
    let outcome = world.run(request).await;
    expect!["partial (turns) | Still reading."].assert_eq(&told(&outcome));
    assert_eq!(outcome.usage.tool_calls, 1, "only the call before the limit ran");
    assert!(world.transcript().contains("the turns limit was reached"), "{}", world.transcript());
}

#[tokio::test]
async fn the_outcome_says_why_no_report_came_at_a_limit() {
    let script = Script::new().on(when::last_contains("reached a limit"), reply::status(401)).otherwise(endless());
    let world = Plan::script(script).files(&[("a.txt", "text")]).build();
    let mut request = ask("Go.");
    request.limits.max_turns = Some(1);
    let outcome = world.run(request).await;
    expect!["partial (turns) | Still reading."].assert_eq(&told(&outcome));
    expect!["the report requested at the limit failed: the provider answered 401 (scripted)"]
        .assert_eq(&outcome.notices.join("; "));
}

#[tokio::test]
async fn a_token_limit_ends_in_partial_and_names_the_limit() {
    let script = Script::new().on(when::last_contains("reached a limit"), reply::text("So far."));
    let world = Plan::script(restless(script)).build();
    let mut request = ask("Go.");
    request.limits.max_tokens = Some(12_000);
    let outcome = world.run(request).await;
    expect!["partial (tokens) | So far."].assert_eq(&told(&outcome));
}

#[tokio::test]
async fn a_model_that_fails_for_good_fails_the_task_with_its_reason() {
    check(
        Plan::script(Script::always(reply::status(401))),
        expect!["failed model_auth: the provider answered 401 (scripted) | "],
    )
    .await;
    check(
        Plan::script(Script::always(reply::fault(Fault::Garbage))),
        expect!["failed model_garbage: the stream brought something that is not JSON (scripted) | "],
    )
    .await;
    check(
        Plan::script(Script::always(reply::text("Half a sen").fault(Fault::CutAfter(4)))),
        expect!["failed model_stream_cut: the stream was cut (scripted) | Half"],
    )
    .await;
}

#[tokio::test]
async fn an_empty_answer_is_a_failure_not_a_success() {
    check(
        Plan::script(Script::always(reply::fault(Fault::Empty))),
        expect!["failed empty_answer: the model ended its turn without writing anything | "],
    )
    .await;
    check(
        Plan::script(Script::always(reply::text("  \n"))),
        expect!["failed empty_answer: the model ended its turn without writing anything | "],
    )
    .await;
}

#[tokio::test]
async fn an_answer_cut_by_the_output_limit_is_partial() {
    check(
        Plan::script(Script::always(reply::text("The first half").stop(StopReason::Length))),
        expect!["partial (output) | The first half"],
    )
    .await;
}

#[tokio::test]
async fn a_withheld_answer_is_a_failure() {
    check(
        Plan::script(Script::always(reply::text("").stop(StopReason::Refusal))),
        expect!["failed refusal: the model's provider withheld the answer; ask in another way | "],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_deadline_without_any_text_is_a_failure_by_timeout() {
    let world = Plan::script(Script::always(reply::never())).build();
    let mut request = ask("Go.");
    request.limits.timeout = Some(Duration::from_secs(5));
    let outcome = world.run(request).await;
    expect!["failed timeout: the time ran out before there was any text; raise the timeout | "]
        .assert_eq(&told(&outcome));
    assert_eq!(outcome.usage.duration_ms, 5000);
    assert_eq!(world.model.traffic().abandoned, 1, "the call was broken off");
}

#[tokio::test]
async fn retries_are_recorded_and_the_answer_still_comes() {
    let script = Script::new()
        .times(2, when::any(), reply::fault(Fault::rate_limited("0")))
        .otherwise(reply::text("Here you are."));
    let world = Plan::of(ScriptedModel::new(script).retrying(5)).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!(outcome.text, "Here you are.");
    let retries: Vec<_> = world
        .events()
        .into_iter()
        .filter_map(|event| match event.fact {
            Fact::ModelRetried { attempt, error, .. } => Some((attempt, error.code)),
            _ => None,
        })
        .collect();
    assert_eq!(retries, [(1, FailureCode::RateLimited), (2, FailureCode::RateLimited)]);
}

#[tokio::test]
async fn stopping_a_task_cancels_it_and_breaks_off_its_call() {
    let world = Plan::script(Script::always(reply::never())).build();
    let running = world.start(ask("Go.")).await;
    world.model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    running.stop();
    running.stop();
    let outcome = running.outcome().await.expect("the journal works");
    assert_eq!(outcome.status, Status::Cancelled);
    assert_ends_once(&world, &outcome);
    let traffic = world.model.traffic_reaches(|traffic| traffic.in_flight == 0).await;
    assert_eq!(traffic.abandoned, 1);
}

#[tokio::test]
async fn a_panic_ends_its_task_as_failed() {
    let model = ScriptedModel::answering(|_| panic!("the model port broke"));
    let world = Plan::of(model).build();
    let outcome = world.run(ask("Go.")).await;
    expect!["failed internal: the task broke down: the model port broke; this is a bug in Sortie | "]
        .assert_eq(&told(&outcome));
    assert_ends_once(&world, &outcome);
}

#[tokio::test]
async fn the_outcome_has_what_was_done_before_a_panic() {
    let model = ScriptedModel::answering(|request| match request.messages.len() {
        1 => reply::text("So far so good.").calls([reply::call("LS", json!({}))]),
        _ => panic!("the model port broke"),
    });
    let world = Plan::of(model).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Failed, "So far so good."));
    assert_eq!((outcome.usage.turns, outcome.usage.tool_calls), (1, 1));
}

#[tokio::test]
async fn requests_that_cannot_be_started_start_nothing() {
    let world = Plan::script(Script::new()).build();
    let refused = |mut request: sortie_protocol::TaskRequest, change: fn(&mut sortie_protocol::TaskRequest)| {
        change(&mut request);
        let engine = world.engine.clone();
        async move {
            match engine.run(request).await {
                Ok(running) => panic!("{} was started", running.task),
                Err(failure) => format!("{}: {}", failure.code, failure.message),
            }
        }
    };
    expect!["unknown_agent: unknown agent `wizard`; there are main, general-purpose, explore, plan, summary, bash"]
        .assert_eq(&refused(ask("Go."), |request| request.agent = "wizard".to_owned()).await);
    expect!["unknown_model: unknown model `gpt-0`; this test knows `scripted` only"]
        .assert_eq(&refused(ask("Go."), |request| request.model = Some("gpt-0".to_owned())).await);
    expect!["empty_prompt: the prompt is empty; say what is to be done"].assert_eq(&refused(ask(" \n"), |_| ()).await);
    expect!["prompt_too_long: the prompt has 1048577 bytes; the limit is 1048576 (`task_tool.max_prompt_bytes`)"]
        .assert_eq(&refused(ask(&"x".repeat((1 << 20) + 1)), |_| ()).await);
    assert_eq!(world.events(), []);
}

#[tokio::test]
async fn dropping_a_running_task_stops_it() {
    let world = Plan::script(Script::always(reply::never())).build();
    let running = world.start(ask("Go.")).await;
    let model = Arc::clone(&world.model);
    model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    drop(running);
    model.traffic_reaches(|traffic| traffic.in_flight == 0 && traffic.abandoned == 1).await;
}
