//! Remains of a killed process: resumed by one, ended by one, and never done twice.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Arc, OnceLock};

use expect_test::expect;
use serde_json::{Value, json};
use sortie_engine::{Engine, EngineSettings, Resumption};
use sortie_journal::{Entry, Journal as _};
use sortie_protocol::{CallId, Fact, FailureCode, GrantLayer, Message, Status, TaskId, TaskOutcome, Timestamp};
use sortie_testkit::{Script, ScriptedModel, reply, when};
use tempfile::TempDir;

use crate::permissions::{rules, user, usual};
use crate::relic::Relic;
use crate::support::{Plan, ask};

pub(crate) const ROOT: &str = "agent-aaaaaaaaaaaa";
pub(crate) const CHILD: &str = "agent-aaaaaaaaaaab";

pub(crate) fn id(letters: &str) -> TaskId {
    letters.parse().expect("an id")
}

/// A directory with a workspace, in which one process after the other works.
pub(crate) struct Site {
    home: TempDir,
}

impl Site {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().expect("a temp directory");
        std::fs::create_dir(home.path().join("workspace")).expect("a fresh directory");
        Self { home }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.home.path().join("workspace")
    }

    pub(crate) fn engine(&self, plan: Plan, journal: &Arc<Relic>) -> (Engine, Arc<ScriptedModel>) {
        plan.engine(self.home.path(), Arc::clone(journal) as Arc<_>)
    }

    /// All appends of a main agent with this script.
    pub(crate) async fn whole(&self, script: Script) -> Vec<Vec<Entry>> {
        let journal = Arc::new(Relic::default());
        let (engine, _) = self.engine(Plan::script(script), &journal);
        engine.run(ask("MAIN")).await.expect("it starts").outcome().await.expect("the journal works");
        journal.appends()
    }
}

/// The appends that remain when the process is killed right after the first fact of this kind, of this task.
pub(crate) fn left_behind(appends: &[Vec<Entry>], task: &str, kind: &str) -> Vec<Vec<Entry>> {
    let is_last =
        |entries: &Vec<Entry>| entries.iter().any(|entry| entry.task_id == id(task) && entry.fact.kind() == kind);
    let last = appends.iter().position(is_last).expect("such a fact");
    appends[..=last].to_vec()
}

fn write(name: &str) -> Value {
    json!({"file_path": name, "content": "new"})
}

/// A main agent that writes something, and its sub-agent, which does so first.
pub(crate) fn writing() -> Script {
    let task = json!({"description": "Part", "prompt": "PART", "subagent_type": "general-purpose"});
    Script::new()
        .on(when::last_contains("MORE"), reply::text("And more."))
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("MAIN").turn(1), reply::calls([reply::call("Write", write("main.txt"))]))
        .on(when::prompt_contains("MAIN"), reply::text("All done."))
        .on(when::turn(0), reply::text("A first word.").calls([reply::call("Write", write("part.txt"))]))
        .otherwise(reply::text("Part done."))
}

pub(crate) async fn resume(engine: &Engine, prompt: Option<&str>) -> TaskOutcome {
    let resumption = Resumption { prompt: prompt.map(str::to_owned), ..Resumption::default() };
    let running = engine.resume(id(ROOT), resumption).await;
    running.expect("it resumes").outcome().await.expect("the journal works")
}

pub(crate) fn facts(journal: &Relic, task: &str) -> Vec<Fact> {
    journal.read(id(task)).expect("it is there").into_iter().map(|event| event.fact).collect()
}

