//! Runs with background children, messages and questions, killed at every step. A run killed there resumes, and each
//! report and each message is read once, by its recipient.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use sortie_engine::{Engine, EngineSettings, Resumption};
use sortie_journal::Entry;
use sortie_llm::ModelRequest;
use sortie_protocol::{Fact, FailureCode, Limit, Limits, Message, Status, TaskId, TaskOutcome, TaskRequest};
use sortie_testkit::{ScriptedModel, ScriptedPart, ScriptedReply, reply};

use crate::every_event::Place;
use crate::relic::Relic;
use crate::support::ask;
use crate::told::Told;

/// Longer than anything in these runs by the paused clock: a task not done by then waits for ever.
pub(crate) const FOR_EVER: Duration = Duration::from_hours(10);

pub(crate) type Answer = fn(&Asked<'_>) -> ScriptedReply;

/// Input for the decisions of a scripted agent.
pub(crate) struct Asked<'a> {
    /// Its brief.
    pub(crate) who: &'a str,
    pub(crate) turn: usize,
    /// The newest message of any kind.
    pub(crate) last: String,
}

impl<'a> Asked<'a> {
    pub(crate) fn of(request: &'a ModelRequest<'_>) -> Self {
        let Some(Message::User { text: who }) = request.messages.first() else { panic!("nobody was asked") };
        let turn = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        Self { who, turn, last: format!("{:?}", request.messages.last()) }
    }

    /// A unique report.
    pub(crate) fn report(&self) -> ScriptedReply {
        reply::text(format!("The report of {} at turn {}!", self.who, self.turn))
    }
}

pub(crate) fn task(prompt: &str, is_apart: bool) -> ScriptedPart {
    let arguments = json!({
        "description": "Part", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": is_apart
    });
    reply::call("Task", arguments)
}

pub(crate) fn send(to: &str, message: &str) -> ScriptedPart {
    reply::call("SendMessage", json!({"to": to, "message": message}))
}

pub(crate) fn call(tool: &str, arguments: Value) -> ScriptedReply {
    reply::calls([reply::call(tool, arguments)])
}

/// Two background children and a foreground one; one of them gets a message, another one is waited for.
fn beside(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("QUICK", true), task("AWAITED", false), task("SLOW", true)]),
        ("MAIN", 1) => reply::calls([send("<task 3>", "Look behind the door?")]),
        ("MAIN", 2 | 3) => call("TaskOutput", json!({"task_ids": ["<task 3>"], "timeout": 50_000})),
        ("MAIN", 4) => reply::calls([send("<task 1>", "Once more?")]),
        ("QUICK", 0) => call("Note", json!({"text": "The key is under the mat."})),
        ("AWAITED", 0) => call("LS", json!({})).after_ms(50),
        ("SLOW", 0) => reply::calls([send("parent", "It takes a while.")]).after_ms(100),
        ("SLOW", 1 | 2) => call("LS", json!({})).after_ms(200),
        _ => asked.report(),
    }
}

/// A foreground child asks, and is released meanwhile.
fn question(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("ASKING", false), task("BESIDE", true)]),
        ("MAIN", _) if asked.last.contains("Which one?") => reply::calls([send("<task 1>", "The second one, please.")]),
        ("ASKING", 0) => call("Ask", json!({"question": "Which one?"})).after_ms(20),
        ("BESIDE", 0) => reply::calls([task("BELOW", true), task("BELOW TOO", false)]),
        ("BELOW", 0) => call("LS", json!({})).after_ms(70),
        _ => asked.report().after_ms(10),
    }
}

/// A child is resumed before its report was read: first in the background, then in the foreground.
fn again(asked: &Asked<'_>) -> ScriptedReply {
    let once_more = json!({"description": "Part", "prompt": "And again?", "resume": "<task 1>"});
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", true)]),
        ("MAIN", 1) => reply::calls([send("<task 1>", "Once more?")]).after_ms(100),
        ("MAIN", 2) => call("Task", once_more).after_ms(100),
        _ => asked.report().after_ms(10),
    }
}

