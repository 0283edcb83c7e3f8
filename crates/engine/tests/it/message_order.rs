//! Messages of one turn are read in the order of the calls, however they race; and a later look sees their effect.

use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sortie_protocol::{Event, Fact, Status};
use sortie_testkit::{ScriptedModel, ScriptedPart, ScriptedReply, reply};

use crate::mail_at_every_event::{Asked, call, send, task};
use crate::mail_races::{Site, answering};
use crate::relic::Relic;
use crate::support::{Plan, ask};
use crate::told::Told;

/// The first message takes longer than all that come after it.
fn is_first_word(fact: &Fact) -> bool {
    matches!(fact, Fact::CallStarted { call, .. } if call.arguments.contains("Word 1."))
}

fn words() -> Vec<ScriptedPart> {
    (1..=4).map(|number| send("<task 1>", &format!("Word {number}."))).collect()
}

/// The child's messages, in the order in which it read them.
fn heard(site: &Site) -> Vec<String> {
    let told = |event: Event| match event.fact {
        Fact::TaskResumed { prompt, .. } => prompt,
        Fact::MailRead { text, .. } => Some(text),
        _ => None,
    };
    let events = site.events("agent-aaaaaaaaaaab".parse().expect("an id"));
    let all = events.into_iter().filter_map(told).collect::<Vec<_>>().join("\n");
    all.lines().filter(|line| line.starts_with("Word")).map(str::to_owned).collect()
}

const IN_ORDER: [&str; 4] = ["Word 1.", "Word 2.", "Word 3.", "Word 4."];