#[tokio::test]
async fn an_interrupted_run_can_be_stopped_and_then_resumed() {
    let site = Site::new();
    let appends = site.whole(writing()).await;
    for n_left in 1..appends.len() {
        let journal = Arc::new(Relic::of(&appends[..n_left]).await);
        let (engine, model) = site.engine(Plan::script(writing()), &journal);
        let outcomes = engine.abandon(id(ROOT)).await.expect("it is ended");
        assert!(outcomes.iter().all(|outcome| outcome.status == Status::Cancelled), "after {n_left}: {outcomes:?}");
        assert_eq!(outcomes.last().map(|outcome| outcome.task_id), Some(id(ROOT)), "after {n_left}");
        let again = engine.abandon(id(ROOT)).await.expect("nothing is left to be ended");
        assert!(again.is_empty(), "after {n_left}");
        assert!(model.seen().is_empty(), "nobody was asked");
        // The model refuses every history that a provider would refuse.
        let outcome = resume(&engine, Some("MORE")).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "And more."), "after {n_left}");
        let seen = model.seen();
        let last = seen.last().and_then(|seen| seen.messages.last());
        assert_eq!(last, Some(&Message::User { text: "MORE".to_owned() }), "behind the outputs, after {n_left}");
    }
}

#[tokio::test]
async fn a_leg_that_ended_with_unanswered_calls_can_be_resumed() {
    let site = Site::new();
    let appends = site.whole(writing()).await;
    let ending = appends.last().and_then(|entries| entries.last()).expect("an ending").clone();
    for n_left in 1..appends.len() {
        let mut left = appends[..n_left].to_vec();
        left.push(vec![ending.clone()]);
        let journal = Arc::new(Relic::of(&left).await);
        let (engine, _) = site.engine(Plan::script(writing()), &journal);
        let outcome = resume(&engine, Some("MORE")).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "And more."), "after {n_left}");
        // The result can also be resumed.
        let outcome = resume(&engine, Some("MORE")).await;
        assert_eq!(outcome.status, Status::Completed, "after {n_left}");
    }
}

#[tokio::test]
async fn a_takeover_with_an_outdated_log_is_refused_and_does_nothing() {
    let site = Site::new();
    let left = left_behind(&site.whole(writing()).await, ROOT, "model_called");
    let contended: Arc<OnceLock<Arc<Relic>>> = Arc::default();
    let others = Arc::clone(&contended);
    let journal = Arc::new(Relic::of(&left).await.told(move |_| {
        let fact = Fact::Noticed { text: "the owner lives".to_owned() };
        let time = Timestamp(0);
        let entry = Entry { task_id: id(ROOT), leg: 1, attempt: 1, time, after: None, fact };
        others.get().expect("it is set").write_unseen(vec![entry]);
    }));
    contended.set(Arc::clone(&journal)).ok().expect("once");
    let (engine, model) = site.engine(Plan::script(writing()), &journal);
    let refusal = engine.resume(id(ROOT), Resumption::default()).await.err().expect("it is refused");
    expect!["still_running: agent-aaaaaaaaaaaa was just resumed by another process; wait for it, or stop it first"]
        .assert_eq(&format!("{}: {}", refusal.code, refusal.message));
    let refusal = engine.abandon(id(ROOT)).await.expect_err("it is refused");
    assert_eq!(refusal.code, FailureCode::StillRunning);
    assert!(model.seen().is_empty());
    assert!(
        !facts(&journal, ROOT).iter().any(|fact| matches!(fact, Fact::TaskResumed { .. } | Fact::TaskEnded { .. }))
    );
}

/// A process, and its fact in a log.
fn command() -> (Child, Fact) {
    let child = Command::new("sleep").arg("60").spawn().expect("it starts");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it runs");
    let ticks: u64 = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().nth(19))
        .expect("a field")
        .parse()
        .expect("a number");
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("the system tells");
    let digits: String = boot.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    let started = ticks ^ u64::from_str_radix(&digits, 16).expect("digits");
    let fact = Fact::ProcessStarted { call: CallId("call".to_owned()), pid: child.id(), started };
    (child, fact)
}

