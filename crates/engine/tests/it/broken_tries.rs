//! The cost of attempts without a reply: it is in the outcome, in the events and in the limits, and is not a turn.

use std::time::Duration;

use serde_json::json;
use sortie_protocol::{Fact, Limit, Status, TaskOutcome, TaskRequest, Usage};
use sortie_testkit::{Fault, Script, ScriptedModel, ScriptedReply, reply, when};

use crate::support::{Plan, World, ask};

/// Usage of each reply in this file. An attempt that breaks off has used its input by then.
fn counted(reply: ScriptedReply) -> ScriptedReply {
    reply.usage(Usage { input_tokens: 100, output_tokens: 10, cache_read_tokens: 40, ..Usage::default() })
}

const BROKEN: u64 = 140;
const WHOLE: u64 = 150;

fn cut() -> ScriptedReply {
    counted(reply::text("Half a sentence").fault(Fault::CutAfter(4)))
}

/// A reply that reports its usage, and then nothing more for a long time.
fn slow() -> ScriptedReply {
    counted(reply::text("A sentence that takes its time.").fault(Fault::SlowDrip { ms: 3_600_000 }))
}

fn plan(script: Script, retries: u32) -> Plan {
    Plan::of(ScriptedModel::new(script).retrying(retries))
}

/// Tokens and turns.
fn spent(outcome: &TaskOutcome) -> (u64, u64) {
    (outcome.usage.total_tokens(), outcome.usage.turns)
}

/// All tokens in the log before the ending.
fn logged(world: &World) -> u64 {
    let tokens = |fact: Fact| match fact {
        Fact::ModelRetried { usage, .. } => usage.total_tokens(),
        Fact::ModelReplied { reply, .. } => reply.usage.total_tokens(),
        _ => 0,
    };
    world.events().into_iter().map(|event| tokens(event.fact)).sum()
}

#[tokio::test]
async fn broken_attempts_are_paid_for_and_do_not_count_as_turns() {
    let script = Script::new().times(2, when::any(), cut()).otherwise(counted(reply::text("Here you are.")));
    let world = plan(script, 5).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!((outcome.status, spent(&outcome)), (Status::Completed, (2 * BROKEN + WHOLE, 1)));
    assert_eq!(outcome.usage.cache_read_tokens, 3 * 40);
    assert_eq!(logged(&world), 2 * BROKEN + WHOLE, "each try stands in the log once");
}

#[tokio::test]
async fn attempts_are_paid_for_even_if_all_of_them_break() {
    let world = plan(Script::always(cut()), 2).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!((outcome.status, spent(&outcome)), (Status::Failed, (3 * BROKEN, 0)));
}

#[tokio::test]
async fn a_refused_attempt_costs_nothing() {
    let refused = counted(reply::fault(Fault::rate_limited("0")));
    let world = plan(Script::new().times(2, when::any(), refused).otherwise(counted(reply::text("Done."))), 5).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!(spent(&outcome), (WHOLE, 1));
}

