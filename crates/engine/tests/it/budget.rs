//! Tokens and money: a tree's spending is reserved before each call, and no race, no crash and no provider makes it
//! more.

use expect_test::expect;
use serde_json::json;
use sortie_engine::{EngineSettings, Resumption};
use sortie_journal::Entry;
use sortie_llm::{Terms, catalogue::Prices};
use sortie_protocol::{
    Event, Fact, FailureCode, Limit, Limits, Money, Status, StopReason, TaskOutcome, TaskRequest, Usage,
};
use sortie_testkit::{Fault, Script, ScriptedModel, reply, when};

use crate::mail_races::Site;
use crate::relic::Relic;
use crate::support::{Plan, ask};

/// Size of a task's report, plus its additional input over the call before it.
const REPORT: u64 = 1024 + 256;

fn within(max_tokens: u64) -> TaskRequest {
    TaskRequest { limits: Limits { max_tokens: Some(max_tokens), ..Limits::default() }, ..ask("MAIN") }
}

fn priced(plan: Plan) -> Plan {
    let prices = Prices { input: Some(2.0), output: Some(10.0), cache_read: Some(0.2), cache_write: None };
    Plan { terms: Terms { prices, ..Terms::default() }, ..plan }
}

fn task(prompt: &str) -> (&'static str, serde_json::Value) {
    ("Task", json!({"description": "A piece", "prompt": prompt, "subagent_type": "explore"}))
}

/// Estimate and usage, call by call, of all tasks of a depth.
fn calls(events: &[Event], depth: u32) -> Vec<(u64, u64)> {
    let facts = events.iter().filter(|event| event.depth == depth).map(|event| &event.fact);
    let mut estimated = 0;
    let mut calls = Vec::new();
    for fact in facts {
        match fact {
            Fact::ModelCalled { input_tokens, .. } => estimated = *input_tokens,
            Fact::ModelReplied { reply, .. } => calls.push((estimated, reply.usage.total_tokens())),
            _ => {}
        }
    }
    calls
}

/// Usage of a child's call.
const EACH: u64 = 1000;

/// 64 children at once, each of which needs one call.
fn crowd() -> Plan {
    let script = Script::new()
        .on(
            when::prompt_contains("MAIN").turn(0),
            reply::calls((0..64).map(|_| {
                let (tool, arguments) = task("CHILD");
                reply::call(tool, arguments)
            })),
        )
        .on(
            when::prompt_contains("CHILD"),
            reply::text("Found.").usage(Usage { input_tokens: EACH, ..Usage::default() }),
        )
        .otherwise(reply::text("All told."));
    Plan::script(script).rules(EngineSettings { max_concurrent: 64, ..EngineSettings::default() })
}

#[tokio::test]
async fn sixty_four_children_with_tokens_for_ten_calls_make_at_most_ten() {
    let free = crowd().build();
    assert_eq!(free.run(ask("MAIN")).await.status, Status::Completed);
    let events = free.events();
    let (estimated, first) = calls(&events, 0)[0];
    let written = events.iter().find_map(|event| match &event.fact {
        Fact::ModelReplied { reply, .. } => Some(reply.usage.output_tokens),
        _ => None,
    });
    let world = crowd().build();
    let for_report = estimated + written.expect("it has replied") + REPORT;
    let max_tokens = first + for_report + EACH * 21 / 2;
    let outcome = world.run(within(max_tokens)).await;
    let n_calls = world.seen_by("CHILD").len();
    assert_eq!(n_calls, 10, "all that there is may be used, and no more");
    assert!(outcome.usage.total_tokens() <= max_tokens, "{} of {max_tokens}", outcome.usage.total_tokens());
    let children = world.events().into_iter().filter(|event| event.depth == 1);
    let refused = children.filter(|event| match &event.fact {
        Fact::TaskEnded { outcome } => {
            outcome.error.as_ref().is_some_and(|error| error.code == FailureCode::Limit(Limit::Tokens))
        }
        _ => false,
    });
    assert_eq!(refused.count(), 64 - n_calls);
}

