//! Unread mail, and the stopper of a task: the recipient of the report learns both.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sortie_engine::Resumption;
use sortie_journal::Journal as _;
use sortie_protocol::{Fact, Message, Status, TaskId};
use sortie_testkit::{ScriptedReply, Seen, reply};
use tokio::time::Instant;

use crate::mail_at_every_event::{Asked, FOR_EVER, call, send, task};
use crate::mail_races::{Site, answering};
use crate::relic::Relic;
use crate::support::ask;

const CHILD: &str = "agent-aaaaaaaaaaab";

fn child() -> TaskId {
    CHILD.parse().expect("an id")
}

/// All of the main agent's mail.
fn mail(site: &Site) -> String {
    let is_main = |seen: &Seen| matches!(seen.messages.first(), Some(Message::User { text }) if text == "MAIN");
    let last = site.seen().into_iter().rfind(is_main).expect("it was asked");
    let texts = last.messages.into_iter().skip(1).filter_map(|message| match message {
        Message::User { text } => Some(text),
        Message::Assistant { .. } | Message::Outputs { .. } => None,
    });
    let times = |line: &str| line.split(" tokens, ").next().unwrap_or_default().to_owned();
    texts.flat_map(|text| text.lines().map(times).collect::<Vec<_>>()).collect::<Vec<_>>().join("\n")
}

/// Writes to a child whose model call is under way, which then fails.
fn failing(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", true)]),
        ("MAIN", 1) => reply::calls([send(CHILD, "Look here."), send(CHILD, "And there.")]).after_ms(100),
        ("FIRST", 0) if !asked.last.contains("Look here.") => reply::status(401).after_ms(1000),
        _ => asked.report(),
    }
}

/// Writes to a child whose time runs out.
fn running_out_of_time(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 1) => reply::calls([send(CHILD, "Look here.")]).after_ms(100),
        ("FIRST", 0) => reply::never(),
        _ => failing(asked),
    }
}

