//! A task that repeats itself is warned and then ended; a task that may be waiting for something has more time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

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
async fn the_same_call_is_reported_after_three_times_and_ends_the_task_after_five() {
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
async fn alternating_calls_are_a_loop_too() {
    let world = Plan::script(round(&["a", "b"])).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!(ending(&outcome), (Status::Partial, Some(Limit::Loop), "Nothing new."));
    assert_eq!((world.model.seen().len(), n_reminders(&world)), (11, 1));
    assert!(world.transcript().contains("You have gone through the same 2 turns 3 times"));
}

#[tokio::test]
async fn a_task_that_changes_course_after_the_reminder_continues() {
    let script = Script::new()
        .on(when::last_contains("the same call 3 times"), reply::calls([look("b")]))
        .on(when::turn(6), reply::text("Found."))
        .otherwise(reply::calls([look("a")]));
    let world = Plan::script(script).build();
    assert_eq!(ending(&world.run(ask("Go.")).await), (Status::Completed, None, "Found."));
}

/// Returns something else each time.
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
async fn the_same_call_with_changing_outputs_runs_to_the_turn_limit() {
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
async fn the_turn_limit_comes_first_if_both_are_reached() {
    let world = Plan::script(round(&["a"])).build();
    let mut request = ask("Go.");
    request.limits.max_turns = Some(5);
    assert_eq!(world.run(request).await.reason, Some(Limit::Turns));
}

#[tokio::test]
async fn a_loop_is_detected_in_outputs_that_contain_their_duration() {
    let world = Plan::script(round(&["a"])).contract("envelope").build();
    let mut request = ask("Go.");
    request.limits.max_turns = Some(8);
    let outcome = world.run(request).await;
    assert_eq!(n_reminders(&world), 1);
    assert_eq!(outcome.reason, Some(Limit::Turns), "the designs have their own limits for this");
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

/// A main agent that starts the same sub-agent again and again, in the background or not, and waits for it. After the
/// given first reports it always reports `Done.`.
fn delegating(background: bool, reports: &[&str]) -> Script {
    let task = json!({
        "description": "A piece", "prompt": "CHILD", "subagent_type": "explore", "run_in_background": background,
    });
    let main = || when::prompt_contains("MAIN");
    let child = || when::prompt_contains("CHILD");
    let first = |script: Script, report: &&str| script.once(child(), reply::text(*report).after_ms(100));
    let script = reports.iter().fold(Script::new(), first).on(child(), reply::text("Done.").after_ms(100));
    let at_work = ["running in the background", "the same call 3 times"];
    let waiting = at_work.iter().filter(|_| background);
    waiting
        .fold(script, |script, last| script.on(main().last_contains(*last), reply::text("It is at work.")))
        .on(main().last_contains("reached a limit"), reply::text("Nothing new."))
        .on(main(), reply::calls([reply::call("Task", task)]))
}

fn n_children(world: &World) -> usize {
    world.events().iter().filter(|event| matches!(event.fact, Fact::ChildStarted { .. })).count()
}

#[tokio::test(start_paused = true)]
async fn the_same_delegation_with_the_same_outcome_is_a_loop() {
    let world = Plan::script(delegating(false, &[])).build();
    assert_eq!(ending(&world.run(ask("MAIN")).await), (Status::Partial, Some(Limit::Loop), "Nothing new."));
    assert_eq!((n_children(&world), n_reminders(&world)), (5, 1));
}

#[tokio::test(start_paused = true)]
async fn a_background_loop_counts_from_the_first_report_without_news() {
    let world = Plan::script(delegating(true, &[])).build();
    let outcome = world.run(ask("MAIN")).await;
    assert_eq!((outcome.status, outcome.reason), (Status::Partial, Some(Limit::Loop)));
    assert_eq!((n_children(&world), n_reminders(&world)), (6, 1));
}

#[tokio::test(start_paused = true)]
async fn the_same_delegation_may_repeat_while_its_outcome_changes() {
    // Starting one in the background costs an additional turn.
    for (background, turns) in [(false, 6), (true, 12)] {
        let reports = ["One.", "Two.", "Three.", "Four.", "Five.", "Six."];
        let world = Plan::script(delegating(background, &reports)).build();
        let mut request = ask("MAIN");
        request.limits.max_turns = Some(turns);
        assert_eq!(world.run(request).await.reason, Some(Limit::Turns));
        assert_eq!((n_children(&world), n_reminders(&world)), (6, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn in_the_five_contracts_a_loop_of_delegations_is_only_reported() {
    for (contract, agent) in [("envelope", "explore"), ("typed", "Explore")] {
        let task = json!({"description": "A piece", "prompt": "CHILD", "subagent_type": agent});
        let script = Script::new()
            .on(when::prompt_contains("CHILD"), reply::text("Done.").after_ms(100))
            .on(when::last_contains("reached a limit"), reply::text("Nothing new."))
            .otherwise(reply::calls([reply::call("Task", task)]));
        let world = Plan::script(script).contract(contract).build();
        let mut request = ask("MAIN");
        request.limits.max_turns = Some(7);
        assert_eq!(world.run(request).await.reason, Some(Limit::Turns), "{contract}");
        assert_eq!((n_children(&world), n_reminders(&world)), (7, 1), "{contract}");
    }
}

/// A command that takes as long as its arguments say, and fails if they say so.
struct Command;

impl TypedTool for Command {
    type Input = Value;
    const NAME: &'static str = "Bash";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "runs a command".to_owned()
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    async fn run(&self, input: Value, _context: CallContext<'_>) -> ToolOutput {
        // Sleeps on purpose: the clock is paused.
        tokio::time::sleep(Duration::from_millis(input["ms"].as_u64().expect("how long"))).await;
        let output = if input["fails"] == true { ToolOutput::failure } else { |text: &str| ToolOutput::done(text, "") };
        output("pending")
    }
}

/// Makes the same command so many times, and is done.
fn watching(times: u32, command: &Value) -> Plan {
    let script = Script::new()
        .on(when::last_contains("reached a limit"), reply::text("Nothing new."))
        .on(when::turn(times), reply::text("It has come."))
        .otherwise(reply::calls([reply::call("Bash", command.clone())]));
    Plan::script(script).tool(Command)
}

#[tokio::test(start_paused = true)]
async fn a_slow_command_may_wait_and_is_told_how_to() {
    let world = watching(19, &json!({"ms": 1000, "command": "gh run watch"})).build();
    assert_eq!(ending(&world.run(ask("Go.")).await), (Status::Completed, None, "It has come."));
    assert_eq!(n_reminders(&world), 1);
    assert!(world.transcript().contains("If you are waiting for something, let one call wait for longer."));
}

#[tokio::test(start_paused = true)]
async fn a_slow_command_ends_the_task_after_twenty_times_failing_or_not() {
    for fails in [false, true] {
        let world = watching(30, &json!({"ms": 1000, "command": "make test", "fails": fails})).build();
        let outcome = world.run(ask("Go.")).await;
        assert_eq!(ending(&outcome), (Status::Partial, Some(Limit::Loop), "Nothing new."));
        assert_eq!((world.model.seen().len(), n_reminders(&world)), (21, 1), "twenty, and one for the report");
    }
}

#[tokio::test(start_paused = true)]
async fn a_quick_command_ends_the_task_after_five_times_whatever_it_prints() {
    let world = watching(9, &json!({"ms": 900, "command": "grep -n sleep f"})).build();
    assert_eq!(ending(&world.run(ask("Go.")).await), (Status::Partial, Some(Limit::Loop), "Nothing new."));
    assert_eq!((world.model.seen().len(), n_reminders(&world)), (6, 1));
}

#[tokio::test(start_paused = true)]
async fn a_task_killed_while_it_waits_keeps_its_count() {
    let wait = json!({"ms": 1000, "command": "gh run watch"});
    assert_the_same_end_wherever_it_is_killed(|| watching(9, &wait)).await;
    assert_the_same_end_wherever_it_is_killed(|| watching(30, &wait)).await;
}

#[tokio::test(start_paused = true)]
async fn a_task_killed_in_a_loop_of_delegations_is_still_in_it() {
    assert_the_same_end_wherever_it_is_killed(|| Plan::script(delegating(false, &[]))).await;
    assert_the_same_end_wherever_it_is_killed(|| Plan::script(delegating(true, &[]))).await;
}

#[tokio::test]
async fn a_task_killed_in_a_loop_is_still_in_it() {
    assert_the_same_end_wherever_it_is_killed(|| Plan::script(round(&["a", "b"]))).await;
}

/// Kills a run after each of its appends: the resumed run gets as many warnings, and ends as the whole one did.
async fn assert_the_same_end_wherever_it_is_killed(plan: impl Fn() -> Plan) {
    let mut site = Site::new(plan());
    let whole = site.run(ask("MAIN")).await;
    let n_reminders = |site: &Site| {
        let events = site.events(whole.task_id);
        events.iter().filter(|event| matches!(event.fact, Fact::Reminded { .. })).count()
    };
    let expected = n_reminders(&site);
    let appends = site.journal.appends();
    for killed in 1..appends.len() {
        // Ids must not repeat.
        let later = Plan { ids_before: 100, ..plan() };
        site = site.later(later, Relic::of(&appends[..killed]).await);
        let running = site.engine.resume(whole.task_id, Resumption::default()).await.expect("it resumes");
        let outcome = running.outcome().await.expect("the journal works");
        assert_eq!(ending(&outcome), ending(&whole), "killed after {killed} appends");
        assert_eq!(outcome.usage.turns, whole.usage.turns, "killed after {killed} appends");
        assert_eq!(n_reminders(&site), expected, "killed after {killed} appends");
    }
}
