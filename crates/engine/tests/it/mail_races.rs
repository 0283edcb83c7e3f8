//! Events at the same time as an end, a stop or a failure. Each is read once, or its sender learns that it was not.
//! Nobody waits for ever.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sortie_engine::{Engine, EngineSettings, Resumption};
use sortie_journal::{Entry, Journal as _, Position, Scope};
use sortie_protocol::{
    Command, Event, Fact, FailureCode, Limit, Limits, Message, Sender, Status, TaskId, TaskOutcome, TaskRequest,
};
use sortie_testkit::{Script, ScriptedModel, ScriptedReply, Seen, reply, when};
use tempfile::TempDir;

use crate::mail_at_every_event::{Answer, Asked, FOR_EVER, call, send, task};
use crate::relic::Relic;
use crate::support::{Plan, ask};
use crate::told::Told;

const CHILD: &str = "agent-aaaaaaaaaaab";

fn id(letters: &str) -> TaskId {
    letters.parse().expect("an id")
}

/// A journal and an engine over it, in which children are known by name.
pub(crate) struct Site {
    home: TempDir,
    pub(crate) journal: Arc<Relic>,
    pub(crate) engine: Engine,
    model: Arc<ScriptedModel>,
}

impl Site {
    pub(crate) fn of(plan: Plan, journal: Relic) -> Self {
        let home = tempfile::tempdir().expect("a temp directory");
        std::fs::create_dir(home.path().join("workspace")).expect("a fresh directory");
        for (name, text) in &plan.files {
            std::fs::write(home.path().join("workspace").join(name), text).expect("a fresh file");
        }
        let journal = Arc::new(journal);
        let (engine, model) = plan.engine(home.path(), Arc::clone(&journal) as Arc<_>);
        Self { home, journal, engine, model }
    }

    pub(crate) fn new(plan: Plan) -> Self {
        Self::of(plan, Relic::default())
    }

    /// Returns the place as a later process has it.
    pub(crate) fn later(self, plan: Plan, journal: Relic) -> Self {
        let journal = Arc::new(journal);
        let (engine, model) = plan.engine(self.home.path(), Arc::clone(&journal) as Arc<_>);
        Self { journal, engine, model, ..self }
    }

    pub(crate) async fn run(&self, request: TaskRequest) -> TaskOutcome {
        let running = self.engine.run(request).await.expect("it starts");
        let ended = tokio::time::timeout(FOR_EVER, running.outcome()).await;
        ended.expect("nobody waits for ever").expect("the journal works")
    }

    async fn go_on(&self, task: TaskId) -> TaskOutcome {
        let resumption = Resumption { prompt: Some("Go on.".to_owned()), ..Resumption::default() };
        let running = self.engine.resume(task, resumption).await.expect("it resumes");
        let ended = tokio::time::timeout(FOR_EVER, running.outcome()).await;
        ended.expect("nobody waits for ever").expect("the journal works")
    }

    /// All requests to its model.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.model.seen()
    }

    pub(crate) fn all_events(&self) -> Vec<Event> {
        let events = self.journal.read_after(Scope::All, Position::default(), usize::MAX).expect("the journal reads");
        events.into_iter().map(|(_, event)| event).collect()
    }

    pub(crate) fn events(&self, task: TaskId) -> Vec<Event> {
        self.journal.read(task).expect("it is there")
    }

    /// The outputs that the task with this brief has read.
    pub(crate) fn outputs(&self, who: &str) -> Vec<String> {
        let is_meant = |seen: &Seen| format!("{:?}", seen.messages.first()).contains(who);
        let last = self.model.seen().into_iter().rfind(is_meant).expect("it was asked");
        let outputs = last.messages.into_iter().filter_map(|message| match message {
            Message::Outputs { outputs } => Some(outputs),
            _ => None,
        });
        outputs.flatten().map(|output| output.output.for_model).collect()
    }
}

pub(crate) fn answering(answer: Answer) -> Plan {
    Plan::of(ScriptedModel::answering(move |request| answer(&Asked::of(request))))
}

pub(crate) fn rules(max_concurrent: usize) -> EngineSettings {
    EngineSettings { max_concurrent, max_depth: 4, ..EngineSettings::default() }
}

