//! Many children that end at once, whatever their parent does meanwhile: each report once, in the order of the starts,
//! and within a size.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sortie_engine::{Asking, EngineSettings, Hooks, Resumption, Verdict};
use sortie_journal::Journal as _;
use sortie_protocol::{Event, Fact, Job, Message, Status, TaskId, TaskOutcome};
use sortie_testkit::{Script, ScriptedPart, ScriptedReply, Seen, reply, when};
use sortie_tools::BoxFuture;

use crate::relic::Relic;
use crate::remains::{ROOT, Site, left_behind, resume};
use crate::support::{Plan, World, ask};

const CHILDREN: usize = 100;

fn tasks(count: usize) -> Vec<ScriptedPart> {
    let task = |part| {
        let arguments: Value = json!({
            "description": "Part", "prompt": format!("PART {part}"), "subagent_type": "explore",
            "run_in_background": true
        });
        reply::call("Task", arguments)
    };
    (0..count).map(task).collect()
}

/// A main agent that starts them all, and does something else when they end, after a second.
fn script(meanwhile: ScriptedReply) -> Script {
    Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls(tasks(CHILDREN)))
        .on(when::prompt_contains("MAIN").last_contains("has ended"), reply::text("On."))
        .on(when::prompt_contains("MAIN").turn(1), meanwhile)
        .on(when::prompt_contains("MAIN"), reply::text("On."))
        .on(when::prompt_contains("AWAITED"), reply::text("Found.").after_ms(5000))
        .otherwise(reply::text("Found.").after_ms(1000))
}

fn plan(meanwhile: ScriptedReply) -> Plan {
    Plan::script(script(meanwhile)).rules(EngineSettings { max_concurrent: CHILDREN, ..EngineSettings::default() })
}

fn started(events: &[Event]) -> Vec<TaskId> {
    let child = |event: &Event| match &event.fact {
        Fact::ChildStarted { child, background: true, .. } => Some(*child),
        _ => None,
    };
    events.iter().filter_map(child).collect()
}

/// Children whose reports were read, delivery by delivery, by mail or as the output of a call.
fn deliveries(events: &[Event]) -> Vec<Vec<TaskId>> {
    let read = |event: &Event| match &event.fact {
        Fact::MailRead { mail, .. } => Some(mail.reports.iter().map(|mark| mark.child).collect()),
        Fact::CallFinished { output, .. } if !output.output.mail.is_empty() => {
            Some(output.output.mail.reports.iter().map(|mark| mark.child).collect())
        }
        _ => None,
    };
    events.iter().filter_map(read).collect()
}

/// Checks that all of them were read, each once, and in the order of their starts within each delivery.
#[track_caller]
fn all_are_told(events: &[Event]) {
    let (started, deliveries) = (started(events), deliveries(events));
    assert_eq!(started.len(), CHILDREN);
    let mut told = deliveries.concat();
    assert_eq!(told.len(), CHILDREN, "each once");
    for delivery in deliveries {
        let in_order: Vec<TaskId> = started.iter().copied().filter(|child| delivery.contains(child)).collect();
        assert_eq!(delivery, in_order);
    }
    told.sort_unstable();
    told.dedup();
    assert_eq!(told.len(), CHILDREN, "all of them");
}

async fn go_on(world: &World, task: TaskId) -> TaskOutcome {
    let resumption = Resumption { prompt: Some("Go on.".to_owned()), ..Resumption::default() };
    let running = world.engine.resume(task, resumption).await.expect("it resumes");
    running.outcome().await.expect("the journal works")
}

#[tokio::test(start_paused = true)]
async fn f40_a_hundred_end_while_their_parent_waits_for_its_model() {
    let world = plan(reply::calls([reply::call("LS", json!({}))]).after_ms(5000)).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    all_are_told(&world.events());
    assert_eq!(deliveries(&world.events()).len(), 1, "all at its next turn");
}

#[tokio::test(start_paused = true)]
async fn f40_a_hundred_end_while_their_parent_is_at_a_call() {
    let awaited = json!({"description": "Part", "prompt": "AWAITED", "subagent_type": "explore"});
    let world = plan(reply::calls([reply::call("Task", awaited)])).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    all_are_told(&world.events());
    assert_eq!(deliveries(&world.events()).len(), 1, "all at its next turn");
}

