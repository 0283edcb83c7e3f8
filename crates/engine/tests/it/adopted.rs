//! Adopted children: a child whose parent failed belongs to its adopter from then on.

use serde_json::json;
use sortie_engine::Resumption;
use sortie_journal::Entry;
use sortie_protocol::{Event, Fact, Status, TaskOutcome};
use sortie_testkit::{ScriptedReply, reply};

use crate::mail_at_every_event::{Asked, call, send, task};
use crate::mail_races::{Site, answering};
use crate::relic::Relic;
use crate::support::ask;
use crate::told::Told;

/// The child of the child.
const LEAF: &str = "agent-aaaaaaaaaaac";

/// A child fails while its own child works. The adopter then resumes that grandchild, by a message and by a call.
fn going_on(asked: &Asked<'_>) -> ScriptedReply {
    let resume = json!({"description": "Part", "prompt": "And again?", "resume": "<task 2>"});
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("MIDDLE", false)]),
        ("MAIN", _) if asked.last.contains("LEAF at turn 0!") => reply::calls([send("<task 2>", "Once more?")]),
        ("MAIN", _) if asked.last.contains("LEAF at turn 1!") => call("Task", resume),
        ("MIDDLE", 0) => reply::calls([task("LEAF", true)]),
        ("MIDDLE", _) => reply::status(401).after_ms(100),
        _ => asked.report().after_ms(500),
    }
}

#[tokio::test(start_paused = true)]
async fn an_adopter_can_resume_an_adopted_child() {
    let site = Site::new(answering(going_on));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    let outputs = site.outputs("MAIN");
    let resumed = "agent-aaaaaaaaaaac resumes with it in the background; its report is delivered to you";
    assert_eq!(outputs[1], resumed);
    assert!(outputs[2].contains("The report of LEAF at turn 2!"), "{outputs:#?}");
    let leaf = site.events(LEAF.parse().expect("an id"));
    assert_eq!(leaf.last().map(|event| event.leg), Some(3));
}

#[tokio::test(start_paused = true)]
async fn the_usage_of_an_adopted_child_is_counted_once_after_a_crash() {
    for script in [going_on, going_on_without] {
        let whole = Site::new(answering(script));
        let outcome = whole.run(ask("MAIN")).await;
        let (root, appends) = (outcome.task_id, whole.journal.appends());
        let ends = |entry: &Entry| entry.task_id == root && matches!(entry.fact, Fact::TaskEnded { .. });
        let before_the_end = appends.iter().position(|entries| entries.iter().any(ends)).expect("it ended");
        let site = whole.later(answering(script), Relic::of(&appends[..before_the_end]).await);
        let running = site.engine.resume(root, Resumption::default()).await.expect("it resumes");
        let again = running.outcome().await.expect("the journal works");
        let counted = |outcome: &TaskOutcome| (outcome.usage.turns, outcome.usage.total_tokens());
        assert_eq!(counted(&again), counted(&outcome));
    }
}

/// A child fails while its own child works, and resumes without it.
fn going_on_without(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("MIDDLE", false)]),
        ("MAIN", 1) => reply::calls([send("<task 1>", "Once more?")]),
        ("MIDDLE", 0) => reply::calls([task("LEAF", true)]),
        ("MIDDLE", _) if !asked.last.contains("Once more?") => reply::status(401).after_ms(100),
        ("LEAF", _) => asked.report().after_ms(5000),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn an_adopted_child_is_not_resumed_alone_even_if_its_first_parent_was() {
    let whole = Site::new(answering(going_on_without));
    whole.run(ask("MAIN")).await;
    let (leaf, appends) = (LEAF.parse().expect("an id"), whole.journal.appends());
    let ends = |entry: &Entry| entry.task_id == leaf && matches!(entry.fact, Fact::TaskEnded { .. });
    let before_the_end = appends.iter().position(|entries| entries.iter().any(ends)).expect("it ended");
    let site = whole.later(answering(going_on_without), Relic::of(&appends[..before_the_end]).await);
    let refused = site.engine.resume(leaf, Resumption::default()).await.err().expect("another one waits for it");
    assert!(refused.message.contains("agent-aaaaaaaaaaaa"), "{refused}");
}

/// A task tries to resume the child of its child, which has not failed.
fn from_beside(asked: &Asked<'_>) -> ScriptedReply {
    let resume = json!({"description": "Part", "prompt": "And again?", "resume": LEAF});
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("MIDDLE", false)]),
        ("MAIN", 1) => reply::calls([send(LEAF, "Once more?"), reply::call("Task", resume)]),
        ("MIDDLE", 0) => reply::calls([task("LEAF", false)]),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_cannot_resume_the_child_of_its_child() {
    let site = Site::new(answering(from_beside));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let outputs = site.outputs("MAIN");
    assert_eq!(outputs[1], "agent-aaaaaaaaaaac has ended; only its parent can resume it");
    assert!(outputs[2].contains("(not_own_task)"), "{outputs:#?}");
    let goes_on = |event: &Event| matches!(event.fact, Fact::TaskResumed { .. });
    assert!(!site.events(LEAF.parse().expect("an id")).iter().any(goes_on));
}

/// The main agent's mail about the child that it has adopted.
fn told_of_leaf(site: &Site) -> Vec<String> {
    let told = site.all_events().into_iter().filter_map(|event| match event.fact {
        Fact::MailRead { text, .. } => text.lines().next().map(str::to_owned),
        _ => None,
    });
    told.collect()
}

#[tokio::test(start_paused = true)]
async fn an_adopter_learns_the_title_and_first_parent_of_a_child_also_after_a_crash() {
    let whole = Site::new(answering(going_on_without));
    let root = whole.run(ask("MAIN")).await.task_id;
    let told = told_of_leaf(&whole);
    let words = "Your background task agent-aaaaaaaaaaac “Part” (started by agent-aaaaaaaaaaab, which failed; it reports to \
                 you now) has ended:";
    assert!(told.iter().any(|line| line == words), "{told:#?}");
    let appends = whole.journal.appends();
    let reads = |entry: &Entry| matches!(&entry.fact, Fact::MailRead { text, .. } if text.starts_with(words));
    let before = appends.iter().position(|entries| entries.iter().any(reads)).expect("it was read");
    let site = whole.later(answering(going_on_without), Relic::of(&appends[..before]).await);
    let running = site.engine.resume(root, Resumption::default()).await.expect("it resumes");
    running.outcome().await.expect("the journal works");
    assert_eq!(told_of_leaf(&site).last().map(String::as_str), Some(words));
}