#[tokio::test(start_paused = true)]
async fn a_message_to_an_ending_task_is_read_or_resumes_it() {
    for sent_after in 40..60 {
        let script = Script::new()
            .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("FIRST", true)]))
            .on(when::prompt_contains("MAIN").turn(1), reply::calls([send(CHILD, "Do more.")]).after_ms(sent_after))
            .on(when::prompt_contains("MAIN"), reply::text("On."))
            .on(when::turn(0), reply::text("The first report!").after_ms(50))
            .otherwise(reply::text("The second report!"));
        let site = Site::new(Plan::script(script));
        let outcome = site.run(ask("MAIN")).await;
        assert_eq!(outcome.status, Status::Completed);
        assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0], "after {sent_after} ms");
        let has_read = |event: &Event| match &event.fact {
            Fact::MessageArrived { text, .. } => text == "Do more.",
            Fact::TaskResumed { prompt, .. } => prompt.as_deref() == Some("Do more."),
            _ => false,
        };
        let n_read = site.events(id(CHILD)).iter().filter(|event| has_read(event)).count();
        assert_eq!(n_read, 1, "after {sent_after} ms");
        assert!(format!("{:?}", site.model.seen()).contains("The second report!"), "after {sent_after} ms");
    }
}

/// A foreground child asks, while a background child works.
fn asking(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("ASKING", false), task("BESIDE", true)]),
        ("MAIN", _) if asked.last.contains("Which one?") => reply::calls([send(CHILD, "The second one, please.")]),
        ("ASKING", 0) => call("Ask", json!({"question": "Which one?"})).after_ms(20),
        ("BESIDE", 0) => call("LS", json!({})).after_ms(30),
        _ => asked.report().after_ms(10),
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_stopped_at_any_step_is_reported_once_and_nobody_waits_for_it() {
    let whole = Site::new(answering(asking));
    assert_eq!(whole.run(ask("MAIN")).await.status, Status::Completed);
    for child in [CHILD, "agent-aaaaaaaaaaac"] {
        for stopped_at in 1..whole.journal.appends().len() {
            let there: Arc<OnceLock<Engine>> = Arc::default();
            let stopper = Arc::downgrade(&there);
            let journal = Relic::watched(move |n_before| {
                if n_before == stopped_at
                    && let Some(there) = stopper.upgrade()
                    && let Some(engine) = there.get()
                {
                    engine.stop(id(child));
                }
            });
            let site = Site::of(answering(asking), journal);
            there.set(site.engine.clone()).ok().expect("once");
            let outcome = site.run(ask("MAIN")).await;
            assert_eq!(outcome.status, Status::Completed, "{child} at {stopped_at}");
            let told = Told::of(&site.journal, outcome.task_id);
            // A stopped task does not read messages sent to it.
            assert_eq!(told.breaches(false), [""; 0], "{child} at {stopped_at}");
        }
    }
}

/// Waits for a child that asks it something, with one slot for both.
fn waiting_for_an_asker(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("MIDDLE", false)]),
        ("MIDDLE", 0) => reply::calls([task("ASKING", true)]),
        ("MIDDLE", 1) => call("TaskOutput", json!({"task_id": "<task 1>", "timeout": 600_000})),
        ("MIDDLE", _) if asked.last.contains("Which one?") => reply::calls([send("<task 1>", "The second one.")]),
        ("ASKING", 0) => call("Ask", json!({"question": "Which one?"})),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn f49_a_question_reaches_a_parent_that_waits_for_the_asker_even_with_one_slot() {
    let site = Site::new(answering(waiting_for_an_asker).rules(rules(1)));
    let began = tokio::time::Instant::now();
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert!(began.elapsed() < Duration::from_mins(1), "nobody sat out a wait: {:?}", began.elapsed());
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    assert!(site.outputs("ASKING")[0].contains("The second one."));
}

#[tokio::test(start_paused = true)]
async fn without_background_work_a_child_learns_at_once_that_nobody_can_answer() {
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("ASKING", false)]))
        .on(when::prompt_contains("ASKING").turn(0), call("Ask", json!({"question": "Which one?"})))
        .otherwise(reply::text("Done."));
    let site = Site::new(Plan::script(script).rules(EngineSettings { background: false, ..EngineSettings::default() }));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let answer = site.outputs("ASKING").remove(0);
    assert!(answer.contains("cannot answer") || answer.contains("not available"), "{answer}");
}