#[tokio::test(start_paused = true)]
async fn f40_a_hundred_end_while_their_parent_waits_for_one_of_them() {
    let world = plan(reply::calls([reply::call("TaskOutput", json!({"task_id": "<task 7>"}))])).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    all_are_told(&world.events());
    let (started, deliveries) = (started(&world.events()), deliveries(&world.events()));
    assert_eq!(deliveries.first(), Some(&vec![started[6]]), "by its call alone");
}

#[tokio::test(start_paused = true)]
async fn f40_a_hundred_wake_a_parent_that_is_itself_a_child_with_any_number_of_slots() {
    for at_once in [1, CHILDREN] {
        let middle = json!({"description": "Middle", "prompt": "MIDDLE", "subagent_type": "general-purpose"});
        let script = Script::new()
            .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", middle)]))
            .on(when::prompt_contains("MIDDLE").turn(0), reply::calls(tasks(CHILDREN)))
            .on(when::prompt_contains("PART"), reply::text("Found.").after_ms(1000))
            .otherwise(reply::text("On."));
        let world =
            Plan::script(script).rules(EngineSettings { max_concurrent: at_once, ..EngineSettings::default() }).build();
        assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed, "{at_once} at once");
        let middle: TaskId = "agent-aaaaaaaaaaab".parse().expect("an id");
        let (own, others): (Vec<_>, Vec<_>) = world.events().into_iter().partition(|event| event.task_id == middle);
        all_are_told(&own);
        assert_eq!(deliveries(&others), Vec::<Vec<TaskId>>::new(), "nobody else is told");
    }
}

#[tokio::test(start_paused = true)]
async fn f40_a_hundred_end_while_their_parent_is_parked() {
    let world = plan(reply::text("Waiting.")).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    all_are_told(&world.events());
}

#[tokio::test(start_paused = true)]
async fn f40_a_hundred_that_ended_before_a_stop_are_reported_when_resumed() {
    let world = plan(reply::never()).build();
    let running = world.start(ask("MAIN")).await;
    let (task, stop) = (running.task, running.stopper());
    tokio::spawn(async move {
        // Sleeps on purpose: the clock is paused.
        tokio::time::sleep(Duration::from_secs(5)).await;
        stop.cancel();
    });
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Cancelled);
    assert_eq!(deliveries(&world.events()).len(), 0);
    assert_eq!(go_on(&world, task).await.status, Status::Completed);
    all_are_told(&world.events());
    assert_eq!(go_on(&world, task).await.status, Status::Completed);
    all_are_told(&world.events());
}

#[tokio::test(start_paused = true)]
async fn f40_a_hundred_stopped_with_their_parent_are_reported_when_resumed() {
    let world = plan(reply::never()).build();
    let running = world.start(ask("MAIN")).await;
    let (task, stop) = (running.task, running.stopper());
    tokio::spawn(async move {
        // Sleeps on purpose: the clock is paused.
        tokio::time::sleep(Duration::from_millis(500)).await;
        stop.cancel();
    });
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Cancelled);
    assert_eq!(go_on(&world, task).await.status, Status::Completed);
    all_are_told(&world.events());
}

#[tokio::test(start_paused = true)]
async fn f40_a_hundred_that_ended_before_a_kill_are_reported_when_resumed() {
    let home = tempfile::tempdir().expect("a temp directory");
    std::fs::create_dir(home.path().join("workspace")).expect("a fresh directory");
    let journal = Arc::new(Relic::default());
    let (engine, _) = plan(reply::never()).engine(home.path(), Arc::clone(&journal) as Arc<_>);
    let running = engine.run(ask("MAIN")).await.expect("it starts");
    let task = running.task;
    tokio::time::timeout(Duration::from_secs(5), running.outcome()).await.expect_err("its model never answers");
    let left: Vec<_> = journal.appends();
    let is_end = |entries: &Vec<sortie_journal::Entry>| entries.iter().any(|entry| entry.fact.kind() == "child_ended");
    let last = left.iter().rposition(is_end).expect("they have ended");
    let journal = Arc::new(Relic::of(&left[..=last]).await);
    let (engine, model) = plan(reply::text("Waiting.")).engine(home.path(), Arc::clone(&journal) as Arc<_>);
    let running = engine.resume(task, Resumption::default()).await.expect("it resumes");
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
    let events = sortie_journal::Journal::read(journal.as_ref(), task).expect("it is there");
    all_are_told(&events);
    assert_eq!(deliveries(&events).len(), 1, "before its next turn");
    let first = format!("{:?}", model.seen().first().map(|seen| seen.messages.len()));
    assert_eq!(first, "Some(4)", "the brief, its reply, the outputs, its mail");
}