#[tokio::test]
async fn leftover_commands_are_ended_only_by_the_holder_of_the_task() {
    let site = Site::new();
    let mut left = left_behind(&site.whole(writing()).await, ROOT, "model_called");
    let (mut child, started) = command();
    let last = left.last().and_then(|entries| entries.last()).expect("an entry").clone();
    left.push(vec![Entry { fact: started, ..last }]);
    let journal = Arc::new(Relic::of(&left).await);
    // It comes too late: the journal says so when it writes.
    let late = Arc::new(Relic::of(&left).await.refusing());
    let (engine, _) = site.engine(Plan::script(writing()), &late);
    assert!(engine.resume(id(ROOT), Resumption::default()).await.is_err());
    assert!(engine.abandon(id(ROOT)).await.is_err());
    assert!(child.try_wait().expect("it is ours").is_none(), "it was another one's command");
    let (engine, _) = site.engine(Plan::script(writing()), &journal);
    assert_eq!(resume(&engine, None).await.status, Status::Completed);
    assert!(child.try_wait().expect("it is ours").is_some(), "it was left over");
}

#[tokio::test]
async fn a_child_resumes_only_if_it_could_be_started() {
    let site = Site::new();
    let left = left_behind(&site.whole(writing()).await, CHILD, "model_replied");
    let denied = |rule: &str| {
        let layer = GrantLayer { deny: rules(&[rule]), ..usual() };
        Plan::script(writing()).permissions(user(layer))
    };
    let off = Plan::script(writing()).rules(EngineSettings { delegation: false, ..EngineSettings::default() });
    let flat = Plan::script(writing()).rules(EngineSettings { max_depth: 0, ..EngineSettings::default() });
    for (plan, why) in [
        (denied("Task"), "Task is not granted"),
        (denied("Task(general-purpose)"), "denied by"),
        (off, "Task is not available"),
        (flat, "Task is not available"),
    ] {
        std::fs::remove_file(site.workspace().join("part.txt")).ok();
        let journal = Arc::new(Relic::of(&left).await);
        let (engine, model) = site.engine(plan, &journal);
        let outcome = resume(&engine, None).await;
        assert_eq!(outcome.status, Status::Completed, "{why}");
        assert!(!site.workspace().join("part.txt").exists(), "{why}: the child has not continued");
        let child = journal.ending(id(CHILD)).expect("the journal reads").expect("it has ended");
        assert_eq!((child.status, child.text.as_str()), (Status::Failed, "A first word."), "{why}");
        let told = facts(&journal, ROOT).into_iter().filter(|fact| matches!(fact, Fact::ChildEnded { .. })).count();
        assert_eq!(told, 1, "{why}: its end is delivered");
        let answer = model.seen().into_iter().next().expect("the main agent was asked");
        told_of_child(&format!("{:?}", answer.messages.last()), why);
    }
}

/// Checks the parent's output about a child that was started and could not resume.
fn told_of_child(answer: &str, why: &str) {
    for piece in [CHILD, "failed", "A first word.", "could not resume", why] {
        assert!(answer.contains(piece), "{why}: `{piece}` is missing: {answer}");
    }
    assert!(!answer.contains("No sub-agent was started"), "{why}: {answer}");
}

#[tokio::test]
async fn a_child_without_its_agent_is_ended_and_answers_with_what_it_had() {
    let site = Site::new();
    let mut left = left_behind(&site.whole(writing()).await, CHILD, "model_replied");
    for entry in left.iter_mut().flatten().filter(|entry| entry.task_id == id(CHILD)) {
        if let Fact::TaskStarted { job } = &mut entry.fact {
            "gone".clone_into(&mut job.config.agent);
        }
    }
    let journal = Arc::new(Relic::of(&left).await);
    let (engine, model) = site.engine(Plan::script(writing()), &journal);
    assert_eq!(resume(&engine, None).await.status, Status::Completed);
    let child = journal.ending(id(CHILD)).expect("the journal reads").expect("it has ended");
    assert_eq!((child.status, child.text.as_str()), (Status::Failed, "A first word."));
    assert_eq!(child.error.map(|error| error.code), Some(FailureCode::AgentGone));
    told_of_child(&format!("{:?}", model.seen()[0].messages.last()), "agent cannot be found");
}