/// Explores until nothing is left to pay for it.
fn looking() -> Script {
    let usage = Usage { input_tokens: 4000, output_tokens: 100, ..Usage::default() };
    Script::new()
        .on(when::last_contains("reached a limit"), reply::text("So far.").usage(usage))
        .otherwise(reply::calls([reply::call("LS", json!({}))]).usage(usage))
}

#[tokio::test]
async fn the_report_at_a_limit_is_paid_from_the_amount_set_aside() {
    let world = Plan::script(looking()).build();
    let outcome = world.run(within(20_000)).await;
    assert_eq!((outcome.status, outcome.reason), (Status::Partial, Some(Limit::Tokens)));
    assert_eq!((outcome.text.as_str(), outcome.notices.len()), ("So far.", 0));
    assert!(outcome.usage.total_tokens() <= 20_000);
    let (estimated, last) = *calls(&world.events(), 0).last().expect("it was asked");
    let left = 20_000 - outcome.usage.total_tokens() + last;
    assert!(left < 2 * estimated + REPORT + 1000, "an ordinary call would have fitted: {left} for {estimated}");
}

#[tokio::test]
async fn children_on_their_parents_budget_set_aside_their_reports_too() {
    for (max_concurrent, is_background) in [(5, false), (2, false), (1, true), (5, true)] {
        let usage = Usage { input_tokens: 1500, output_tokens: 100, ..Usage::default() };
        let piece = |_| {
            let (tool, mut arguments) = task("CHILD");
            arguments["run_in_background"] = json!(is_background);
            reply::call(tool, arguments)
        };
        let script = Script::new()
            .on(when::last_contains("reached a limit"), reply::text("So far.").usage(usage))
            .on(when::prompt_contains("CHILD"), reply::calls([reply::call("LS", json!({}))]).usage(usage))
            .on(when::prompt_contains("MAIN").turn(0), reply::calls((0..5).map(piece)).usage(usage))
            .otherwise(reply::text("All told.").usage(usage));
        let rules = EngineSettings { max_concurrent, ..EngineSettings::default() };
        let world = Plan::script(script).rules(rules).build();
        let outcome = world.run(within(50_000)).await;
        assert!(outcome.usage.total_tokens() <= 50_000);
        let mut n_reports = 0;
        for event in world.events().iter().filter(|event| event.depth == 1) {
            let Fact::TaskEnded { outcome } = &event.fact else { continue };
            match outcome.status {
                Status::Partial => n_reports += usize::from(outcome.text == "So far."),
                _ => assert_eq!(outcome.usage.turns, 0, "it worked and came back with nothing: {outcome:?}"),
            }
        }
        assert!(n_reports >= 2, "{n_reports} of those who worked {max_concurrent} at once, {is_background}");
    }
}

#[tokio::test]
async fn a_budget_below_one_call_is_refused_with_the_figures_before_anything_is_recorded() {
    let world = Plan::script(Script::always(reply::text("Never said."))).build();
    let refused = world.engine.run(within(500)).await.err().expect("there is no room");
    assert_eq!(refused.code, FailureCode::NoRoom);
    assert!(refused.message.contains(", and 500 of 500 are left; "), "{refused}");
    assert!(world.model.seen().is_empty());
    assert_eq!(world.events(), []);
}

#[tokio::test]
async fn a_call_without_room_for_a_first_model_call_is_refused_and_not_counted() {
    let delegate = |prompt: &str| {
        let (tool, arguments) = task(prompt);
        reply::calls([reply::call(tool, arguments)])
    };
    let script = Script::new()
        .on(when::prompt_contains("The question").turn(0), delegate(&"word ".repeat(8_000)))
        .on(when::prompt_contains("The question").turn(1), delegate("a small piece"))
        .otherwise(reply::text("Done."));
    let rules = EngineSettings { max_tokens: Some(10_000), ..EngineSettings::default() };
    let world = Plan::script(script).rules(rules).build();
    let limits = Limits { max_children: Some(1), ..Limits::default() };
    let outcome = world.run(TaskRequest { limits, ..ask("The question") }).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "Done."));
    let asked = world.seen_by("The question");
    let (refused, small) = (asked[1].to_string(), world.seen_by("a small piece"));
    assert!(refused.contains("there is no room for a first model call: "), "{refused}");
    assert_eq!(small.len(), 1, "the refused call does not count as a sub-agent");
}