/// Children of a failing task, itself the child of a failing task: ended, at work, and not yet begun.
fn failing(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("UPPER", true)]),
        ("UPPER", 0) => reply::calls([task("MIDDLE", true), task("LEAF 1", true)]),
        ("UPPER", _) => reply::status(401).after_ms(400),
        ("MIDDLE", 0) => reply::calls([task("LEAF 2", true), task("LEAF 3", true)]),
        ("MIDDLE", _) => reply::status(401).after_ms(200),
        ("LEAF 1", 0) => call("LS", json!({})).after_ms(600),
        ("LEAF 2", 0) => call("LS", json!({})).after_ms(100),
        ("LEAF 3", 0) => call("LS", json!({})).after_ms(300),
        _ => asked.report().after_ms(10),
    }
}

/// A child asks its parent, which fails before it could answer.
fn passed_on(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("MIDDLE", false)]),
        ("MAIN", _) if asked.last.contains("Which one?") => reply::calls([send("<task 2>", "The second one, please.")]),
        ("MIDDLE", 0) => reply::calls([task("LEAF", true)]),
        ("MIDDLE", _) => reply::status(401).after_ms(200),
        ("LEAF", 0) => call("Ask", json!({"question": "Which one?"})).after_ms(20),
        _ => asked.report(),
    }
}

const ALL: [(&str, Answer); 5] =
    [("beside", beside), ("question", question), ("again", again), ("failing", failing), ("passed on", passed_on)];

/// Checks that these runs contain every case that they are meant for.
#[tokio::test(start_paused = true)]
async fn the_runs_contain_every_case() {
    let mut kinds = Vec::new();
    for (_, answer) in ALL {
        let (_, appends) = whole(&Place::new(), answer, 20).await;
        kinds.extend(appends.into_iter().flatten().map(|entry| match entry.fact {
            Fact::ChildAdopted { ended_leg, .. } => format!("child_adopted {}", ended_leg.is_some()),
            Fact::CallFinished { output, .. } if !output.output.mail.is_empty() => "read by a call".to_owned(),
            Fact::MailRead { mail, .. } if mail.reports.len() > 1 => "several reports".to_owned(),
            fact => format!("{} {}", fact.kind(), entry.leg),
        }));
    }
    for kind in [
        "child_released 1",
        "question_asked 1",
        "message_arrived 1",
        "child_adopted true",
        "child_adopted false",
        "read by a call",
        "several reports",
        "note_posted 1",
        "task_parked 1",
        "task_ended 2",
        "task_ended 3",
    ] {
        assert!(kinds.iter().any(|had| had == kind), "{kind}: {kinds:?}");
    }
}

fn engine(place: &Place, answer: Answer, journal: &Arc<Relic>, at_once: usize) -> (Engine, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::answering(move |request| answer(&Asked::of(request))));
    let rules = EngineSettings { max_depth: 4, max_concurrent: at_once, ..EngineSettings::default() };
    (place.engine_with(Arc::clone(journal), Arc::clone(&model), rules), model)
}

async fn whole(place: &Place, answer: Answer, at_once: usize) -> (TaskOutcome, Vec<Vec<Entry>>) {
    whole_of(ask("MAIN"), place, answer, at_once).await
}

async fn whole_of(
    request: TaskRequest,
    place: &Place,
    answer: Answer,
    at_once: usize,
) -> (TaskOutcome, Vec<Vec<Entry>>) {
    let journal = Arc::new(Relic::default());
    let (engine, model) = engine(place, answer, &journal, at_once);
    let running = engine.run(request).await.expect("it starts");
    let root = running.task;
    let outcome = running.outcome().await.expect("the journal works");
    let history = Told::of(&journal, root);
    assert_eq!(history.breaches(true), [""; 0]);
    assert_eq!(history.unlike(&model.seen()), [""; 0]);
    (outcome, journal.appends())
}

async fn go_on(engine: &Engine, root: TaskId, prompt: Option<&str>) -> TaskOutcome {
    let resumption = Resumption { prompt: prompt.map(str::to_owned), ..Resumption::default() };
    let running = engine.resume(root, resumption).await.expect("it resumes");
    let ended = tokio::time::timeout(FOR_EVER, running.outcome()).await;
    ended.expect("nobody waits for ever").expect("the journal works")
}

