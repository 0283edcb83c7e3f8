//! Children that another process has when their parent is to be resumed: seen or unseen, gone or not.

use std::sync::{Arc, Weak};
use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sortie_engine::{EngineSettings, Resumption};
use sortie_journal::{Entry, Holder, Journal as _};
use sortie_protocol::{Fact, Failure, Status, TaskOutcome};
use sortie_testkit::{Script, reply, when};

use crate::permissions::{rules, user, usual};
use crate::relic::Relic;
use crate::remains::{CHILD, ROOT, Site, facts, id, left_behind, resume, writing};
use crate::support::Plan;

const UNSEEN: Holder = Holder::OutOfSight { pid: 7 };

async fn left(site: &Site) -> Vec<Vec<Entry>> {
    left_behind(&site.whole(writing()).await, CHILD, "model_replied")
}

async fn refusal(site: &Site, journal: &Arc<Relic>, task: &str, take_over: bool) -> Failure {
    let (engine, model) = site.engine(Plan::script(writing()), journal);
    let resumption = Resumption { take_over, ..Resumption::default() };
    let refusal = engine.resume(id(task), resumption).await.err().expect("it is refused");
    assert!(model.seen().is_empty() && journal.appends().is_empty(), "nothing has changed");
    refusal
}

async fn take_over(site: &Site, plan: Plan, journal: &Arc<Relic>) -> (TaskOutcome, String) {
    let (engine, model) = site.engine(plan, journal);
    let running = engine.resume(id(ROOT), Resumption { take_over: true, ..Resumption::default() }).await;
    let outcome = running.expect("it resumes").outcome().await.expect("the journal works");
    let told = model.seen().into_iter().rev().find(|seen| format!("{:?}", seen.messages[0]).contains("MAIN"));
    (outcome, format!("{:?}", told.expect("the main agent was asked").messages[2]))
}

#[tokio::test]
async fn a_task_does_not_resume_without_a_child_that_another_process_has() {
    let site = Site::new();
    let left = left(&site).await;
    let held = async |holder| Arc::new(Relic::of(&left).await.held(id(CHILD), holder, 0));
    let refused = refusal(&site, &held(UNSEEN).await, ROOT, false).await;
    expect!["out_of_sight: agent-aaaaaaaaaaaa waits for a sub-agent that another process has: agent-aaaaaaaaaaab may still be running: its process 7 is not visible from here (another container, or no /proc); stop it there, or take the task over if you know that it is gone"]
        .assert_eq(&format!("{}: {refused}", refused.code));
    for take_over in [false, true] {
        let refused = refusal(&site, &held(Holder::Other { pid: 7 }).await, ROOT, take_over).await;
        expect!["still_running: agent-aaaaaaaaaaaa waits for a sub-agent that another process has: agent-aaaaaaaaaaab is still running, in process 7; wait for it, or stop it first"]
            .assert_eq(&format!("{}: {refused}", refused.code));
    }
}

#[tokio::test]
async fn taking_over_a_task_takes_over_its_children() {
    let site = Site::new();
    let journal = Arc::new(Relic::of(&left(&site).await).await.held(id(CHILD), UNSEEN, 0));
    for name in ["main.txt", "part.txt"] {
        std::fs::remove_file(site.workspace().join(name)).expect("it was written before");
    }
    let (outcome, told) = take_over(&site, Plan::script(writing()), &journal).await;
    assert_eq!(
        (outcome.status, outcome.files_changed),
        (Status::Completed, vec!["main.txt".into(), "part.txt".into()])
    );
    assert!(told.contains("agent-aaaaaaaaaaab general-purpose completed") && told.contains("Part done."), "{told}");
    assert!(site.workspace().join("part.txt").exists());
}