#[tokio::test]
async fn a_reply_cut_by_the_remaining_budget_ends_at_that_limit() {
    let long = reply::text("word ".repeat(40)).stop(StopReason::Length);
    let outcome = Plan::script(Script::always(long)).build().run(within(9_000)).await;
    assert_eq!((outcome.status, outcome.reason), (Status::Partial, Some(Limit::Tokens)));
}

#[tokio::test]
async fn a_task_can_afford_to_read_its_own_text_for_its_report() {
    let long = "words and more words ".repeat(600);
    let wrote = Usage { input_tokens: 2300, output_tokens: 3000, ..Usage::default() };
    let script = Script::new()
        .on(when::last_contains("reached a limit"), reply::text("So far."))
        .otherwise(reply::calls([reply::call("LS", json!({"path": long}))]).usage(wrote));
    for max_tokens in [8500, 9500, 11_000, 12_500] {
        let outcome = Plan::script(script.clone()).build().run(within(max_tokens)).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::Partial, "So far."), "{outcome:?}");
        assert!(outcome.usage.total_tokens() <= max_tokens);
    }
}

/// Four children with long briefs that explore until nothing is left to pay for it.
fn explorers() -> Plan {
    let usage = Usage { input_tokens: 1500, output_tokens: 100, ..Usage::default() };
    let wrote = Usage { input_tokens: 1500, output_tokens: 4000, ..Usage::default() };
    let brief = format!("CHILD {}", "looks at all of it ".repeat(200));
    let piece = move |_| {
        let (tool, arguments) = task(&brief);
        reply::call(tool, arguments)
    };
    let script = Script::new()
        .on(when::last_contains("reached a limit"), reply::text("So far.").usage(usage))
        .on(when::prompt_contains("CHILD"), reply::calls([reply::call("LS", json!({}))]).usage(usage))
        .on(when::prompt_contains("MAIN").turn(0), reply::calls((0..4).map(piece)).usage(wrote))
        .otherwise(reply::text("All told.").usage(usage));
    Plan::script(script)
}

#[tokio::test]
async fn a_parent_with_long_briefs_can_still_afford_its_report() {
    for max_tokens in [50_000, 60_000, 80_000] {
        let outcome = explorers().build().run(within(max_tokens)).await;
        assert_ne!(outcome.status, Status::Failed, "{outcome:?}");
    }
}

#[tokio::test]
async fn amounts_set_aside_for_reports_survive_a_crash() {
    const MAX: u64 = 60_000;
    let mut site = Site::new(explorers());
    let first = site.run(within(MAX)).await;
    let appends: Vec<Vec<Entry>> = site.journal.appends();
    let has_begun = |entries: &Vec<Entry>| entries.iter().any(|entry| matches!(entry.fact, Fact::ChildStarted { .. }));
    let begun = appends.iter().position(has_begun).expect("children were sent out");
    let mut lost = Vec::new();
    for killed in begun + 1..appends.len() {
        site = site.later(Plan { ids_before: 5, ..explorers() }, Relic::of(&appends[..killed]).await);
        let outcome = site.engine.resume(first.task_id, Resumption::default()).await.expect("it resumes");
        let outcome = outcome.outcome().await.expect("the journal works");
        assert!(outcome.usage.total_tokens() <= MAX, "after {killed} appends: {outcome:?}");
        if outcome.status == Status::Failed {
            lost.push(appends.len() - killed);
        }
    }
    assert!(lost.iter().all(|left| *left <= 2), "only what the last call of all was to say can be lost: {lost:?}");
}

fn spent(outcome: &TaskOutcome) -> (Option<Money>, u64) {
    (outcome.usage.known_cost(), outcome.usage.unpriced_tokens())
}