#[tokio::test(start_paused = true)]
async fn a_run_killed_anywhere_resumes_and_everything_is_read_once() {
    for (name, answer) in ALL {
        for at_once in [1, 20] {
            let place = Place::new();
            let (outcome, appends) = whole(&place, answer, at_once).await;
            assert_eq!(outcome.status, Status::Completed, "{name}");
            for n_left in 1..appends.len() {
                let at = format!("{name}, {at_once} at once, after {n_left} of {}", appends.len());
                let journal = Arc::new(Relic::of(&appends[..n_left]).await);
                let (engine, model) = engine(&place, answer, &journal, at_once);
                let outcome = go_on(&engine, outcome.task_id, None).await;
                assert_eq!(outcome.status, Status::Completed, "{at}");
                let told = Told::of(&journal, outcome.task_id);
                assert_eq!(told.breaches(true), [""; 0], "{at}");
                assert_eq!(told.n_unsettled(), 0, "{at}: what was sent is known");
                assert_eq!(outcome.usage.turns, told.n_replies(), "{at}: all that was used is counted, once");
                assert_eq!(told.unlike(&model.seen()), [""; 0], "{at}");
            }
        }
    }
}

/// Has one turn, and children that report later.
fn limited(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", true), task("SECOND", true)]),
        ("FIRST", 0) => reply::calls([send("parent", "Halfway.")]).after_ms(50),
        ("SECOND", 0) => call("Ask", json!({"question": "Which one?", "timeout_seconds": 3})).after_ms(100),
        _ => asked.report().after_ms(100),
    }
}