#[tokio::test]
async fn a_child_that_is_stopped_while_nobody_runs_its_parent_is_delivered() {
    let site = Site::new();
    let left = left_behind(&site.whole(writing()).await, CHILD, "model_replied");
    let journal = Arc::new(Relic::of(&left).await);
    let (engine, model) = site.engine(Plan::script(writing()), &journal);
    let ended = engine.abandon(id(CHILD)).await.expect("it is ended");
    assert_eq!(ended.iter().map(|outcome| outcome.task_id).collect::<Vec<_>>(), [id(CHILD)]);
    assert!(matches!(facts(&journal, ROOT).last(), Some(Fact::ChildEnded { child_leg: 1, .. })));
    assert_eq!(resume(&engine, None).await.status, Status::Completed);
    let asked = format!("{:?}", model.seen().first().expect("the main agent was asked").messages.last());
    assert!(asked.contains("cancelled") && asked.contains("A first word."), "{asked}");
    let told = facts(&journal, ROOT).into_iter().filter(|fact| matches!(fact, Fact::ChildEnded { .. })).count();
    assert_eq!(told, 1);
}

#[tokio::test]
async fn a_report_of_a_child_stopped_before_its_parent_reads_like_any_other() {
    let site = Site::new();
    let left = left_behind(&site.whole(writing()).await, CHILD, "call_finished");
    let journal = Arc::new(Relic::of(&left).await);
    let (engine, model) = site.engine(Plan::script(writing()), &journal);
    for task in [CHILD, ROOT] {
        assert_eq!(engine.abandon(id(task)).await.expect("it is ended").len(), 1, "{task}");
    }
    let stopped = journal.ending(id(ROOT)).expect("the journal reads").expect("it has ended");
    assert_eq!(stopped.files_changed, ["part.txt"]);
    assert_eq!(resume(&engine, Some("MORE")).await.status, Status::Completed);
    let Message::Outputs { outputs } = &model.seen()[0].messages[2] else { panic!("no outputs: {:?}", model.seen()) };
    let (head, report) = outputs[0].output.for_model.split_once('\n').expect("lines");
    assert!(head.starts_with("agent-aaaaaaaaaaab general-purpose cancelled, 1 call, "), "{head}");
    let words =
        "notice: it was interrupted, and was stopped before it was resumed\n[report mark]\nA first word.\n[end mark]";
    assert_eq!(report, words);
}

#[tokio::test]
async fn a_queued_child_that_is_stopped_keeps_its_text() {
    let task =
        |prompt| reply::call("Task", json!({"description": "Part", "prompt": prompt, "subagent_type": "explore"}));
    let word = || reply::text("A first word.").calls([reply::call("LS", json!({}))]);
    let script = || {
        Script::new()
            .on(when::prompt_contains("MAIN"), reply::calls([task("PART 1"), task("PART 2")]))
            .on(when::turn(0), word())
            .otherwise(reply::never())
    };
    let site = Site::new();
    let journal = Arc::new(Relic::default());
    let (engine, model) = site.engine(Plan::script(script()), &journal);
    let running = engine.run(ask("MAIN")).await.expect("it starts");
    model.traffic_reaches(|traffic| traffic.in_flight == 2 && traffic.calls == 5).await;
    let left = journal.appends();
    drop(running);
    let journal = Arc::new(Relic::of(&left).await);
    let alone = EngineSettings { max_concurrent: 1, ..EngineSettings::default() };
    let (engine, model) = site.engine(Plan::script(script()).rules(alone), &journal);
    let running = engine.resume(id(ROOT), Resumption::default()).await.expect("it resumes");
    model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    running.stop();
    running.outcome().await.expect("the journal works");
    for child in [CHILD, "agent-aaaaaaaaaaac"] {
        let ending = journal.ending(id(child)).expect("the journal reads").expect("it has ended");
        assert_eq!((ending.status, ending.text.as_str()), (Status::Cancelled, "A first word."), "{child}");
    }
}