#[tokio::test(start_paused = true)]
async fn an_unread_message_is_in_the_report_and_read_in_the_next_leg() {
    let site = Site::new(answering(failing));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    expect![[r"
        Your background task agent-aaaaaaaaaaab “Part” has ended:
        agent-aaaaaaaaaaab general-purpose failed, 0 calls, 0
        error model_auth: the provider answered 401 (scripted)
        notice: 2 messages were not read; they are read if the task is resumed"]]
    .assert_eq(&mail(&site));
    let running = site.engine.resume(child(), Resumption::default()).await.expect("it resumes");
    let again = running.outcome().await.expect("the journal works");
    assert_eq!((again.status, again.notices), (Status::Completed, Vec::new()));
    let last = format!("{:?}", site.seen().pop().expect("it was asked").messages);
    assert!(last.contains("Look here.") && last.contains("And there."), "{last}");
}

#[tokio::test(start_paused = true)]
async fn unread_messages_are_reported_at_a_timeout_and_without_a_place_for_notices() {
    for contract in ["sortie", "typed"] {
        let site = Site::new(answering(running_out_of_time).contract(contract));
        assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
        let told = mail(&site);
        assert!(
            told.contains("notice: 1 message was not read; it is read if the task is resumed"),
            "{contract}: {told}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_task_that_is_ended_reports_unread_messages() {
    let whole = Site::new(answering(failing));
    whole.run(ask("MAIN")).await;
    let appends = whole.journal.appends();
    let arrives = |fact: &Fact| matches!(fact, Fact::MessageArrived { .. });
    let arrived = appends.iter().position(|entries| entries.iter().any(|entry| arrives(&entry.fact)));
    let relic = Relic::of(&appends[..=arrived.expect("it was sent")]).await;
    let site = whole.later(answering(failing), relic);
    let ended = site.engine.abandon(child()).await.expect("nobody runs it");
    let notices = [
        "it was interrupted, and was stopped before it was resumed",
        "1 message was not read; it is read if the task is resumed",
    ];
    assert_eq!(ended[0].notices, notices);
}

/// Stops a child and writes to it in the same turn, in this order and in the other.
fn stopping(asked: &Asked<'_>) -> ScriptedReply {
    let stop = || reply::call("TaskStop", json!({"task_id": CHILD}));
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", true)]),
        ("MAIN", 1) => reply::calls([send(CHILD, "Look here."), stop()]).after_ms(100),
        ("MAIN", 2) => reply::calls([send(CHILD, "Go on.")]),
        ("MAIN", 3) => reply::calls([stop(), send(CHILD, "And now?")]).after_ms(100),
        ("FIRST", _) if !asked.last.contains("And now?") => reply::never(),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_before_a_stop_is_unread_and_one_after_it_resumes_the_task() {
    let site = Site::new(answering(stopping));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let outputs = site.outputs("MAIN");
    assert_eq!(outputs[1], format!("delivered: {CHILD} reads it at its next turn, unless it ends before"));
    let notices = |output: &str| {
        let notices = output.lines().filter_map(|line| line.strip_prefix("notice: "));
        notices.map(str::to_owned).collect::<Vec<_>>()
    };
    let unread = "1 message was not read; it is read if the task is resumed";
    let stopped = "it was stopped by agent-aaaaaaaaaaaa";
    assert_eq!(notices(&outputs[2]), [unread, stopped]);
    assert_eq!(notices(&outputs[4]), [stopped], "by then it had read what came: {}", outputs[4]);
    assert!(outputs[5].starts_with(&format!("{CHILD} resumes with it")), "{outputs:#?}");
}

/// Writes, half a second after the start, to a child that somebody else stops at once.
fn writing_late(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", true)]),
        ("MAIN", 1) => reply::calls([send(CHILD, "Look here.")]).after_ms(500),
        ("FIRST", _) => reply::never(),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopping_task_takes_no_message_and_says_that_it_was_stopped_from_outside() {
    let is_slow = |fact: &Fact| matches!(fact, Fact::TaskEnded { .. });
    let site = Arc::new(Site::of(answering(writing_late), Relic::default().slow(is_slow)));
    let running = tokio::spawn({
        let site = Arc::clone(&site);
        async move { site.run(ask("MAIN")).await }
    });
    let began = Instant::now();
    let is_asked = |fact: &Fact| matches!(fact, Fact::ModelCalled { .. });
    while !site.all_events().iter().any(|event| event.task_id == child() && is_asked(&event.fact)) {
        tokio::task::yield_now().await;
    }
    assert!(site.engine.stop(child()));
    assert!(began.elapsed() < Duration::from_millis(500), "it is stopped before it is written to");
    let outcome = tokio::time::timeout(FOR_EVER, running).await.expect("nobody waits for ever").expect("no panic");
    assert_eq!(outcome.status, Status::Completed);
    let refused = "nothing was sent: agent-aaaaaaaaaaab is being stopped and reads nothing more; to resume it, \
                   send the message after it has ended";
    assert_eq!(site.outputs("MAIN")[1], refused);
    expect![[r"
        Your background task agent-aaaaaaaaaaab “Part” has ended:
        agent-aaaaaaaaaaab general-purpose cancelled, 0 calls, 0
        notice: it was stopped from outside the run, by a person or a program"]]
    .assert_eq(&mail(&site));
    let arrived = |fact: &Fact| matches!(fact, Fact::MessageArrived { .. });
    assert!(!site.events(child()).iter().any(|event| arrived(&event.fact)), "nothing is there to be read later");
}

/// Works on while a child does, for ever.
fn never_done(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => call(
            "Task",
            json!({"description": "Part", "prompt": "FIRST", "subagent_type": "explore", "run_in_background": true}),
        ),
        ("MAIN", _) if !asked.last.contains("stopped") => reply::never(),
        ("FIRST", _) => reply::never(),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_ended_with_the_run_says_so_when_the_run_resumes() {
    let site = Site::new(answering(never_done));
    let running = site.engine.run(ask("MAIN")).await.expect("it starts");
    let is_asked = |fact: &Fact| matches!(fact, Fact::ModelCalled { .. });
    while !site.all_events().iter().any(|event| event.task_id == child() && is_asked(&event.fact)) {
        tokio::task::yield_now().await;
    }
    running.stop();
    let stopped = running.outcome().await.expect("the journal works");
    assert_eq!((stopped.status, stopped.notices.len()), (Status::Cancelled, 0));
    let below = site.journal.ending(child()).expect("the journal reads").expect("it has ended");
    let why = "it was stopped because agent-aaaaaaaaaaaa, which it worked for, ended or was stopped";
    assert_eq!(below.notices, [why]);
    let running = site.engine.resume(stopped.task_id, Resumption::default()).await.expect("it resumes");
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
    assert!(mail(&site).contains(&format!("notice: {why}")), "{}", mail(&site));
}

/// A call with an unknown argument, for a child that is then written to in vain.
fn called_oddly(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => call(
            "Task",
            json!({
                "description": "Part", "prompt": "FIRST", "subagent_type": "general-purpose", "run_in_background": true,
                "colour": "red",
            }),
        ),
        _ => failing(asked),
    }
}

#[tokio::test(start_paused = true)]
async fn mail_without_notices_tells_the_ending_and_not_what_was_known_before() {
    let site = Site::new(answering(called_oddly).contract("typed"));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let outcome = site.journal.ending(child()).expect("the journal reads").expect("it has ended");
    assert!(outcome.notices.iter().any(|notice| notice.contains("colour")), "{:?}", outcome.notices);
    let mail = mail(&site);
    assert!(mail.contains("notice: 2 messages were not read") && !mail.contains("colour"), "{mail}");
}