#[tokio::test]
async fn money_is_counted_by_kind_of_token_and_summed_over_the_tree() {
    let usage = Usage { input_tokens: 1000, output_tokens: 100, cache_read_tokens: 10_000, ..Usage::default() };
    let (tool, arguments) = task("CHILD");
    let script = Script::new()
        .on(when::prompt_contains("CHILD"), reply::text("Found.").usage(usage))
        .on(when::turn(0), reply::calls([reply::call(tool, arguments)]).usage(usage))
        .otherwise(reply::text("All told.").usage(usage));
    let outcome = priced(Plan::script(script.clone())).build().run(ask("MAIN")).await;
    // Three times 1,000 × $2 + 100 × $10 + 10,000 × $0.2 for a million.
    assert_eq!(spent(&outcome), (Money::from_dollars(0.015), 0));
    let outcome = Plan::script(script).build().run(ask("MAIN")).await;
    assert_eq!(spent(&outcome), (None, 33_300), "nobody knows the price");
}

#[tokio::test]
async fn a_cost_limit_ends_the_tree_before_it_is_passed() {
    let limits = Limits { max_cost: Money::from_dollars(0.05), ..Limits::default() };
    let world = priced(Plan::script(looking())).build();
    let outcome = world.run(TaskRequest { limits, ..ask("MAIN") }).await;
    assert_eq!((outcome.status, outcome.reason), (Status::Partial, Some(Limit::Cost)));
    assert_eq!(outcome.text, "So far.");
    let (cost, unpriced) = spent(&outcome);
    let cost = cost.expect("it has a price");
    assert!(
        cost > Money::from_dollars(0.02).unwrap_or_default() && cost <= limits.max_cost.unwrap_or_default(),
        "{cost}"
    );
    assert_eq!(unpriced, 0);
}

#[tokio::test]
async fn a_cost_limit_is_refused_if_the_price_is_unknown() {
    let world = Plan::script(Script::always(reply::text("Never said."))).build();
    let limits = Limits { max_cost: Money::from_dollars(1.0), ..Limits::default() };
    let failure = world.engine.run(TaskRequest { limits, ..ask("MAIN") }).await.err().expect("it is refused");
    expect!["unknown_price: the cost is limited, and the price of `scripted` is not known; set its prices in models.toml, or limit its tokens instead"]
        .assert_eq(&format!("{}: {}", failure.code, failure.message));
}

#[tokio::test]
async fn a_broken_attempt_without_figures_counts_with_its_estimated_input() {
    let cut = reply::text("Half a sentence").fault(Fault::CutAfter(4)).usage(Usage::default());
    let script = Script::new().times(1, when::any(), cut).otherwise(reply::text("Here you are."));
    let plan = Plan::of(ScriptedModel::new(script.clone()).retrying(1));
    let world = plan.build();
    let outcome = world.run(within(50_000)).await;
    let [(estimated, whole)] = calls(&world.events(), 0)[..] else { panic!("one call") };
    assert_eq!(outcome.usage.total_tokens(), estimated + 2 + whole, "two tokens were written");
    let free = Plan::of(ScriptedModel::new(script).retrying(1)).build().run(ask("MAIN")).await;
    assert!(free.usage.total_tokens() < estimated + whole, "without a limit nothing is estimated");
}

/// Two children and a report, within a limit.
fn family() -> Plan {
    let piece = |name: &str| {
        let (tool, arguments) = task(name);
        reply::call(tool, arguments)
    };
    let script = Script::new()
        .on(when::last_contains("reached a limit"), reply::text("So far."))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls([reply::call("LS", json!({}))]))
        .on(when::prompt_contains("CHILD"), reply::text("Found."))
        .on(when::turn(0), reply::calls([piece("CHILD one"), piece("CHILD two")]))
        .otherwise(reply::text("All told."));
    priced(Plan::script(script))
}

/// All usage in the logs. A call without an answer counts with its whole reservation.
fn booked(events: &[Event]) -> u64 {
    let mut held = std::collections::HashMap::new();
    let mut tokens = 0;
    for Event { task_id, fact, .. } in events {
        match fact {
            Fact::ModelCalled { reserved, .. } => {
                tokens += held.insert(*task_id, reserved.total_tokens()).unwrap_or_default();
            }
            Fact::ModelReplied { reply, .. } => {
                tokens += reply.usage.total_tokens();
                held.remove(task_id);
            }
            Fact::ModelLost { usage, .. } => {
                tokens += usage.total_tokens();
                held.remove(task_id);
            }
            _ => {}
        }
    }
    tokens + held.values().sum::<u64>()
}