#[tokio::test]
async fn a_damaged_log_of_an_ended_child_does_not_affect_its_parent() {
    let site = Site::new();
    let appends = site.whole(writing()).await;
    let left = left_behind(&appends, ROOT, "call_finished");
    let whole = Arc::new(Relic::of(&left).await);
    let expected = resume(&site.engine(Plan::script(writing()), &whole).0, None).await;
    for stops in [false, true] {
        let journal = Arc::new(Relic::of(&left).await.damage(id(CHILD)));
        let (engine, _) = site.engine(Plan::script(writing()), &journal);
        if stops {
            assert_eq!(engine.abandon(id(ROOT)).await.expect("it is ended").len(), 1);
        } else {
            let outcome = resume(&engine, None).await;
            assert_eq!((outcome.status, outcome.usage.turns), (Status::Completed, expected.usage.turns));
            assert_eq!(outcome.notices, [""; 0]);
        }
    }
}

#[tokio::test]
async fn a_tree_with_a_damaged_log_is_ended_with_a_notice() {
    let site = Site::new();
    let left = left_behind(&site.whole(writing()).await, CHILD, "model_replied");
    let journal = Arc::new(Relic::of(&left).await.damage(id(CHILD)));
    let (engine, _) = site.engine(Plan::script(writing()), &journal);
    let ended = engine.abandon(id(ROOT)).await.expect("they are ended");
    let notices: Vec<String> = ended.into_iter().flat_map(|outcome| outcome.notices).collect();
    expect![[r#"
        part of what it has done is missing here: the log of agent-aaaaaaaaaaab is damaged at event 2: its checksum does not match; restore the journal from a backup, or continue without this task
        it was interrupted, and was stopped before it was resumed
        the usage of agent-aaaaaaaaaaab is not counted: the log of agent-aaaaaaaaaaab is damaged at event 2: its checksum does not match; restore the journal from a backup, or continue without this task
        it was interrupted, and was stopped before it was resumed"#]]
    .assert_eq(&notices.join("\n"));
}

#[tokio::test]
async fn a_stop_during_the_start_takes_effect() {
    let site = Site::new();
    let engine: Arc<OnceLock<Engine>> = Arc::default();
    let there = Arc::downgrade(&engine);
    let journal = Arc::new(Relic::watched(move |n_before| {
        if n_before == 0
            && let Some(there) = there.upgrade()
        {
            assert!(there.get().expect("it is set").stop(id(ROOT)), "it is known before it is written");
        }
    }));
    let engine = engine.get_or_init(|| site.engine(Plan::script(writing()), &journal).0);
    let outcome = engine.run(ask("MAIN")).await.expect("it starts").outcome().await.expect("the journal works");
    assert_eq!(outcome.status, Status::Cancelled);
}

#[tokio::test]
async fn one_of_two_simultaneous_resumes_is_refused_and_the_other_can_be_stopped() {
    let site = Site::new();
    let left = left_behind(&site.whole(writing()).await, ROOT, "model_called");
    let journal = Arc::new(Relic::of(&left).await);
    let (engine, _) = site.engine(Plan::script(Script::always(reply::never())), &journal);
    let both = futures_util::join!(
        engine.resume(id(ROOT), Resumption::default()),
        engine.resume(id(ROOT), Resumption::default())
    );
    let (mut running, refused): (Vec<_>, Vec<_>) = [both.0, both.1].into_iter().partition(Result::is_ok);
    assert_eq!((running.len(), refused.len()), (1, 1));
    assert!(engine.stop(id(ROOT)), "the one that was refused has not taken its name away");
    let running = running.pop().and_then(Result::ok).expect("it runs");
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Cancelled);
}

#[tokio::test]
async fn a_prompt_to_an_interrupted_task_follows_its_open_calls() {
    let site = Site::new();
    let appends = site.whole(writing()).await;
    for n_left in 1..appends.len() {
        let journal = Arc::new(Relic::of(&appends[..n_left]).await);
        let (engine, model) = site.engine(Plan::script(writing()), &journal);
        let outcome = resume(&engine, Some("MORE")).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "And more."), "after {n_left}");
        let said = Message::User { text: "MORE".to_owned() };
        let last = model.seen().pop().expect("it was asked");
        assert_eq!(last.messages.last(), Some(&said), "after {n_left}");
    }
}
