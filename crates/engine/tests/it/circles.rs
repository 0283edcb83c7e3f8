//! A task that does the same again and again is told so, and then ended; one that only waits is not.

use std::sync::atomic::{AtomicU32, Ordering};

use expect_test::expect;
use serde_json::{Value, json};
use sortie_engine::Resumption;
use sortie_protocol::{Fact, Limit, Status, TaskOutcome, ToolOutput};
use sortie_testkit::{Script, ScriptedPart, ScriptedReply, reply, when};
use sortie_tools::{CallContext, TypedTool};

use crate::mail_races::Site;
use crate::relic::Relic;
use crate::support::{Plan, World, ask};

fn look(path: &str) -> ScriptedPart {
    reply::call("Glob", json!({"pattern": path}))
}

/// A model that makes these calls again and again, one a turn, until it is asked for its report.
fn round(calls: &[&str]) -> Script {
    let report = Script::new().on(when::last_contains("reached a limit"), reply::text("Nothing new."));
    let turns = 0..40_u32;
    turns.fold(report, |script, turn| {
        let call = calls[turn as usize % calls.len()];
        script.on(when::turn(turn), reply::calls([look(call)]))
    })
}

fn ending(outcome: &TaskOutcome) -> (Status, Option<Limit>, &str) {
    (outcome.status, outcome.reason, &outcome.text)
}

fn n_reminders(world: &World) -> usize {
    world.events().iter().filter(|event| matches!(event.fact, Fact::Reminded { .. })).count()
}

#[tokio::test]
async fn the_same_call_is_named_after_three_times_and_ends_the_task_after_five() {
    let world = Plan::script(round(&["a"])).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!(ending(&outcome), (Status::Partial, Some(Limit::Loop), "Nothing new."));
    let seen = world.model.seen();
    assert_eq!(seen.len(), 6, "five ordinary calls, and one for the report");
    let last = |at: usize| seen[at].to_string().lines().last().map(str::to_owned).unwrap_or_default();
    expect![[r#"user: "You have made the same call 3 times, with the same outcome each time. Doing it once more will bring nothing new: do something else, or finish with what you have found.""#]]
        .assert_eq(&last(3));
    assert!(last(4).starts_with("output"), "it is told once");
    assert_eq!(n_reminders(&world), 1);
}

#[tokio::test]
async fn going_to_and_fro_is_a_circle_too() {
    let world = Plan::script(round(&["a", "b"])).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!(ending(&outcome), (Status::Partial, Some(Limit::Loop), "Nothing new."));
    assert_eq!((world.model.seen().len(), n_reminders(&world)), (11, 1));
    assert!(world.transcript().contains("You have gone through the same 2 turns 3 times"));
}

#[tokio::test]
async fn whoever_does_something_else_when_told_goes_on() {
    let script = Script::new()
        .on(when::last_contains("the same call 3 times"), reply::calls([look("b")]))
        .on(when::turn(6), reply::text("Found."))
        .otherwise(reply::calls([look("a")]));
    let world = Plan::script(script).build();
    assert_eq!(ending(&world.run(ask("Go.")).await), (Status::Completed, None, "Found."));
}

/// Says something else each time.
#[derive(Default)]
struct Counts(AtomicU32);

impl TypedTool for Counts {
    type Input = Value;
    const NAME: &'static str = "Counts";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "counts".to_owned()
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    async fn run(&self, _input: Value, _context: CallContext<'_>) -> ToolOutput {
        ToolOutput::done(self.0.fetch_add(1, Ordering::Relaxed).to_string(), "")
    }
}

#[tokio::test]
async fn the_same_call_with_another_output_each_time_goes_on_to_the_turn_limit() {
    let script = Script::new()
        .on(when::last_contains("reached a limit"), reply::text("Not yet."))
        .otherwise(reply::calls([reply::call("Counts", json!({}))]));
    let world = Plan::script(script).tool(Counts::default()).build();
    let mut request = ask("Go.");
    request.limits.max_turns = Some(12);
    assert_eq!(ending(&world.run(request).await), (Status::Partial, Some(Limit::Turns), "Not yet."));
    assert_eq!(n_reminders(&world), 0);
}

#[tokio::test]
async fn the_turn_limit_comes_first_where_both_are_reached() {
    let world = Plan::script(round(&["a"])).build();
    let mut request = ask("Go.");
    request.limits.max_turns = Some(5);
    assert_eq!(world.run(request).await.reason, Some(Limit::Turns));
}

#[tokio::test]
async fn in_objects_with_the_time_that_each_call_took_a_circle_is_seen_all_the_same() {
    let world = Plan::script(round(&["a"])).contract("envelope").build();
    let mut request = ask("Go.");
    request.limits.max_turns = Some(8);
    let outcome = world.run(request).await;
    assert_eq!(n_reminders(&world), 1);
    assert_eq!(outcome.reason, Some(Limit::Turns), "the documents have their own say in how long it goes on");
}

#[tokio::test]
async fn a_sub_agent_that_never_stops_is_reported_as_partial() {
    let task = json!({"description": "A piece", "prompt": "CHILD", "subagent_type": "explore"});
    let child = |reply: ScriptedReply| (when::prompt_contains("CHILD"), reply);
    let (endless, told) = (child(reply::calls([look("a")])), reply::text("Nothing new."));
    let script = Script::new()
        .on(when::prompt_contains("CHILD").last_contains("reached a limit"), told)
        .on(endless.0, endless.1)
        .on(when::turn(0), reply::calls([reply::call("Task", task)]))
        .otherwise(reply::text("All told."));
    let world = Plan::script(script).build();
    assert_eq!(world.run(ask("Go.")).await.status, Status::Completed);
    let transcript = world.transcript();
    assert!(transcript.contains("partial (loop)"), "{transcript}");
}

#[tokio::test]
async fn whoever_is_killed_in_a_circle_goes_on_in_it() {
    let mut site = Site::new(Plan::script(round(&["a", "b"])));
    let whole = site.run(ask("Go.")).await;
    let appends = site.journal.appends();
    for killed in 1..appends.len() {
        site = site.later(Plan::script(round(&["a", "b"])), Relic::of(&appends[..killed]).await);
        let running = site.engine.resume(whole.task_id, Resumption::default()).await.expect("it goes on");
        let outcome = running.outcome().await.expect("the journal works");
        assert_eq!(ending(&outcome), ending(&whole), "killed after {killed} appends");
        assert_eq!(outcome.usage.turns, whole.usage.turns, "killed after {killed} appends");
        let events = site.events(whole.task_id);
        let reminders = events.iter().filter(|event| matches!(event.fact, Fact::Reminded { .. })).count();
        assert_eq!(reminders, 1, "killed after {killed} appends");
    }
}