/// Nobody answers. A sub-agent may ask as long as it lives.
fn unanswered(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("ASKING", false)]),
        ("ASKING", 0) => call("Ask", json!({"question": "Which one?"})),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_without_an_answer_has_time_to_continue() {
    let site = Site::new(answering(unanswered));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let child = site.journal.ending(id(CHILD)).expect("the journal reads").expect("it has ended");
    assert_eq!((child.status, child.text.as_str()), (Status::Completed, "The report of ASKING at turn 1!"));
    assert!(site.outputs("ASKING")[0].contains("no answer within"), "{:?}", site.outputs("ASKING"));
}

/// Each task writes to every name it knows.
fn writing(asked: &Asked<'_>) -> ScriptedReply {
    let stranger = "agent-zzzzzzzzzzzz";
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("WRITER", true), task("SIBLING", true)]),
        ("WRITER", 0) => reply::calls([
            send(CHILD, "To myself."),
            send("parent", "To my parent."),
            send("agent-aaaaaaaaaaaa", "To its name."),
            send("agent-aaaaaaaaaaac", "To my sibling."),
            send(stranger, "To a stranger."),
        ]),
        ("SIBLING", 0) => call("LS", json!({})).after_ms(100),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_writes_to_its_relatives_and_to_nobody_else() {
    let site = Site::new(answering(writing));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    expect![[r#"
        that is this task itself
        delivered: agent-aaaaaaaaaaaa reads it at its next turn, unless it ends before
        delivered: agent-aaaaaaaaaaaa reads it at its next turn, unless it ends before
        delivered: agent-aaaaaaaaaaac reads it at its next turn, unless it ends before
        there is no task `agent-zzzzzzzzzzzz` below this one"#]]
    .assert_eq(&site.outputs("WRITER").join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_parent_at_its_limit_gathers_its_children_and_then_reports() {
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("FIRST", true)]))
        .on(when::prompt_contains("MAIN"), reply::text("With what the child found."))
        .on(when::turn(0), reply::calls([send("parent", "Halfway.")]).after_ms(500))
        .otherwise(reply::text("The place is here!").after_ms(500));
    let site = Site::new(Plan::script(script));
    let limits = Limits { max_turns: Some(1), ..Limits::default() };
    let outcome = site.run(TaskRequest { limits, ..ask("MAIN") }).await;
    assert_eq!((outcome.status, outcome.reason), (Status::Partial, Some(Limit::Turns)));
    assert_eq!(outcome.text, "With what the child found.");
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    let last = format!("{:?}", site.model.seen().last().expect("it was asked").messages);
    assert!(last.contains("The place is here!") && last.contains("Halfway."), "{last}");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_a_parked_task_and_its_children() {
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("FIRST", true)]))
        .on(when::prompt_contains("MAIN"), reply::text("Waiting."))
        .otherwise(reply::never());
    let site = Site::new(Plan::script(script));
    let limits = Limits { timeout: Some(Duration::from_secs(30)), ..Limits::default() };
    let outcome = site.run(TaskRequest { limits, ..ask("MAIN") }).await;
    assert_eq!((outcome.status, outcome.reason), (Status::Partial, Some(Limit::Deadline)));
    assert_eq!(outcome.text, "Waiting.");
    assert_eq!(Told::of(&site.journal, outcome.task_id).open(), []);
}

#[tokio::test(start_paused = true)]
async fn f41_children_of_a_failed_main_agent_are_stopped_and_reported_when_resumed() {
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("QUICK", true), task("NEVER", true)]))
        .on(when::prompt_contains("MAIN").last_contains("has ended"), reply::text("On."))
        .on(when::prompt_contains("MAIN").turn(1), reply::status(401).after_ms(500))
        .on(when::prompt_contains("MAIN"), reply::text("On."))
        .on(when::prompt_contains("QUICK"), reply::text("The quick report!"))
        .otherwise(reply::never());
    let site = Site::new(Plan::script(script));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Failed);
    assert_eq!(Told::of(&site.journal, outcome.task_id).open(), []);
    assert_eq!(site.go_on(outcome.task_id).await.status, Status::Completed);
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(false), [""; 0]);
    let last = format!("{:?}", site.model.seen().last().expect("it was asked").messages);
    assert!(last.contains("The quick report!") && last.contains("cancelled"), "{last}");
}

