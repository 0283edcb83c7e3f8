//! Tasks that have ended their turn while their children work.

use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sortie_engine::{EngineSettings, Resumption};
use sortie_protocol::{Fact, Limits, Status, StopReason, TaskRequest};
use sortie_testkit::{Fault, ScriptedReply, reply};

use crate::endings::told;
use crate::mail_at_every_event::{Asked, call, send, task};
use crate::mail_races::{Site, answering};
use crate::questions::inquire;
use crate::relic::Relic;
use crate::support::{Plan, ask};

/// A task says nothing after it has started two children, and nothing more after it has answered the first report.
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
async fn a_silent_task_waits_for_its_background_children() {
    let site = Site::new(answering(falling_silent));
    let outcome = site.run(ask("MAIN")).await;
    expect!["completed | Both are right."].assert_eq(&told(&outcome));
    let ended = site.all_events().into_iter().filter_map(|event| match event.fact {
        Fact::TaskEnded { outcome } => Some(outcome.status),
        _ => None,
    });
    assert_eq!(ended.collect::<Vec<_>>(), [Status::Completed; 3]);
}

/// A task has answered, and has nothing to add when a report comes.
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
async fn a_task_with_an_answer_and_nothing_to_add_has_completed() {
    let site = Site::new(answering(nothing_to_add));
    let outcome = site.run(ask("MAIN")).await;
    expect!["completed | It is in the cellar."].assert_eq(&told(&outcome));
}

/// A task as in [`nothing_to_add`], with an output schema.
fn one_value(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 1) if !asked.last.contains("The report") => reply::text(r#"{"a": 1}"#),
        _ => nothing_to_add(asked),
    }
}

#[tokio::test(start_paused = true)]
async fn a_structured_answer_needs_no_addition_either() {
    let schema = json!({"type": "object", "required": ["a"]});
    let request = TaskRequest { output_schema: Some(schema), ..ask("MAIN") };
    let outcome = Site::new(answering(one_value)).run(request).await;
    assert_eq!((outcome.status, outcome.structured), (Status::Completed, Some(json!({"a": 1}))), "{:?}", outcome.error);
}

/// A task's answer is cut, and continues when a report has come.
fn cut_in_between(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("CHILD", true)]),
        ("MAIN", 1) => reply::text("The first part, cut in the mid").stop(StopReason::Length),
        ("MAIN", _) => reply::text("And the rest."),
        _ => asked.report().after_ms(1000),
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_a_cut_part_is_partial_also_after_a_crash() {
    let told_as = expect![[r"
        partial (output) | The first part, cut in the mid

        And the rest."]];
    let mut site = Site::new(answering(cut_in_between));
    let first = site.run(ask("MAIN")).await;
    told_as.assert_eq(&told(&first));
    let appends = site.journal.appends();
    for killed in 1..appends.len() {
        let plan = Plan { ids_before: 2, ..answering(cut_in_between) };
        site = site.later(plan, Relic::of(&appends[..killed]).await);
        let running = site.engine.resume(first.task_id, Resumption::default()).await.expect("it resumes");
        told_as.assert_eq(&told(&running.outcome().await.expect("the journal works")));
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_that_cut_the_answer_is_named_not_a_later_one() {
    let limits = Limits { max_tokens: Some(27_000), ..Limits::default() };
    let outcome = Site::new(answering(cut_in_between)).run(TaskRequest { limits, ..ask("MAIN") }).await;
    assert!(told(&outcome).starts_with("partial (output)"), "{}", told(&outcome));
}

/// One child reports when its parent has no time left to read it, and another one has no time left to report.
fn running_late(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls(["1000", "2950", "9000"].map(|when| task(when, true))),
        ("MAIN", _) => reply::text("I wait.").after_ms(1600),
        (when, _) => asked.report().after_ms(when.parse().expect("a number")),
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_too_late_to_be_read_is_noted_in_the_outcome() {
    let limits = Limits { timeout: Some(Duration::from_secs(3)), ..Limits::default() };
    let outcome = Site::new(answering(running_late)).run(TaskRequest { limits, ..ask("MAIN") }).await;
    assert_eq!(outcome.status, Status::Partial);
    let expected = "2 reports were not read; they are read if the task is resumed";
    assert!(outcome.notices.iter().any(|notice| notice == expected), "{:?}", outcome.notices);
}

/// A task gets a question, and ends its turn instead of answering it, until it is reminded.
fn forgetting(asked: &Asked<'_>) -> ScriptedReply {
    let is_reminded = asked.last.contains("wait for your answer:");
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("ASKING", true)]),
        ("MAIN", _) if is_reminded => reply::calls([send("<task 1>", "The second one.")]),
        ("MAIN", _) => reply::text("I wait."),
        ("ASKING", 0) => reply::calls([inquire("Which one?")]),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_parent_whose_children_all_wait_for_its_answer_is_reminded() {
    let site = Site::new(answering(forgetting));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let outputs = site.outputs("ASKING");
    assert!(outputs[0].contains("The second one."), "{outputs:#?}");
    let reminders = site.all_events().into_iter().filter_map(|event| match event.fact {
        Fact::Reminded { text, .. } => Some(text),
        _ => None,
    });
    expect!["You have ended your turn, but all your sub-agents wait for your answer: agent-aaaaaaaaaaab. Answer with SendMessage."]
        .assert_eq(&reminders.collect::<Vec<_>>().join("\n"));
}

/// A task looks around when it is reminded of a question, and ends its turn again.
fn evading(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("ASKING", true)]),
        ("MAIN", _) if asked.last.contains("wait for your answer:") => call("TaskList", json!({})),
        ("MAIN", _) => reply::text("I wait."),
        ("ASKING", 0) => reply::calls([inquire("Which one?")]),
        _ => asked.report(),
    }
}

fn n_reminders(site: &Site) -> usize {
    site.all_events().iter().filter(|event| matches!(event.fact, Fact::Reminded { .. })).count()
}

#[tokio::test(start_paused = true)]
async fn each_question_is_reminded_of_once_even_after_a_kill() {
    let mut site = Site::new(answering(evading));
    let first = site.run(ask("MAIN")).await;
    assert_eq!((first.status, n_reminders(&site)), (Status::Completed, 1));
    let appends = site.journal.appends();
    for killed in 1..appends.len() {
        let plan = Plan { ids_before: 2, ..answering(evading) };
        site = site.later(plan, Relic::of(&appends[..killed]).await);
        let running = site.engine.resume(first.task_id, Resumption::default()).await.expect("it resumes");
        assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
        assert!(n_reminders(&site) <= 1, "{} after {killed} appends", n_reminders(&site));
    }
}

/// A task waits for forty children that end one after another.
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

/// A task as in [`waiting_for_many`], with a note for each delivery.
fn noting_each(asked: &Asked<'_>) -> ScriptedReply {
    let has_mail = asked.last.contains("Your background task");
    match (asked.who, asked.turn) {
        ("MAIN", turn) if turn > 0 && has_mail => {
            call("TodoWrite", json!({"todos": [{"content": "Wait", "status": "in_progress"}]}))
        }
        _ => waiting_for_many(asked),
    }
}

#[tokio::test(start_paused = true)]
async fn successive_reports_do_not_cost_a_turn_each() {
    collected(waiting_for_many).await;
    collected(noting_each).await;
}

async fn collected(answer: fn(&Asked<'_>) -> ScriptedReply) {
    let plan = answering(answer).rules(EngineSettings { max_concurrent: 40, ..EngineSettings::default() });
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