#[tokio::test(start_paused = true)]
async fn stopping_during_an_attempt_keeps_its_usage() {
    let world = plan(Script::in_order([cut(), slow()]), 1).build();
    let running = world.start(ask("Go.")).await;
    let stopper = running.stopper();
    let mut ending = std::pin::pin!(running.outcome());
    // A minute that takes no time on this clock.
    let in_a_minute = tokio::time::timeout(Duration::from_mins(1), &mut ending).await;
    assert!(in_a_minute.is_err(), "the second try is under way");
    stopper.cancel();
    let outcome = ending.await.expect("the journal works");
    assert_eq!((outcome.status, spent(&outcome)), (Status::Cancelled, (2 * BROKEN, 0)));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_during_an_attempt_keeps_its_usage() {
    let world = plan(Script::in_order([cut(), slow()]), 1).build();
    let mut request = ask("Go.");
    request.limits.timeout = Some(Duration::from_mins(1));
    let outcome = world.run(request).await;
    assert_eq!((outcome.status, spent(&outcome)), (Status::Partial, (2 * BROKEN, 0)));
    assert_eq!(outcome.text, "A sentence that ", "what the last try had written is kept");
}

fn ask_within(max_tokens: u64) -> TaskRequest {
    let mut request = ask("Go.");
    request.limits.max_tokens = Some(max_tokens);
    request
}

/// An attempt that breaks off has read as much as many others.
fn dear() -> ScriptedReply {
    reply::text("Half a sentence").fault(Fault::CutAfter(4)).usage(Usage { input_tokens: 20_000, ..Usage::default() })
}

#[tokio::test]
async fn broken_attempts_count_against_the_token_limit() {
    let look = reply::calls([reply::call("Read", json!({"file_path": "a.txt"}))]);
    let script = |first: ScriptedReply| {
        Script::new()
            .on(when::last_contains("reached a limit"), reply::text("So far."))
            .times(1, when::turn(0), first)
            .on(when::turn(0), look.clone())
            .otherwise(reply::text("All of it."))
    };
    for (first, text, turns) in [(dear(), "So far.", 1), (cut(), "All of it.", 2)] {
        let world = plan(script(first), 1).files(&[("a.txt", "text")]).build();
        let outcome = world.run(ask_within(23_000)).await;
        assert_eq!((outcome.text.as_str(), outcome.usage.turns), (text, turns), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_call_whose_attempts_use_up_the_tokens_is_not_retried() {
    let script = Script::new().on(when::last_contains("reached a limit"), counted(reply::text("So far.")));
    let world = plan(script.otherwise(dear()), 5).build();
    let outcome = world.run(ask_within(23_000)).await;
    assert_eq!(outcome.reason, Some(Limit::Tokens));
    assert_eq!(outcome.usage.turns, 1, "the report");
    assert!((20_000..23_000).contains(&outcome.usage.total_tokens()), "{outcome:?}");
}

/// An attempt that breaks off after a seventh of the tokens of [`ask_within`] 14,000: the second one uses up the call's
/// share.
fn a_seventh() -> ScriptedReply {
    reply::text("Half a sentence").fault(Fault::CutAfter(4)).usage(Usage { input_tokens: 2000, ..Usage::default() })
}

#[tokio::test]
async fn a_call_that_has_used_up_its_lease_is_repeated_with_what_is_left() {
    let script = Script::new().times(2, when::any(), a_seventh()).otherwise(counted(reply::text("Here you are.")));
    let world = plan(script, 3).build();
    let outcome = world.run(ask_within(14_000)).await;
    assert_eq!((outcome.status, spent(&outcome)), (Status::Completed, (4000 + WHOLE, 1)));
    assert_eq!(world.model.seen().len(), 2, "two calls, three tries");
}

#[tokio::test(start_paused = true)]
async fn repeated_calls_get_no_more_retries_and_wait_like_others() {
    let world = plan(Script::always(a_seventh()), 3).build();
    let begin = tokio::time::Instant::now();
    let outcome = world.run(ask_within(14_000)).await;
    let code = outcome.error.as_ref().map(|error| error.code.as_str());
    assert_eq!((code, spent(&outcome)), (Some("model_stream_cut"), (4 * 2000, 0)));
    let retries = world.events().into_iter().filter_map(|event| match event.fact {
        Fact::ModelRetried { attempt, wait_ms, .. } => Some((attempt, wait_ms)),
        _ => None,
    });
    assert_eq!(retries.collect::<Vec<_>>(), [(1, 10), (2, 10), (3, 10)]);
    assert!(begin.elapsed() >= Duration::from_millis(30), "{:?}", begin.elapsed());
    assert_eq!(world.model.seen().len(), 2, "two calls, four tries");
}

/// Usage recorded for calls without a reply.
fn lost(world: &World) -> Vec<u64> {
    let lost = |fact: Fact| match fact {
        Fact::ModelLost { usage, .. } => Some(usage.total_tokens()),
        _ => None,
    };
    world.events().into_iter().filter_map(|event| lost(event.fact)).collect()
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_was_not_sent_is_not_paid_for() {
    let world = plan(Script::always(reply::fault(Fault::rate_limited("3600"))), 1).build();
    let mut request = ask_within(50_000);
    request.limits.timeout = Some(Duration::from_mins(1));
    let outcome = world.run(request).await;
    assert_eq!((outcome.status, spent(&outcome), lost(&world)), (Status::Failed, (0, 0), vec![0]));

    let world = plan(Script::in_order([a_seventh(), reply::fault(Fault::rate_limited("3600"))]), 2).build();
    let running = world.start(ask_within(50_000)).await;
    let stopper = running.stopper();
    let mut ending = std::pin::pin!(running.outcome());
    let in_a_minute = tokio::time::timeout(Duration::from_mins(1), &mut ending).await;
    assert!(in_a_minute.is_err(), "the third try waits");
    stopper.cancel();
    let outcome = ending.await.expect("the journal works");
    assert_eq!((outcome.status, spent(&outcome), lost(&world)), (Status::Cancelled, (2000, 0), vec![0]));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_broken_off_before_an_answer_is_paid_for() {
    let world = plan(Script::always(reply::fault(Fault::Silence)), 0).build();
    let mut request = ask_within(50_000);
    request.limits.timeout = Some(Duration::from_mins(1));
    let outcome = world.run(request).await;
    assert!(spent(&outcome).0 > 1000, "the tools alone have more: {outcome:?}");
    assert_eq!(lost(&world), [spent(&outcome).0]);
}

#[tokio::test]
async fn a_childs_broken_attempts_count_for_its_parent_too() {
    let task = json!({"description": "Look", "prompt": "CHILD looks", "subagent_type": "explore"});
    let script = Script::new()
        .on(when::last_contains("CHILD reports"), counted(reply::text("Done.")))
        .times(1, when::prompt_contains("CHILD looks"), cut())
        .on(when::prompt_contains("CHILD looks"), counted(reply::text("CHILD reports.")))
        .otherwise(counted(reply::calls([reply::call("Task", task)])));
    let world = plan(script, 1).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!((outcome.status, spent(&outcome)), (Status::Completed, (3 * WHOLE + BROKEN, 3)), "{outcome:?}");
}