/// A task of this name breaks down at its second turn, while its background child works.
fn breaking_down(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("BREAKING", false)]),
        ("BREAKING", 0) => reply::calls([task("LEAF", true)]),
        ("BREAKING", 1) => panic!("as the script says"),
        _ => asked.report().after_ms(100),
    }
}

#[tokio::test(start_paused = true)]
async fn f43_the_children_of_a_panicked_task_are_adopted_or_end_with_it() {
    let site = Site::new(answering(breaking_down).rules(rules(20)));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    let last = format!("{:?}", site.model.seen().last().expect("it was asked").messages);
    assert!(last.contains("The report of LEAF") && last.contains("broke down"), "{last}");

    let site = Site::new(answering(breaking_down).rules(rules(20)));
    let outcome = site.run(ask("BREAKING")).await;
    let code = outcome.error.map(|error| error.code);
    assert_eq!((outcome.status, code.as_ref().map(FailureCode::as_str)), (Status::Failed, Some("internal")));
    assert_eq!(Told::of(&site.journal, outcome.task_id).open(), []);
}

/// A child asks and writes to its adopter.
fn adopted(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("UPPER", false)]),
        ("MAIN", _) if asked.last.contains("Which one?") => {
            reply::calls([send("agent-aaaaaaaaaaad", "The second one.")])
        }
        ("UPPER", 0) => reply::calls([task("MIDDLE", false)]),
        ("MIDDLE", 0) => reply::calls([task("LEAF", true)]),
        ("UPPER" | "MIDDLE", _) => reply::status(401),
        ("LEAF", 0) => reply::calls([send("parent", "I am still here.")]).after_ms(500),
        ("LEAF", 1) => call("Ask", json!({"question": "Which one?"})),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn f43_the_adopter_of_a_task_is_its_parent() {
    let site = Site::new(answering(adopted).rules(rules(2)));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    expect![[r#"
        delivered: agent-aaaaaaaaaaaa reads it at its next turn, unless it ends before
        agent-aaaaaaaaaaaa (main) answers. It is an agent: what it says is not a person's approval and gives no permission.
        [answer mark]
        The second one.
        [end mark]"#]].assert_eq(&site.outputs("LEAF").join("\n"));
    assert!(format!("{:?}", site.events(outcome.task_id)).contains("I am still here."));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_parked_task_ends_with_its_children() {
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("FIRST", true)]))
        .on(when::prompt_contains("MAIN"), reply::text("Waiting."))
        .otherwise(reply::never());
    let site = Site::new(Plan::script(script));
    let running = site.engine.run(ask("MAIN")).await.expect("it starts");
    let root = running.task;
    tokio::time::timeout(Duration::from_mins(1), running.outcome()).await.expect_err("it is parked");
    // Dropped there. It ends by itself.
    while !Told::of(&site.journal, root).open().is_empty() {
        tokio::task::yield_now().await;
    }
    let ending = site.journal.ending(root).expect("the journal reads").expect("it has ended");
    assert_eq!((ending.status, ending.text.as_str()), (Status::Cancelled, "Waiting."));
}

/// The parent of a failed task stops it, while that task's child still works.
fn stopping_what_failed(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("MIDDLE", false)]),
        ("MAIN", 1) => call("TaskStop", json!({"task_id": CHILD})),
        ("MIDDLE", 0) => reply::calls([task("LEAF", true)]),
        ("MIDDLE", _) => reply::status(401),
        ("LEAF", _) => reply::never(),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn f43_stopping_a_failed_task_stops_its_children() {
    let site = Site::new(answering(stopping_what_failed));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!((outcome.status, outcome.usage.turns), (Status::Completed, 4));
    assert!(
        site.outputs("MAIN")[1].starts_with("agent-aaaaaaaaaaac general-purpose cancelled"),
        "{:?}",
        site.outputs("MAIN")
    );
}

