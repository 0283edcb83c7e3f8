//! Questions: their order, and that nobody waits for an answer that cannot come.

use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sortie_protocol::{Addressee, Fact, Status};
use sortie_testkit::{ScriptedPart, ScriptedReply, reply};
use tokio::time::Instant;

use crate::mail_at_every_event::{Asked, call, send, task};
use crate::mail_races::{Site, answering};
use crate::relic::Relic;
use crate::support::ask;

pub(crate) fn inquire(question: &str) -> ScriptedPart {
    reply::call("Ask", json!({"question": question}))
}

/// A task asks three things at once, of which the first cannot be asked.
fn asking_several(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("ASKING", true)]),
        ("MAIN", 1) => reply::text("Waiting."),
        ("MAIN", 2) => reply::calls([send("<task 1>", "Blue."), send("<task 1>", "Large.")]).after_ms(5000),
        ("ASKING", 0) => reply::calls([inquire(""), inquire("Which colour?"), inquire("Which size?")]),
        _ => asked.report(),
    }
}

/// The first question takes longer to begin than the second.
fn begins_slowly(fact: &Fact) -> bool {
    matches!(fact, Fact::CallStarted { call, .. } if call.arguments.contains("colour"))
}

#[tokio::test(start_paused = true)]
async fn questions_of_one_turn_are_asked_and_answered_in_the_order_of_the_calls() {
    let site = Site::of(answering(asking_several), Relic::default().slow(begins_slowly));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    let child = site.events("agent-aaaaaaaaaaab".parse().expect("an id"));
    let asked = child.iter().filter_map(|event| match &event.fact {
        Fact::QuestionAsked { to: Addressee::Parent, text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(asked.collect::<Vec<_>>(), ["Which colour?", "Which size?"]);
    let told = site.events(outcome.task_id).into_iter().filter_map(|event| match event.fact {
        Fact::MessageArrived { text, .. } => text.lines().next().map(str::to_owned),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), ["Which colour?", "Which size?"]);
    let outputs = site.outputs("ASKING");
    assert!(outputs[0].contains("the question is empty"), "{outputs:#?}");
    assert!(outputs[1].contains("Blue.") && outputs[2].contains("Large."), "{outputs:#?}");
}

/// A task has a single turn, in which it starts a child that asks it something: soon, or when that turn is over.
fn at_its_limit(asked: &Asked<'_>) -> ScriptedReply {
    let limited = |name: &str, in_background: bool| {
        let arguments = json!({
            "description": "Part", "prompt": name, "subagent_type": "general-purpose",
            "run_in_background": in_background, "limits": {"max_turns": 1},
        });
        reply::call("Task", arguments)
    };
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([limited("LATER", true), limited("BEFORE", true)]),
        ("LATER", 0) => reply::calls([task("ASKS LATER", true)]),
        // The waiting call is answered with the question, which is read when no turn is left.
        ("BEFORE", 0) => reply::calls([task("ASKS BEFORE", false)]),
        ("ASKS LATER" | "ASKS BEFORE", 0) => reply::calls([inquire("Which one?")]).after_ms(1000),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn an_asker_learns_at_once_that_the_parent_has_no_turn_left() {
    let began = Instant::now();
    let site = Site::new(answering(at_its_limit));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    for who in ["ASKS LATER", "ASKS BEFORE"] {
        expect!["the task above has reached a limit and can no longer answer; use your best judgement, and say what you assumed"].assert_eq(&site.outputs(who).join("\n"));
    }
}

/// A task answers with its last turn.
fn answering_last(asked: &Asked<'_>) -> ScriptedReply {
    let limited = json!({
        "description": "Part", "prompt": "MIDDLE", "subagent_type": "general-purpose", "limits": {"max_turns": 2},
    });
    match (asked.who, asked.turn) {
        ("MAIN", 0) => call("Task", limited),
        ("MIDDLE", 0) => reply::calls([task("ASKING", false)]),
        ("MIDDLE", 1) => reply::calls([send("agent-aaaaaaaaaaac", "The second one.")]),
        ("ASKING", 0) => reply::calls([inquire("Which one?")]),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_the_last_turn_counts() {
    let site = Site::new(answering(answering_last));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let outputs = site.outputs("ASKING");
    assert!(outputs[0].contains("The second one."), "{outputs:#?}");
}

/// A task asks; another message comes before that, or meanwhile.
fn interrupting(asked: &Asked<'_>) -> ScriptedReply {
    let by_the_way = || reply::calls([send("<task 1>", "By the way.")]);
    match (asked.who, asked.turn) {
        ("BEFORE" | "MEANWHILE", 0) => reply::calls([task("ASKING", true)]),
        ("BEFORE", 1) => by_the_way().after_ms(300),
        ("MEANWHILE", 1) => by_the_way().after_ms(900),
        ("BEFORE", _) if asked.last.contains("Which one?") => reply::calls([send("<task 1>", "The second one.")]),
        ("ASKING", 0) => reply::calls([inquire("Which one?")]).after_ms(600),
        _ => asked.report(),
    }
}

/// The order of its questions and messages, and the answers it got.
async fn interrupted(who: &str, is_slow: fn(&Fact) -> bool) -> (Vec<String>, Vec<String>) {
    let site = Site::of(answering(interrupting), Relic::default().slow(is_slow));
    assert_eq!(site.run(ask(who)).await.status, Status::Completed);
    let child = site.events("agent-aaaaaaaaaaab".parse().expect("an id"));
    let words = child.into_iter().filter_map(|event| match event.fact {
        Fact::QuestionAsked { text, .. } | Fact::MessageArrived { text, .. } => Some(text),
        _ => None,
    });
    (words.collect(), site.outputs("ASKING"))
}

#[tokio::test(start_paused = true)]
async fn a_message_sent_while_a_question_is_recorded_comes_after_it_and_answers_it() {
    let (words, outputs) = interrupted("MEANWHILE", |fact| matches!(fact, Fact::QuestionAsked { .. })).await;
    assert_eq!(words, ["Which one?", "By the way."]);
    assert!(outputs[0].contains("By the way."), "{outputs:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_message_recorded_before_a_question_is_not_an_answer() {
    let is_slow = |fact: &Fact| matches!(fact, Fact::MessageArrived { text, .. } if text == "By the way.");
    let (words, outputs) = interrupted("BEFORE", is_slow).await;
    assert_eq!(words, ["By the way.", "Which one?", "The second one."]);
    assert!(outputs[0].contains("The second one."), "{outputs:#?}");
}