#[tokio::test]
async fn a_child_that_is_taken_over_and_cannot_resume_is_ended() {
    let site = Site::new();
    let journal = Arc::new(Relic::of(&left(&site).await).await.held(id(CHILD), UNSEEN, 0));
    let layer = sortie_protocol::GrantLayer { deny: rules(&["Task(general-purpose)"]), ..usual() };
    let (_, told) = take_over(&site, Plan::script(writing()).permissions(user(layer)), &journal).await;
    assert!(told.contains("agent-aaaaaaaaaaab general-purpose failed") && told.contains("A first word."), "{told}");
    let child = journal.ending(id(CHILD)).expect("the journal reads").expect("it has ended");
    assert_eq!(child.status, Status::Failed);
}

#[tokio::test]
async fn a_takeover_reaches_all_awaited_descendants() {
    let task = |prompt| {
        let arguments = json!({"description": "Part", "prompt": prompt, "subagent_type": "general-purpose"});
        reply::calls([reply::call("Task", arguments)])
    };
    let script = || {
        Script::new()
            .on(when::prompt_contains("MAIN").turn(0), task("MIDDLE"))
            .on(when::prompt_contains("MIDDLE").turn(0), task("LEAF"))
            .otherwise(reply::text("Done."))
    };
    let site = Site::new();
    let leaf = "agent-aaaaaaaaaaac";
    let left = left_behind(&site.whole(script()).await, leaf, "model_called");
    let held = async || Arc::new(Relic::of(&left).await.held(id(leaf), UNSEEN, 0));
    let refused = refusal(&site, &held().await, ROOT, false).await;
    assert!(refused.message.starts_with("agent-aaaaaaaaaaab waits for a sub-agent"), "{refused}");
    let (outcome, told) = take_over(&site, Plan::script(script()), &held().await).await;
    assert_eq!(outcome.status, Status::Completed);
    assert!(told.contains("completed"), "{told}");
}

#[tokio::test]
async fn an_awaited_child_is_not_taken_over_alone() {
    let site = Site::new();
    let journal = Arc::new(Relic::of(&left(&site).await).await.held(id(CHILD), UNSEEN, 0));
    let refused = refusal(&site, &journal, CHILD, true).await;
    expect!["waited_for: agent-aaaaaaaaaaab works for agent-aaaaaaaaaaaa, which waits for it; take over agent-aaaaaaaaaaaa, and it resumes with it"]
        .assert_eq(&format!("{}: {refused}", refused.code));
}

/// The parent's output about a child that another process takes while the parent resumes.
async fn told_of_lost(journal: Relic, site: &Site) -> (Arc<Relic>, String) {
    let journal = Arc::new(journal);
    let (engine, model) = site.engine(Plan::script(writing()), &journal);
    assert_eq!(resume(&engine, None).await.status, Status::Completed);
    let told = format!("{:?}", model.seen()[0].messages.last());
    assert!(!told.contains("No sub-agent was started"), "{told}");
    (journal, told)
}

#[tokio::test]
async fn a_child_that_another_process_takes_is_reported_as_started() {
    let site = Site::new();
    let left = left(&site).await;
    let (journal, told) = told_of_lost(Relic::of(&left).await.held(id(CHILD), UNSEEN, 1), &site).await;
    for piece in [
        "agent-aaaaaaaaaaab general-purpose failed",
        "error out_of_sight: agent-aaaaaaaaaaab was started before this task was interrupted, and its report is not here",
        "process 7",
        "`sortie tasks show agent-aaaaaaaaaaab`",
        "A first word.",
    ] {
        assert!(told.contains(piece), "`{piece}` is missing: {told}");
    }
    let ended = |fact: &Fact| matches!(fact, Fact::TaskEnded { .. } | Fact::TaskResumed { .. });
    assert!(!facts(&journal, CHILD).iter().any(ended), "it stays as it is");
}

#[tokio::test]
async fn a_child_with_an_unreadable_log_is_reported_as_started() {
    let site = Site::new();
    let left = left(&site).await;
    let (_, told) = told_of_lost(Relic::of(&left).await.erase(id(CHILD)), &site).await;
    assert!(told.contains("agent-aaaaaaaaaaab general-purpose failed"), "{told}");
    assert!(told.contains("was started before") && told.contains("is damaged at event 1"), "{told}");
}

