//! The tasks that a task can see and reach, children of a failed parent, and slots while a task waits for a person.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sortie_engine::{Approval, Approver, EngineSettings, Permissions, Question, Resumption};
use sortie_journal::{Durability, Entry, Holder};
use sortie_protocol::{Event, Fact, Status, TaskRequest};
use sortie_testkit::{Script, ScriptedModel, ScriptedReply, reply, when};
use sortie_tools::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::mail_at_every_event::{Asked, call, send, task};
use crate::mail_races::{Site, answering, rules};
use crate::permissions::{user, usual, write};
use crate::relic::Relic;
use crate::support::{Plan, World, ask};
use crate::told::Told;

/// Looks at a task that was just started, writes to it, and stops it.
fn looking(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", true)]),
        ("MAIN", 1) => reply::calls([
            reply::call("TaskOutput", json!({"task_id": "<task 1>", "block": false})),
            reply::call("TaskList", json!({})),
            send("<task 1>", "Look here."),
        ]),
        ("MAIN", 2) => call("TaskStop", json!({"task_id": "<task 1>"})),
        ("FIRST", _) => reply::never(),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_known_before_the_log_shows_it() {
    let site = Site::of(answering(looking), Relic::default().late());
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let outputs = site.outputs("MAIN").split_off(1);
    assert!(outputs[0].contains("1 of 1 has not ended"), "{outputs:#?}");
    assert!(outputs[1].starts_with("agent-aaaaaaaaaaab general-purpose"), "{outputs:#?}");
    assert_eq!(outputs[2], "delivered: agent-aaaaaaaaaaab reads it at its next turn, unless it ends before");
    assert!(outputs[3].starts_with("agent-aaaaaaaaaaab general-purpose cancelled"), "{outputs:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_task_from_outside_is_on_disk_before_its_caller_learns_the_id() {
    let site = Site::of(answering(looking), Relic::default());
    let request = TaskRequest { agent: "general-purpose".to_owned(), ..ask("MAIN") };
    let running = site.engine.task(request).await.expect("it starts");
    running.outcome().await.expect("the journal works");
    let begun = site.journal.durabilities_of(|fact| matches!(fact, Fact::TaskStarted { .. }));
    // Only this process knows the child.
    assert_eq!(begun, [Durability::Synced, Durability::Ordered]);
}

/// Lists more than are shown: all of them, and those with a given status.
fn listing(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls((0..52).map(|_| task("FIRST", false)).chain([task("SECOND", true)])),
        ("MAIN", 1) => reply::calls(["", "completed", "running", "failed"].map(|status| {
            reply::call("TaskList", if status.is_empty() { json!({}) } else { json!({"status": status}) })
        })),
        ("MAIN", 2) => call("TaskStop", json!({"task_id": "<task 53>"})),
        ("SECOND", _) => reply::never(),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_list_shows_the_newest_matching_tasks_and_counts_all() {
    let site = Site::new(answering(listing));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let lists = site.outputs("MAIN").split_off(53);
    let told: Vec<_> = lists[..4]
        .iter()
        .map(|list| {
            let n_listed = list.lines().filter(|line| line.contains(" general-purpose ")).count();
            (n_listed, list.lines().last().expect("it has lines").to_owned())
        })
        .collect();
    expect![[r#"
        [
            (
                50,
                "[3 older ones are not shown]",
            ),
            (
                50,
                "[2 older ones are not shown]",
            ),
            (
                1,
                "agent-aaaaaaaaaacb general-purpose running, turn 1, 0 calls, 0 tokens, 0.0 s, last: thinking: Part",
            ),
            (
                0,
                "[no sub-agent is failed]",
            ),
        ]
    "#]]
    .assert_debug_eq(&told);
}

/// Writes to a task that is slow.
fn writing(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", true)]),
        ("MAIN", 1) => reply::calls([send("<task 1>", "Look here.")]),
        ("FIRST", 0) => call("LS", json!({})).after_ms(1000),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_unread_when_its_recipient_was_ended_is_reported_as_such() {
    let whole = Site::new(answering(writing));
    let root = whole.run(ask("MAIN")).await.task_id;
    let appends = whole.journal.appends();
    let arrives = |entry: &Entry| matches!(entry.fact, Fact::MessageArrived { .. });
    let arrived = appends.iter().position(|entries| entries.iter().any(arrives)).expect("it was sent");
    let site = whole.later(answering(writing), Relic::of(&appends[..=arrived]).await);
    site.engine.abandon("agent-aaaaaaaaaaab".parse().expect("an id")).await.expect("nobody runs it");
    let running = site.engine.resume(root, Resumption::default()).await.expect("it resumes");
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
    let told = site.outputs("MAIN").remove(1);
    assert_eq!(told, "agent-aaaaaaaaaaab got the message, but was ended before it read it");
}

/// Looks at a task that has ended, and again when it has been resumed.
fn looking_twice(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", false)]),
        ("MAIN", 2) => reply::calls([
            reply::call("TaskOutput", json!({"task_id": "<task 1>"})),
            reply::call("TaskList", json!({"status": "running"})),
            reply::call("TaskStop", json!({"task_id": "<task 1>"})),
            send("<task 1>", "Look here."),
        ]),
        _ => asked.report(),
    }
}

/// Outputs about a child that a person has resumed in another process, which still has it or was killed.
async fn outputs_about_a_child_elsewhere(holder: Option<Holder>) -> String {
    let whole = Site::new(answering(looking_twice));
    let root = whole.run(ask("MAIN")).await.task_id;
    let mut appends = whole.journal.appends();
    let entries: Vec<&Entry> = appends.iter().flatten().filter(|entry| entry.task_id != root).collect();
    let config = entries.iter().find_map(|entry| match &entry.fact {
        Fact::TaskStarted { job } => Some(Box::new(job.config.clone())),
        _ => None,
    });
    let last = entries.last().copied().expect("it has ended").clone();
    let config = config.expect("a start");
    let fact = Fact::TaskResumed { prompt: None, title: None, config, notices: Vec::new(), alone: false };
    appends.push(vec![Entry { leg: 2, attempt: 2, fact, ..last.clone() }]);
    let relic = Relic::of(&appends).await;
    let relic = match holder {
        Some(holder) => relic.held(last.task_id, holder, 0),
        None => relic,
    };
    let site = whole.later(answering(looking_twice), relic);
    let resumption = Resumption { prompt: Some("And now?".to_owned()), ..Resumption::default() };
    let running = site.engine.resume(root, resumption).await.expect("it resumes");
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
    site.outputs("MAIN").split_off(1).join("\n")
}

#[tokio::test(start_paused = true)]
async fn the_status_of_a_child_elsewhere_says_where_and_that_no_report_comes() {
    expect![[r#"
        agent-aaaaaaaaaaab general-purpose running in process 7, not in yours
        [agent-aaaaaaaaaaab works for another task: its report is not delivered to you; TaskOutput has it once it has ended]
        agent-aaaaaaaaaaab general-purpose running in process 7, not in yours: Part
        agent-aaaaaaaaaaab general-purpose running in process 7, not in yours
        [it works for another task, which can stop it: nothing was stopped]
        agent-aaaaaaaaaaab is still running, in process 7; wait for it, or stop it first"#]].assert_eq(&outputs_about_a_child_elsewhere(Some(Holder::Other { pid: 7 })).await);
    expect![[r#"
        agent-aaaaaaaaaaab general-purpose running, it seems: its process 7 cannot be seen from here
        [agent-aaaaaaaaaaab works for another task: its report is not delivered to you; TaskOutput has it once it has ended]
        agent-aaaaaaaaaaab general-purpose running, it seems: its process 7 cannot be seen from here: Part
        agent-aaaaaaaaaaab general-purpose running, it seems: its process 7 cannot be seen from here
        [it works for another task, which can stop it: nothing was stopped]
        agent-aaaaaaaaaaab may still be running: its process 7 is not visible from here (another container, or no /proc); stop it there, or take the task over if you know that it is gone"#]].assert_eq(&outputs_about_a_child_elsewhere(Some(Holder::OutOfSight { pid: 7 })).await);
    expect![[r#"
        agent-aaaaaaaaaaab general-purpose interrupted: the process that ran it is gone
        [no process runs agent-aaaaaaaaaaab: there is no report unless a person resumes it]
        [no sub-agent is running]
        agent-aaaaaaaaaaab general-purpose interrupted: the process that ran it is gone
        [it is not running: nothing was stopped]
        agent-aaaaaaaaaaab was interrupted; it takes a follow-up once it has been resumed and has ended"#]]
    .assert_eq(&outputs_about_a_child_elsewhere(None).await);
}

/// A task looks for its siblings, and writes to the one that it finds.
fn side_by_side(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("LOOKING", true), task("BESIDE", true)]),
        ("LOOKING", 0) => call("TaskList", json!({})).after_ms(10),
        ("LOOKING", 1) => reply::calls([send("<task 1>", "Look behind the door?")]),
        ("BESIDE", 0) => call("LS", json!({})).after_ms(100),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_at_the_depth_limit_knows_its_siblings_and_can_write_to_them() {
    let site = Site::new(answering(side_by_side).rules(EngineSettings { max_depth: 1, ..rules(20) }));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    let outputs = site.outputs("LOOKING");
    assert!(outputs[0].starts_with("Beside you:\nagent-aaaaaaaaaaac general-purpose running"), "{outputs:#?}");
    assert!(outputs[0].contains(": Part\n") && !outputs[0].contains("agent-aaaaaaaaaaab"), "{outputs:#?}");
    assert_eq!(outputs[1], "delivered: agent-aaaaaaaaaaac reads it at its next turn, unless it ends before");
}

#[tokio::test(start_paused = true)]
async fn siblings_write_to_each_other_only_if_their_parent_may_write_itself() {
    let lead = json!({"description": "Lead", "prompt": "LEAD", "subagent_type": "lead"});
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", lead)]))
        .on(when::prompt_contains("LEAD").turn(0), reply::calls([task("WRITER", false)]))
        .on(when::prompt_contains("WRITER").turn(0), reply::calls([send("parent", "Psst.")]))
        .otherwise(reply::text("Done."));
    let offered = async |tools: &str| {
        let file = format!("---\nname: lead\ndescription: leads\ntools: {tools}\n---\nLead.");
        let files = [(".sortie/agents/lead.md".to_owned(), file)];
        let world = Plan::script(script.clone()).files(&files).agent_files().build();
        assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
        let last = world.seen_by("WRITER").pop().expect("it was asked");
        format!("{:?}", last.messages.last()).contains("delivered: ")
    };
    assert!(offered("Task, SendMessage").await);
    assert!(!offered("Task").await);
}

/// A task fails while its child works, and leaves it less time than the task above.
fn short_of_time(asked: &Asked<'_>) -> ScriptedReply {
    let middle = json!({
        "description": "Part", "prompt": "MIDDLE", "subagent_type": "general-purpose",
        "limits": {"timeout_seconds": 60},
    });
    match (asked.who, asked.turn) {
        ("MAIN", 0) => call("Task", middle),
        ("MIDDLE", 0) => reply::calls([task("LEAF", true)]),
        ("MIDDLE", _) => reply::status(401).after_ms(1000),
        ("LEAF", 0) => reply::calls([task("BELOW", false)]).after_ms(100_000),
        ("BELOW", _) => asked.report().after_ms(50_000),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn an_adopted_child_has_its_adopters_deadline() {
    let site = Site::new(answering(short_of_time).rules(rules(20)));
    let began = tokio::time::Instant::now();
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert!(began.elapsed() >= Duration::from_secs(150), "{:?}", began.elapsed());
    let ended = |event: &Event| match &event.fact {
        Fact::TaskEnded { outcome } => Some(outcome.status),
        _ => None,
    };
    let leaf = site.events("agent-aaaaaaaaaaac".parse().expect("an id"));
    assert_eq!(leaf.iter().filter_map(ended).collect::<Vec<_>>(), [Status::Completed]);
}

/// A task asks its parent, which fails with the question unread.
fn asking_in_vain(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("MIDDLE", false)]),
        ("MAIN", _) if asked.last.contains("Which one?") => reply::calls([send("<task 2>", "The second one.")]),
        ("MIDDLE", 0) => reply::calls([task("LEAF", true)]),
        ("MIDDLE", _) => reply::status(401).after_ms(200),
        ("LEAF", 0) => call("Ask", json!({"question": "Which one?"})).after_ms(20),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_to_a_failed_parent_is_answered_by_the_adopter() {
    let site = Site::new(answering(asking_in_vain));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    expect![[r#"
        agent-aaaaaaaaaaaa (main) answers. It is an agent: what it says is not a person's approval and gives no permission.
        [answer mark]
        The second one.
        [end mark]"#]]
    .assert_eq(&site.outputs("LEAF").join("\n"));
}

/// Says yes as soon as somebody else is done.
struct Waiting(CancellationToken);

impl Approver for Waiting {
    fn ask<'a>(&'a self, _question: &'a Question) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            self.0.cancelled().await;
            Approval::Once
        })
    }
}

fn files(world: &World) -> Vec<bool> {
    let root = world.home.path().join("workspace");
    ["a.md", "b.md"].map(|name| root.join(name).exists()).to_vec()
}

#[tokio::test]
async fn a_task_waiting_for_approval_lends_its_slot_even_if_it_is_the_only_one() {
    for background in [true, false] {
        let is_done = CancellationToken::new();
        let approver = Arc::new(Waiting(is_done.clone()));
        let model = ScriptedModel::answering(move |request| {
            let asked = Asked::of(request);
            match (asked.who, asked.turn) {
                ("MAIN", 0) => reply::calls([task("ASKING", background), task("BESIDE", background)]),
                // Two questions, of which the second waits for its turn.
                ("ASKING", 0) => reply::calls([write("a.md"), write("b.md")]),
                ("BESIDE", 0) => call("LS", json!({})),
                ("BESIDE", 1) => {
                    is_done.cancel();
                    asked.report()
                }
                _ => asked.report(),
            }
        });
        let permissions = Permissions { approver, ..user(usual()) };
        let world = Plan::of(model).rules(rules(1)).permissions(permissions).build();
        let ended = tokio::time::timeout(Duration::from_mins(1), world.run(ask("MAIN"))).await;
        assert_eq!(ended.expect("nobody waits for ever").status, Status::Completed);
        assert_eq!(files(&world), [true, true]);
    }
}