#[tokio::test]
async fn the_budget_neither_leaks_nor_doubles_when_killed_anywhere() {
    const MAX: u64 = 60_000;
    let mut site = Site::new(family());
    let first = site.run(within(MAX)).await;
    assert_eq!(first.status, Status::Completed);
    let appends: Vec<Vec<Entry>> = site.journal.appends();
    let mut lost = 0;
    for killed in 1..appends.len() {
        site = site.later(Plan { ids_before: 3, ..family() }, Relic::of(&appends[..killed]).await);
        let outcome = site.engine.resume(first.task_id, Resumption::default()).await.expect("it resumes");
        let outcome = outcome.outcome().await.expect("the journal works");
        let tokens = outcome.usage.total_tokens();
        assert!(tokens <= MAX, "{tokens} after {killed} appends");
        assert_eq!(tokens, booked(&site.all_events()), "after {killed} appends");
        assert!(tokens >= first.usage.total_tokens(), "paid work is not forgotten: {tokens} after {killed} appends");
        lost += u64::from(tokens > first.usage.total_tokens());
    }
    assert!(lost >= 5, "each of the five calls was lost once: {lost}");
}

/// Twelve at once, each with one look around before it reports; the model counts three times the estimate.
fn counted_thrice(estimated: &[u64; 2]) -> Plan {
    let usage = |estimated: u64| Usage { input_tokens: 3 * estimated, ..Usage::default() };
    let piece = |_| {
        let prompt = format!("CHILD {}", "and then ".repeat(10_000));
        let arguments = json!({"description": "A piece", "prompt": prompt, "subagent_type": "general-purpose"});
        reply::call("Task", arguments)
    };
    let [main, child] = estimated.map(usage);
    let script = Script::new()
        .on(
            when::prompt_contains("CHILD").turn(0),
            reply::calls([reply::call("LS", json!({}))]).usage(child).after_ms(10),
        )
        .on(when::prompt_contains("CHILD"), reply::text("Found.").usage(child))
        .on(when::turn(0), reply::calls((0..12).map(piece)).usage(main))
        .otherwise(reply::text("All told.").usage(main));
    Plan::script(script).rules(EngineSettings { max_concurrent: 12, ..EngineSettings::default() })
}

/// Estimates for the first calls of the parent and of its children, before any count is known.
async fn first_estimates() -> [u64; 2] {
    let world = counted_thrice(&[0, 0]).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    let events = world.events();
    [0, 1].map(|depth| calls(&events, depth)[0].0)
}

#[tokio::test(start_paused = true)]
async fn children_that_start_together_know_how_their_model_counts() {
    let estimated = first_estimates().await;
    let world = counted_thrice(&estimated).build();
    let max_tokens = 3 * (3 * estimated[0] + 6 * estimated[1]);
    let outcome = world.run(within(max_tokens)).await;
    let spent = outcome.usage.total_tokens();
    assert!(spent <= max_tokens, "{spent} of {max_tokens}");
    assert!(!world.seen_by("CHILD").is_empty(), "there was enough for some");
}

#[tokio::test(start_paused = true)]
async fn a_resumed_task_knows_how_its_model_counts() {
    let estimated = first_estimates().await;
    let mut site = Site::new(counted_thrice(&estimated));
    let first = site.run(within(10_000_000)).await;
    assert_eq!(first.status, Status::Completed);
    let appends: Vec<Vec<Entry>> = site.journal.appends();
    for killed in (1..appends.len()).step_by(7) {
        let plan = Plan { ids_before: 13, ..counted_thrice(&estimated) };
        site = site.later(plan, Relic::of(&appends[..killed]).await);
        let running = site.engine.resume(first.task_id, Resumption::default()).await.expect("it resumes");
        assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
        let children = site.all_events().into_iter().filter(|event| event.depth == 1);
        for event in children.skip_while(|event| !matches!(event.fact, Fact::TaskResumed { .. })) {
            if let Fact::ModelCalled { input_tokens, .. } = event.fact {
                let least = estimated[1] * 29 / 10;
                assert!(input_tokens >= least, "{input_tokens} of {least} after {killed} appends");
            }
        }
    }
}