#[tokio::test]
async fn a_child_resumed_elsewhere_by_a_person_blocks_nobody() {
    let site = Site::new();
    let mut whole = site.whole(writing()).await;
    // A follow-up to the child, by a person in another process.
    let ending =
        whole.iter().flatten().find(|entry| entry.task_id == id(CHILD) && matches!(entry.fact, Fact::TaskEnded { .. }));
    let ending = ending.expect("it has ended").clone();
    let config = whole.iter().flatten().find_map(|entry| match &entry.fact {
        Fact::TaskStarted { job } if entry.task_id == id(CHILD) => Some(Box::new(job.config.clone())),
        _ => None,
    });
    let config = config.expect("a start");
    let fact = Fact::TaskResumed { prompt: None, title: None, config, notices: Vec::new(), alone: false };
    whole.push(vec![Entry { leg: 2, attempt: 2, fact, ..ending }]);
    let journal = Arc::new(Relic::of(&whole).await.held(id(CHILD), Holder::Other { pid: 7 }, 0));
    let (engine, _) = site.engine(Plan::script(writing()).rules(EngineSettings::default()), &journal);
    assert_eq!(resume(&engine, Some("MORE")).await.status, Status::Completed);
}

/// The child's ending, as written by the process that has it.
async fn ending(site: &Site) -> Entry {
    let whole = site.whole(writing()).await;
    let is_end = |entry: &Entry| entry.task_id == id(CHILD) && matches!(entry.fact, Fact::TaskEnded { .. });
    whole.into_iter().flatten().find(is_end).expect("it has ended")
}

#[tokio::test(start_paused = true)]
async fn a_child_that_another_process_is_ending_is_waited_for() {
    let site = Site::new();
    let (left, ending) = (left(&site).await, ending(&site).await);
    let journal = Arc::new(Relic::of(&left).await.held(id(CHILD), Holder::Other { pid: 7 }, 1));
    let (engine, model) = site.engine(Plan::script(writing()), &journal);
    let end = async {
        // Sleeps on purpose: the clock is paused, and advances when everybody waits.
        tokio::time::sleep(Duration::from_millis(500)).await;
        journal.write_unseen(vec![ending]);
    };
    let (outcome, ()) = tokio::join!(resume(&engine, None), end);
    assert_eq!(outcome.status, Status::Completed);
    let told = format!("{:?}", model.seen()[0].messages.last());
    assert!(told.contains("agent-aaaaaaaaaaab general-purpose completed"), "{told}");
}

#[tokio::test]
async fn a_child_is_ended_even_if_its_parent_is_resumed_meanwhile() {
    let site = Site::new();
    let left = left(&site).await;
    let parents = |entry: &&Entry| entry.task_id == id(ROOT);
    let config = left.iter().flatten().filter(parents).find_map(|entry| match &entry.fact {
        Fact::TaskStarted { job } => Some(Box::new(job.config.clone())),
        _ => None,
    });
    let config = config.expect("a start");
    let fact = Fact::TaskResumed { prompt: None, title: None, config, notices: Vec::new(), alone: false };
    let last = left.iter().flatten().rfind(parents).expect("an entry").clone();
    let takeover = Entry { attempt: 2, fact, ..last };
    let relic = Relic::of(&left).await;
    let journal = Arc::new_cyclic(|journal: &Weak<Relic>| {
        let journal = Weak::clone(journal);
        // The child has been taken, and its ending is about to be written.
        relic.told(move |n_appends| {
            if n_appends == 1 {
                journal.upgrade().expect("it is in use").write_unseen(vec![takeover.clone()]);
            }
        })
    });
    let (engine, _) = site.engine(Plan::script(writing()), &journal);
    assert_eq!(engine.abandon(id(CHILD)).await.expect("it is ended").len(), 1);
    let child = journal.ending(id(CHILD)).expect("the journal reads").expect("it has ended");
    assert_eq!((child.status, child.text.as_str()), (Status::Cancelled, "A first word."));
    let told = facts(&journal, ROOT).into_iter().filter(|fact| matches!(fact, Fact::ChildEnded { .. })).count();
    assert_eq!(told, 0, "its log is another one's now, who finds the ending in the child's");
}
