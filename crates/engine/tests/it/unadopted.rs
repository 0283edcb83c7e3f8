//! Background children of a failing sub-agent that no task above can adopt. In a leg that a person asked for they are
//! stopped, and their reports wait for the next leg. If their parent cannot resume after a crash, they fail with it.

use expect_test::expect;
use serde_json::json;
use sortie_engine::Resumption;
use sortie_journal::{Entry, Journal as _, TaskState};
use sortie_protocol::{Event, Fact, GrantLayer, ReportMark, Status, TaskId, TaskOutcome, TaskRequest};
use sortie_testkit::{ScriptedReply, reply};

use crate::mail_at_every_event::{Answer, Asked, FOR_EVER, task};
use crate::mail_races::{Site, answering};
use crate::permissions::{rules, user, usual};
use crate::relic::Relic;
use crate::support::{Plan, ask};

const MIDDLE: &str = "agent-aaaaaaaaaaab";

fn id(letters: &str) -> TaskId {
    letters.parse().expect("an id")
}

/// A sub-agent that has ended starts a child as soon as it is resumed, and fails in its next turn.
fn failing(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("MIDDLE", false)]),
        ("MIDDLE", 1) => reply::calls([task("LEAF", true)]),
        ("MIDDLE", _) if asked.last.contains("Outputs") => reply::status(401).after_ms(100),
        _ => asked.report(),
    }
}

/// A sub-agent as in [`failing`], whose child is at work by then.
fn failing_sooner(asked: &Asked<'_>) -> ScriptedReply {
    if asked.who == "LEAF" { asked.report().after_ms(500) } else { failing(asked) }
}

/// Resumes as a person does.
async fn resume(site: &Site, task: &str, prompt: &str) -> TaskOutcome {
    let resumption = Resumption { prompt: Some(prompt.to_owned()), ..Resumption::default() };
    let running = site.engine.resume(id(task), resumption).await.expect("it resumes");
    let ended = tokio::time::timeout(FOR_EVER, running.outcome()).await;
    ended.expect("nobody waits for ever").expect("the journal works")
}

/// Resumes as `sortie task` does.
async fn follow_up(site: &Site, task: &str, prompt: &str) -> TaskOutcome {
    let request = TaskRequest { resume: Some(task.to_owned()), ..ask(prompt) };
    let running = site.engine.task(request).await.expect("it resumes");
    running.outcome().await.expect("the journal works")
}

/// The endings of its background children, and how often it read about each.
fn beside(site: &Site) -> Vec<(TaskState, usize)> {
    let log = site.events(id(MIDDLE));
    let n_told = |child: TaskId| {
        let mark = ReportMark { child, leg: 1 };
        let tells = |event: &&Event| matches!(&event.fact, Fact::MailRead { mail, .. } if mail.reports.contains(&mark));
        log.iter().filter(tells).count()
    };
    let below = site.journal.tree(id(MIDDLE)).expect("it is there").split_off(1);
    below.into_iter().map(|header| (header.state, n_told(header.task_id))).collect()
}

/// A run that has ended, and the leg of its sub-agent that fails.
async fn failed(answer: Answer) -> Site {
    let site = Site::new(answering(answer));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(resume(&site, MIDDLE, "More.").await.status, Status::Failed);
    site
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_alone_stops_its_children_and_reads_their_reports_when_resumed() {
    for (answer, status) in [(failing as Answer, Status::Completed), (failing_sooner, Status::Cancelled)] {
        for by_call in [false, true] {
            let site = failed(answer).await;
            assert_eq!(beside(&site), [(TaskState::Ended(status), 0)]);
            let outcome = if by_call {
                follow_up(&site, MIDDLE, "And more.").await
            } else {
                resume(&site, MIDDLE, "And more.").await
            };
            assert_eq!(outcome.status, Status::Completed);
            assert_eq!(beside(&site), [(TaskState::Ended(status), 1)]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_leg_killed_anywhere_reads_about_its_children_once() {
    for answer in [failing as Answer, failing_sooner] {
        let mut site = failed(answer).await;
        let appends = site.journal.appends();
        let begins = |entries: &Vec<Entry>| entries.iter().any(|entry| entry.leg == 2);
        let first = appends.iter().position(begins).expect("a second leg");
        for n_left in first..=appends.len() {
            let plan = Plan { ids_before: 9, ..answering(answer) };
            site = site.later(plan, Relic::of(&appends[..n_left]).await);
            let mut n_legs = 0;
            while resume(&site, MIDDLE, "And more.").await.status != Status::Completed {
                n_legs += 1;
                assert!(n_legs < 3, "after {n_left}");
            }
            // There are two if the reply about the first was lost.
            let beside = beside(&site);
            let is_told_once =
                |(state, n_told): &(TaskState, usize)| matches!(state, TaskState::Ended(_)) && *n_told == 1;
            assert!(!beside.is_empty() && beside.iter().all(is_told_once), "after {n_left}: {beside:?}");
        }
    }
}

/// A sub-agent with a background child, both at work.
fn at_work(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("MIDDLE", true)]),
        ("MIDDLE", 0) => reply::calls([task("LEAF", true)]),
        ("LEAF", 0) => reply::text("A first word.").calls([reply::call("LS", json!({}))]).after_ms(100),
        ("LEAF", 1) => asked.report().after_ms(100),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_may_not_resume_fails_with_its_descendants_and_the_reason() {
    let whole = Site::new(answering(at_work));
    whole.run(ask("MAIN")).await;
    let appends = whole.journal.appends();
    let ends = |entries: &Vec<Entry>| entries.iter().any(|entry| matches!(entry.fact, Fact::TaskEnded { .. }));
    let first = appends.iter().position(ends).expect("an ending");
    let denied = user(GrantLayer { deny: rules(&["Task(general-purpose)"]), ..usual() });
    let site = whole.later(answering(at_work).permissions(denied), Relic::of(&appends[..first]).await);
    let root = site.all_events()[0].task_id;
    let running = site.engine.resume(root, Resumption::default()).await.expect("it resumes");
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
    let told = site.journal.tree(root).expect("it is there").split_off(1);
    let told = told.into_iter().map(|header| {
        let outcome = site.journal.ending(header.task_id).expect("the journal reads").expect("it has ended");
        let error = outcome.error.expect("a reason");
        format!("{}: {}: {}", outcome.status, error.code, error.message)
    });
    let told: Vec<String> = told.collect();
    expect![[r#"
        failed: permission: it was interrupted and could not resume: `general-purpose` was not started: denied by user settings: its rule `Task(general-purpose)`
        failed: above_failed: it was interrupted, and agent-aaaaaaaaaaab above it could not resume: `general-purpose` was not started: denied by user settings: its rule `Task(general-purpose)`"#]]
    .assert_eq(&told.join("\n"));
    assert!(format!("{:?}", site.seen().last()).contains("could not resume"), "the main agent is told");
}