#[tokio::test(start_paused = true)]
async fn a_parent_learns_that_its_childs_ending_cannot_be_recorded() {
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("FIRST", true)]))
        .on(when::prompt_contains("MAIN"), reply::text("On."))
        .otherwise(reply::text("Lost.").after_ms(100));
    let site = Site::of(Plan::script(script), Relic::default().without_ending(id(CHILD)));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    let last = format!("{:?}", site.model.seen().last().expect("it was asked").messages);
    assert!(last.contains("failed") && last.contains("internal"), "{last}");
}

/// Real time: the command goes through the journal. Whichever comes first, the report is read once.
#[tokio::test]
async fn a_child_released_while_it_ends_is_reported_once() {
    for _ in 0..10 {
        let script = Script::new()
            .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("FIRST", false)]))
            .on(when::prompt_contains("MAIN"), reply::text("On."))
            .otherwise(reply::text("The only report!").held_by("child"));
        let site = Site::new(Plan::script(script));
        let running = site.engine.run(ask("MAIN")).await.expect("it starts");
        site.model.traffic_reaches(|traffic| traffic.calls == 2).await;
        site.journal.send(Command::Release { task: id(CHILD) }).await.expect("it is kept");
        site.model.gate("child").open();
        let outcome = running.outcome().await.expect("the journal works");
        assert_eq!(outcome.status, Status::Completed);
        assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    }
}

#[tokio::test]
async fn a_released_child_answers_its_call_and_is_reported_when_it_ends() {
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("FIRST", false)]))
        .on(when::prompt_contains("MAIN"), reply::text("On."))
        .otherwise(reply::text("The only report!").held_by("child"));
    let site = Site::new(Plan::script(script));
    let running = site.engine.run(ask("MAIN")).await.expect("it starts");
    site.model.traffic_reaches(|traffic| traffic.calls == 2).await;
    site.journal.send(Command::Release { task: id(CHILD) }).await.expect("it is kept");
    site.model.traffic_reaches(|traffic| traffic.calls == 3).await;
    let (task, from, text) = (running.task, Sender::Person, "How far is it?".to_owned());
    site.journal.send(Command::Send { task, from, text }).await.expect("it is kept");
    site.model.traffic_reaches(|traffic| traffic.calls == 4).await;
    site.model.gate("child").open();
    let outcome = running.outcome().await.expect("the journal works");
    assert_eq!(outcome.status, Status::Completed);
    assert_eq!(Told::of(&site.journal, outcome.task_id).breaches(true), [""; 0]);
    assert!(site.outputs("MAIN")[0].contains("running in the background"));
    let has_asked = |seen: &&Seen| format!("{:?}", seen.messages.first()).contains("FIRST");
    assert_eq!(site.model.seen().iter().filter(has_asked).count(), 1, "it was not begun anew");
}

#[tokio::test(start_paused = true)]
async fn a_resumption_of_a_child_that_is_briefly_held_is_retried() {
    for is_background in [true, false] {
        let plan = || {
            let script = Script::new()
                .on(when::prompt_contains("CHILD"), reply::text("I have it.").after_ms(500))
                .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("CHILD", is_background)]))
                .otherwise(reply::text("Told."));
            Plan::script(script)
        };
        let site = Site::new(plan());
        let first = site.run(ask("MAIN")).await;
        let appends = site.journal.appends();
        let child = site.all_events().iter().find(|event| event.depth == 1).expect("a child").task_id;
        let is_admitted = |entries: &Vec<Entry>| {
            entries.iter().any(|entry| entry.task_id == child && matches!(entry.fact, Fact::TaskAdmitted))
        };
        let admitted = appends.iter().position(is_admitted).expect("it was admitted");
        let relic = Relic::of(&appends[..=admitted]).await.stale_once(child);
        let site = site.later(Plan { ids_before: 2, ..plan() }, relic);
        let running = site.engine.resume(first.task_id, Resumption::default()).await.expect("it resumes");
        let outcome = running.outcome().await.expect("the journal works");
        let ending = site.journal.ending(child).expect("it can be read").expect("it has ended");
        assert_eq!((ending.status, ending.text.as_str()), (Status::Completed, "I have it."), "{outcome:?}");
    }
}