/// Sends several messages at once to a child that has ended.
fn to_one_that_has_ended(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", false)]),
        ("MAIN", 1) => reply::calls(words()),
        ("FIRST", 1) => call("LS", json!({})).after_ms(10_000),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_of_several_messages_resumes_an_ended_task_which_reads_the_others() {
    let site = Site::of(answering(to_one_that_has_ended), Relic::default().slow(is_first_word));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    assert_eq!(heard(&site), IN_ORDER);
    expect![[r#"
        agent-aaaaaaaaaaab resumes with it in the background; its report is delivered to you
        delivered: agent-aaaaaaaaaaab reads it at its next turn, unless it ends before
        delivered: agent-aaaaaaaaaaab reads it at its next turn, unless it ends before
        delivered: agent-aaaaaaaaaaab reads it at its next turn, unless it ends before"#]]
    .assert_eq(&site.outputs("MAIN").split_off(1).join("\n"));
}

/// Sends several messages at once to a child at work.
fn to_one_at_work(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", true)]),
        ("MAIN", 1) => reply::calls(words()),
        ("FIRST", 0) => call("LS", json!({})).after_ms(10_000),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn several_messages_to_a_working_task_are_read_in_order() {
    let site = Site::of(answering(to_one_at_work), Relic::default().slow(is_first_word));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(heard(&site), IN_ORDER);
}

/// A prompt to the child by a call that resumes it.
fn resume(prompt: &str, is_apart: bool) -> ScriptedPart {
    let arguments =
        json!({"description": "Part", "prompt": prompt, "resume": "<task 1>", "run_in_background": is_apart});
    reply::call("Task", arguments)
}

/// Sends two prompts at once to an ended child, some of them by calls that resume it.
async fn two_words(goes_on: [bool; 2], is_apart: bool) -> Site {
    let words = move || {
        let words = goes_on.into_iter().zip(["Word 1.", "Word 2."]);
        words.map(move |(goes_on, word)| if goes_on { resume(word, is_apart) } else { send("<task 1>", word) })
    };
    let model = ScriptedModel::answering(move |request| {
        let asked = Asked::of(request);
        match (asked.who, asked.turn) {
            ("MAIN", 0) => reply::calls([task("FIRST", false)]),
            ("MAIN", 1) => reply::calls(words()),
            ("FIRST", 1 | 2) => call("LS", json!({})).after_ms(10_000),
            _ => asked.report(),
        }
    });
    let site = Site::of(Plan::of(model), Relic::default().slow(is_first_word));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    site
}

#[tokio::test(start_paused = true)]
async fn messages_and_resuming_calls_reach_a_task_in_order_and_none_is_refused() {
    for goes_on in [[false, true], [true, false]] {
        for is_apart in [false, true] {
            let site = two_words(goes_on, is_apart).await;
            assert_eq!(heard(&site), IN_ORDER[..2], "{goes_on:?} {is_apart}: {:#?}", site.outputs("MAIN"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_reaches_a_resumed_task_that_is_waited_for() {
    let site = two_words([true, false], false).await;
    assert_eq!(
        site.outputs("MAIN")[2],
        "delivered: agent-aaaaaaaaaaab reads it at its next turn, unless it ends before"
    );
}

/// Resumes a child that asks something before the second prompt has its turn.
fn asking_in_between(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", false)]),
        ("MAIN", 1) => reply::calls([send("<task 1>", "Word 1."), resume("Word 2.", false)]),
        ("MAIN", _) if asked.last.contains("Which one?") => reply::calls([send("<task 1>", "Word 3.")]),
        ("FIRST", 1) => call("Ask", json!({"question": "Which one?", "timeout_seconds": 600})),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_does_not_wait_for_a_task_with_a_question() {
    let site = Site::of(answering(asking_in_between), Relic::default());
    let began = tokio::time::Instant::now();
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
    let refused = site.outputs("MAIN").remove(2);
    assert!(refused.contains("agent-aaaaaaaaaaab is still running"), "{refused}");
    assert!(site.outputs("FIRST")[0].contains("Word 3."), "{:#?}", site.outputs("FIRST"));
}

/// Two questions, both answered in one turn.
fn two_questions(asked: &Asked<'_>) -> ScriptedReply {
    let question = |text: &str| reply::call("Ask", json!({"question": text}));
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", true)]),
        ("MAIN", 1) => call("LS", json!({})).after_ms(500),
        ("MAIN", 2) => reply::calls(words().into_iter().take(2)),
        ("FIRST", 0) => reply::calls([question("Which one?"), question("Which other one?")]),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn several_answers_go_to_the_questions_in_order() {
    let site = Site::of(answering(two_questions), Relic::default().slow(is_first_word));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let answers = site.outputs("FIRST");
    assert!(answers[0].contains("Word 1.") && answers[1].contains("Word 2."), "{answers:#?}");
}

/// Waits for a child whose question it has read; then it answers, and waits again in the same turn.
fn waiting_for_one_that_asks(asked: &Asked<'_>) -> ScriptedReply {
    let wait = || reply::call("TaskOutput", json!({"task_ids": ["<task 2>", "<task 1>"], "timeout": 600_000}));
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", true), task("SLOW", true)]),
        ("MAIN", 1) => call("LS", json!({})).after_ms(500),
        ("MAIN", 2) => reply::calls([wait(), reply::call("TaskList", json!({}))]),
        ("MAIN", 3) => reply::calls([send("<task 1>", "Word 1."), wait()]),
        ("FIRST", 0) => call("Ask", json!({"question": "Which one?"})),
        ("SLOW", 0) => asked.report().after_ms(100_000),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_task_that_waits_for_their_answer() {
    let site = Site::of(answering(waiting_for_one_that_asks), Relic::default().slow(is_first_word));
    let began = tokio::time::Instant::now();
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    // Once for the slow one, and never for the given time.
    assert!(began.elapsed() < Duration::from_secs(110), "{:?}", began.elapsed());
    let outputs = site.outputs("MAIN").split_off(3);
    let asking = ", waits for your answer (SendMessage), last: ";
    assert!(outputs[0].contains(asking) && outputs[0].contains("2 of 2 have not ended"), "{outputs:#?}");
    assert!(outputs[1].contains(asking), "{outputs:#?}");
    assert!(outputs[3].contains("The report of FIRST at turn 1!"), "{outputs:#?}");
    assert!(outputs[3].contains("The report of SLOW at turn 0!"), "{outputs:#?}");
}
