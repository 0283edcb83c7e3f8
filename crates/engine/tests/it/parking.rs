//! What becomes of a task that has ended its turn while others work for it.

use expect_test::expect;
use serde_json::json;
use sortie_engine::{Resumption, Rules};
use sortie_protocol::{Fact, Status, StopReason, TaskOutcome};
use sortie_testkit::{Fault, ScriptedReply, reply};

use crate::mail_at_every_event::{Asked, send, task};
use crate::mail_races::{Site, answering};
use crate::relic::Relic;
use crate::support::ask;

fn told(outcome: &TaskOutcome) -> String {
    let reason = outcome.reason.map(|limit| format!(" ({limit})")).unwrap_or_default();
    format!("{}{reason} | {}", outcome.status, outcome.text)
}

/// One says nothing when it has sent two out, and nothing more when it has answered the first report.
fn falling_silent(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", true), task("SECOND", true)]),
        ("MAIN", 1) if asked.last.contains("SECOND") => reply::text("Both are right."),
        ("MAIN", _) => reply::fault(Fault::Empty),
        ("FIRST", 0) => reply::text("The report of the FIRST.").after_ms(1000),
        _ => reply::text("The report of the SECOND.").after_ms(9000),
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_says_nothing_while_others_work_for_it_waits_for_them() {
    let site = Site::new(answering(falling_silent));
    let outcome = site.run(ask("MAIN")).await;
    expect!["completed | Both are right."].assert_eq(&told(&outcome));
    let ended = site.all_events().into_iter().filter_map(|event| match event.fact {
        Fact::TaskEnded { outcome } => Some(outcome.status),
        _ => None,
    });
    assert_eq!(ended.collect::<Vec<_>>(), [Status::Completed; 3]);
}

/// One has answered, and has nothing to add when a report comes.
fn nothing_to_add(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("CHILD", true)]),
        ("MAIN", 1) => {
            if asked.last.contains("The report") {
                reply::fault(Fault::Empty)
            } else {
                reply::text("It is in the cellar.")
            }
        }
        ("MAIN", _) => reply::fault(Fault::Empty),
        _ => asked.report().after_ms(1000),
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_has_answered_and_has_nothing_to_add_to_it_has_completed() {
    let site = Site::new(answering(nothing_to_add));
    let outcome = site.run(ask("MAIN")).await;
    expect!["completed | It is in the cellar."].assert_eq(&told(&outcome));
}

/// The answer of one is cut, and goes on when a report has come.
fn cut_in_between(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("CHILD", true)]),
        ("MAIN", 1) => reply::text("The first part, cut in the mid").stop(StopReason::Length),
        ("MAIN", _) => reply::text("And the rest."),
        _ => asked.report().after_ms(1000),
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_which_a_part_was_cut_is_partial_also_after_a_crash() {
    let told_as = expect![[r"
        partial (output) | The first part, cut in the mid

        And the rest."]];
    let mut site = Site::new(answering(cut_in_between));
    let first = site.run(ask("MAIN")).await;
    told_as.assert_eq(&told(&first));
    let appends = site.journal.appends();
    for killed in 1..appends.len() {
        let plan = crate::support::Plan { ids_before: 2, ..answering(cut_in_between) };
        site = site.later(plan, Relic::of(&appends[..killed]).await);
        let running = site.engine.resume(first.task_id, Resumption::default()).await.expect("it goes on");
        told_as.assert_eq(&told(&running.outcome().await.expect("the journal works")));
    }
}

/// One is asked something, and ends its turn instead of answering it, until it is reminded.
fn forgetting(asked: &Asked<'_>) -> ScriptedReply {
    let is_reminded = asked.last.contains("wait for your answer:");
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("ASKING", true)]),
        ("MAIN", _) if is_reminded => reply::calls([send("<task 1>", "The second one.")]),
        ("MAIN", _) => reply::text("I wait."),
        ("ASKING", 0) => reply::calls([reply::call("Ask", json!({"question": "Which one?"}))]),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_those_that_wait_for_its_answer_is_reminded_of_them() {
    let site = Site::new(answering(forgetting));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let outputs = site.outputs("ASKING");
    assert!(outputs[0].contains("The second one."), "{outputs:#?}");
    let reminders = site.all_events().into_iter().filter_map(|event| match event.fact {
        Fact::Reminded { text, .. } => Some(text),
        _ => None,
    });
    expect!["You have ended your turn, and all that you wait for wait for your answer: agent-aaaaaaaaaaab. Answer with SendMessage."]
        .assert_eq(&reminders.collect::<Vec<_>>().join("\n"));
}

/// One waits for forty that end one after another.
fn waiting_for_many(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls((0..40).map(|number| task(&format!("CHILD {number}"), true))),
        ("MAIN", _) => reply::text("I wait."),
        (child, _) => {
            let number: u64 = child.trim_start_matches("CHILD ").parse().expect("a number");
            asked.report().after_ms(60 * number)
        }
    }
}

#[tokio::test(start_paused = true)]
async fn reports_that_come_one_after_another_do_not_cost_a_turn_each() {
    let plan = answering(waiting_for_many).rules(Rules { max_concurrent: 40, ..Rules::default() });
    let site = Site::new(plan);
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    let deliveries: Vec<usize> = site
        .events(outcome.task_id)
        .into_iter()
        .filter_map(|event| match event.fact {
            Fact::MailRead { mail, .. } => Some(mail.reports.len()),
            _ => None,
        })
        .collect();
    assert_eq!(deliveries.iter().sum::<usize>(), 40, "each is told once: {deliveries:?}");
    assert!(deliveries.len() <= 7, "{deliveries:?}");
    assert_eq!(deliveries[0], 1, "the first one wakes at once: {deliveries:?}");
}