#[tokio::test(start_paused = true)]
async fn a_killed_task_at_its_limit_gathers_its_children_and_reports() {
    let place = Place::new();
    let limits = Limits { max_turns: Some(1), ..Limits::default() };
    let request = TaskRequest { limits, ..ask("MAIN") };
    let (outcome, appends) = whole_of(request, &place, limited, 1).await;
    assert_eq!((outcome.status, outcome.reason), (Status::Partial, Some(Limit::Turns)));
    for n_left in 1..appends.len() {
        let journal = Arc::new(Relic::of(&appends[..n_left]).await);
        let (engine, _) = engine(&place, limited, &journal, 1);
        let outcome = go_on(&engine, outcome.task_id, None).await;
        assert_eq!((outcome.status, outcome.reason), (Status::Partial, Some(Limit::Turns)), "after {n_left}");
        let told = Told::of(&journal, outcome.task_id);
        assert_eq!(told.breaches(true), [""; 0], "after {n_left} of {}", appends.len());
        assert_eq!(outcome.usage.turns, told.n_replies(), "after {n_left}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_resumed_run_can_be_killed_again() {
    for (name, answer) in ALL {
        let place = Place::new();
        let (outcome, appends) = whole(&place, answer, 20).await;
        for n_left in (1..appends.len()).step_by(6) {
            let journal = Arc::new(Relic::of(&appends[..n_left]).await);
            go_on(&engine(&place, answer, &journal, 20).0, outcome.task_id, None).await;
            let then = journal.appends();
            for n_then in (1..then.len()).step_by(3) {
                let at = format!("{name}, after {n_left} of {}, {n_then} of {}", appends.len(), then.len());
                let left = [&appends[..n_left], &then[..n_then]].concat();
                let journal = Arc::new(Relic::of(&left).await);
                let (engine, model) = engine(&place, answer, &journal, 20);
                assert_eq!(go_on(&engine, outcome.task_id, None).await.status, Status::Completed, "{at}");
                let told = Told::of(&journal, outcome.task_id);
                assert_eq!(told.breaches(true), [""; 0], "{at}");
                assert_eq!(told.unlike(&model.seen()), [""; 0], "{at}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_killed_run_can_be_stopped_and_reads_its_reports_when_resumed() {
    for (name, answer) in ALL {
        let place = Place::new();
        let (outcome, appends) = whole(&place, answer, 20).await;
        for n_left in 1..appends.len() {
            let at = format!("{name}, after {n_left} of {}", appends.len());
            let journal = Arc::new(Relic::of(&appends[..n_left]).await);
            let (engine, _) = engine(&place, answer, &journal, 20);
            engine.abandon(outcome.task_id).await.expect("it is ended");
            let outcome = go_on(&engine, outcome.task_id, Some("Say what there is.")).await;
            assert_eq!(outcome.status, Status::Completed, "{at}");
            let told = Told::of(&journal, outcome.task_id);
            assert_eq!(told.breaches(false), [""; 0], "{at}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_task_of_a_killed_run_can_be_stopped_and_its_parent_learns_once() {
    for (name, answer) in ALL {
        let place = Place::new();
        let (outcome, appends) = whole(&place, answer, 20).await;
        let root = outcome.task_id;
        for n_left in 1..appends.len() {
            let open = Told::of(&Relic::of(&appends[..n_left]).await, root).open();
            for task in open.into_iter().filter(|task| *task != root) {
                let at = format!("{name}, after {n_left} of {}, {task}", appends.len());
                let journal = Arc::new(Relic::of(&appends[..n_left]).await);
                let (engine, _) = engine(&place, answer, &journal, 20);
                let refusal = engine.resume(task, Resumption::default()).await.err().map(|failure| failure.code);
                assert_eq!(refusal.as_ref().map(FailureCode::as_str), Some("waited_for"), "{at}");
                engine.abandon(task).await.expect("it is ended");
                assert_eq!(go_on(&engine, root, None).await.status, Status::Completed, "{at}");
                let told = Told::of(&journal, root);
                assert_eq!(told.breaches(false), [""; 0], "{at}");
                // And nothing of it is read again.
                go_on(&engine, root, Some("Is there more?")).await;
                assert_eq!(Told::of(&journal, root).breaches(false), [""; 0], "{at}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_stopped_while_it_resumes_leaves_no_child_behind() {
    for (name, answer) in ALL {
        let place = Place::new();
        let (outcome, appends) = whole(&place, answer, 1).await;
        for n_left in 1..appends.len() {
            for stopped_at in 0..6 {
                let there: Arc<OnceLock<Engine>> = Arc::default();
                let (stopper, root) = (Arc::downgrade(&there), outcome.task_id);
                let journal = Arc::new(Relic::of(&appends[..n_left]).await.told(move |n_before| {
                    if n_before == stopped_at
                        && let Some(there) = stopper.upgrade()
                        && let Some(engine) = there.get()
                    {
                        engine.stop(root);
                    }
                }));
                let (engine, _) = engine(&place, answer, &journal, 1);
                let engine = there.get_or_init(|| engine);
                go_on(engine, root, None).await;
                let at = format!("{name}, after {n_left} of {}, stopped at {stopped_at}", appends.len());
                assert_eq!(Told::of(&journal, root).open(), [], "{at}");
                go_on(engine, root, Some("Say what there is.")).await;
                assert_eq!(Told::of(&journal, root).breaches(false), [""; 0], "{at}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_at_any_step_ends_all_and_reports_are_read_when_resumed() {
    for (name, answer) in ALL {
        let place = Place::new();
        let (_, appends) = whole(&place, answer, 2).await;
        for stopped_at in 1..appends.len() {
            let at = format!("{name}, at {stopped_at} of {}", appends.len());
            let there: Arc<OnceLock<(Engine, TaskId)>> = Arc::default();
            let stopper = Arc::downgrade(&there);
            let journal = Arc::new(Relic::watched(move |n_before| {
                if n_before == stopped_at
                    && let Some(there) = stopper.upgrade()
                    && let Some((engine, root)) = there.get()
                {
                    engine.stop(*root);
                    engine.stop(*root);
                }
            }));
            let (engine, _) = engine(&place, answer, &journal, 2);
            let running = engine.run(ask("MAIN")).await.expect("it starts");
            let root = running.task;
            there.set((engine.clone(), root)).ok().expect("once");
            let ended = tokio::time::timeout(FOR_EVER, running.outcome()).await;
            ended.expect("nobody waits for ever").expect("the journal works");
            assert_eq!(Told::of(&journal, root).open(), [], "{at}");
            go_on(&engine, root, Some("Say what there is.")).await;
            assert_eq!(Told::of(&journal, root).breaches(false), [""; 0], "{at}");
        }
    }
}

/// Real time and real threads, so the order varies.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn simultaneous_reports_are_read_once_in_any_order() {
    let runs = (0..10).flat_map(|_| ALL).map(async |(_, answer)| {
        let place = Place::new();
        let ended = tokio::time::timeout(Duration::from_mins(5), whole(&place, answer, 3)).await;
        ended.expect("nobody waits for ever").0.status
    });
    let statuses = futures_util::future::join_all(runs).await;
    assert!(statuses.iter().all(|status| *status == Status::Completed), "{statuses:?}");
}