fn bytes_of_mail(seen: &Seen) -> usize {
    let texts = seen.messages.iter().skip(1).map(|message| match message {
        Message::User { text } => text.len(),
        _ => 0,
    });
    texts.sum()
}

#[tokio::test(start_paused = true)]
async fn f42_fifty_long_reports_fit_a_size_limit_and_can_be_read_in_full() {
    let lines: Vec<String> = (0..20_000).map(|number| format!("line {number}\n")).collect();
    let long = lines.concat();
    assert!(long.len() > 200_000);
    let page =
        |offset: usize| reply::calls([reply::call("TaskOutput", json!({"task_id": "<task 50>", "offset": offset}))]);
    let whole = reply::calls([reply::call("TaskOutput", json!({"task_id": "<task 50>"}))]);
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls(tasks(50)))
        .on(when::prompt_contains("MAIN").turn(1), reply::calls([reply::call("LS", json!({}))]).after_ms(60_000))
        .on(when::prompt_contains("MAIN").turn(2), whole)
        .on(when::prompt_contains("MAIN").turn(3), page(205_000))
        .on(when::prompt_contains("MAIN"), reply::text("On."))
        .otherwise(reply::text(long.as_str()).after_ms(1000));
    let world = Plan::script(script).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(deliveries(&world.events()).concat().len(), 50);
    let last = world.seen_by("MAIN").pop().expect("it was asked");
    let n_bytes = bytes_of_mail(&last);
    assert!((10_000..70_000).contains(&n_bytes), "{n_bytes}");
    let outputs = last.messages.iter().rev().filter_map(|message| match message {
        Message::Outputs { outputs } => Some(outputs[0].output.for_model.clone()),
        _ => None,
    });
    let [paged, whole]: [String; 2] = outputs.take(2).collect::<Vec<_>>().try_into().expect("two outputs");
    assert!(paged.contains("line 19999\n"), "the end is there");
    assert!(whole.contains("line 0\n") && whole.len() < 60_000, "as it was bounded: {}", whole.len());
}

/// Lets the first child wait longest for its start.
struct Backwards;

impl Hooks for Backwards {
    fn before_start<'a>(&'a self, job: &'a Job, _leg: u32) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let part: Option<u64> = job.prompt.strip_prefix("PART ").and_then(|part| part.parse().ok());
            // Sleeps on purpose: the clock is paused.
            tokio::time::sleep(Duration::from_millis(part.map_or(0, |part| 90 - part * 10))).await;
            Verdict::default()
        })
    }

    fn ended(&self, _job: &Job, _leg: u32, _outcome: &TaskOutcome) {}

    fn asks(&self, _job: &Job, _asking: &Asking<'_>) {}

    fn settled(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

#[tokio::test(start_paused = true)]
async fn f40_reports_come_in_the_order_of_the_calls_even_after_a_crash() {
    let plan = || {
        let script = Script::new()
            .on(when::prompt_contains("MAIN").turn(0), reply::calls(tasks(5)))
            .on(when::prompt_contains("MAIN").turn(1), reply::calls([reply::call("LS", json!({}))]).after_ms(5000))
            .otherwise(reply::text("Found.").after_ms(1000));
        Plan { hooks: Arc::new(Backwards), ..Plan::script(script) }
    };
    let site = Site::new();
    let journal = Arc::new(Relic::default());
    let (engine, _) = site.engine(plan(), &journal);
    engine.run(ask("MAIN")).await.expect("it starts").outcome().await.expect("the journal works");
    let events = journal.read(ROOT.parse().expect("an id")).expect("it is there");
    let by_call = started(&events);
    assert!(by_call.is_sorted() && by_call.len() == 5, "in order, although their hooks end backwards: {by_call:?}");
    assert_eq!(deliveries(&events), std::slice::from_ref(&by_call));

    let mut left = left_behind(&journal.appends(), ROOT, "mail_read");
    left.pop();
    let journal = Arc::new(Relic::of(&left).await);
    let (engine, _) = site.engine(plan(), &journal);
    resume(&engine, None).await;
    assert_eq!(deliveries(&journal.read(ROOT.parse().expect("an id")).expect("it is there")), [by_call]);
}
