//! The record of a running task equals its log after every event, and its outcome follows from the log.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};

use serde_json::json;
use sortie_agents::Registry;
use sortie_contract::Sortie;
use sortie_journal::{CommandId, Journal, MemoryJournal, TaskQuery, TaskState};
use sortie_llm::{ModelRequest, Terms};
use sortie_protocol::{
    Event, Fact, Limit, Limits, Message, Sender, Status, TaskId, TaskOutcome, TaskRequest, Timestamp, Usage,
};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::{Script, ScriptedModel, ScriptedModels, reply, when};
use tempfile::TempDir;

use super::{Engine, EngineParts};
use crate::budget::account::Account;
use crate::conversation::live_record::LiveRecord;
use crate::conversation::load_task::{footprint_so_far, read};
use crate::conversation::outcome::{Ending, Unrecorded};
use crate::conversation::task_record::TaskRecord;
use crate::messages::running_task::ArrivedBy;
use crate::resolve::permissions::Permissions;
use crate::resolve::settings::EngineSettings;
use crate::run::final_answer::final_answer;
use crate::tasks::resume::Resumption;
use crate::tasks::state::EngineState;
use crate::{Clock, NoHooks, NoRemoteTools, RandomIds};

/// Checks all running tasks whenever somebody asks for the time, which happens before each event. It does not see what
/// other threads do meanwhile.
struct Inspector {
    journal: Arc<MemoryJournal>,
    engine: OnceLock<Arc<EngineState>>,
    thread: ThreadId,
    time: AtomicU64,
    n_compared: AtomicUsize,
}

impl Clock for Inspector {
    fn now(&self) -> Timestamp {
        if thread::current().id() == self.thread {
            self.inspect();
        }
        Timestamp(self.time.fetch_add(1, Ordering::Relaxed))
    }
}

impl Inspector {
    fn inspect(&self) {
        let Some(engine) = self.engine.get() else { return };
        for header in self.journal.list(&TaskQuery::default()).expect("the journal reads") {
            // A task about to resume has already applied facts that are not yet written.
            if matches!(header.state, TaskState::Ended(_)) {
                continue;
            }
            let Some(follower) = engine.present.find(header.task_id).and_then(|found| found.sink.follower()) else {
                continue;
            };
            let live = follower.as_any().downcast_ref::<LiveRecord>().expect("the record");
            live.assert_is(&read(self.journal.as_ref(), header.task_id).expect("the journal reads"));
            self.n_compared.fetch_add(1, Ordering::Relaxed);
        }
    }
}

struct World {
    engine: Engine,
    journal: Arc<MemoryJournal>,
    inspector: Arc<Inspector>,
    _home: TempDir,
}

fn world(model: ScriptedModel, terms: Terms) -> World {
    let home = tempfile::tempdir().expect("a directory");
    fs::create_dir(home.path().join("workspace")).expect("a fresh directory");
    for page in 0..40 {
        let text = "A line of a page that somebody wants to have read.\n".repeat(60);
        fs::write(home.path().join(format!("workspace/{page}.txt")), text).expect("a fresh file");
    }
    let journal = Arc::new(MemoryJournal::new());
    let inspector = Arc::new(Inspector {
        journal: Arc::clone(&journal),
        engine: OnceLock::new(),
        thread: thread::current().id(),
        time: AtomicU64::new(1),
        n_compared: AtomicUsize::new(0),
    });
    let engine = Engine::new(EngineParts {
        journal: Arc::clone(&journal) as Arc<dyn Journal>,
        models: Arc::new(ScriptedModels::of(Arc::new(model)).on_terms(terms)),
        workspace: Arc::new(Workspace::open(&home.path().join("workspace")).expect("the workspace is there")),
        agents: Registry::builtin().fixed(),
        contract: Arc::new(Sortie),
        more_tools: Vec::new(),
        remote_tools: Arc::new(NoRemoteTools),
        shell: None,
        reports: reports(home.path()),
        cache: None,
        hooks: Arc::new(NoHooks),
        rules: EngineSettings::default(),
        permissions: Permissions::unrestricted(),
        clock: Arc::clone(&inspector) as Arc<dyn Clock>,
        ids: Arc::new(RandomIds),
    });
    inspector.engine.set(Arc::clone(&engine.state)).ok().expect("once");
    World { engine, journal, inspector, _home: home }
}

fn reports(home: &Path) -> Arc<SpillDir> {
    Arc::new(SpillDir::open(&home.join("reports")).expect("a directory"))
}

fn ask() -> TaskRequest {
    TaskRequest {
        title: "a question".to_owned(),
        prompt: "MAIN".to_owned(),
        agent: "main".to_owned(),
        ..TaskRequest::default()
    }
}

impl World {
    async fn run(&self, request: TaskRequest) -> TaskOutcome {
        let running = self.engine.run(request).await.expect("it starts");
        running.outcome().await.expect("the journal works")
    }

    async fn go_on(&self, task: TaskId, prompt: &str) -> TaskOutcome {
        let resumption = Resumption { prompt: Some(prompt.to_owned()), ..Resumption::default() };
        let running = self.engine.resume(task, resumption).await.expect("it resumes");
        running.outcome().await.expect("the journal works")
    }

    /// Compares the outcome of each leg with the log before it.
    fn check_outcomes(&self) {
        let mut n_outcomes = 0;
        for header in self.journal.list(&TaskQuery::default()).expect("the journal reads") {
            let events = self.journal.read(header.task_id).expect("the journal reads");
            for (at, event) in events.iter().enumerate() {
                if let Fact::TaskEnded { outcome } = &event.fact {
                    assert_eq!(self.outcome_of(&events[..at]), timeless(outcome));
                    n_outcomes += 1;
                }
            }
        }
        let n_compared = self.inspector.n_compared.load(Ordering::Relaxed);
        assert!(n_outcomes > 0 && n_compared > 5, "{n_compared} looks at {n_outcomes} legs");
    }

    /// Returns the outcome that these events lead to.
    fn outcome_of(&self, events: &[Event]) -> TaskOutcome {
        let mut events = events.iter().cloned();
        let mut record = TaskRecord::of(events.next().expect("the first"), &[]).expect("a beginning");
        events.for_each(|event| record.replay(event));
        let mut so_far = record.totals.footprint();
        for child in &record.totals.children {
            so_far += footprint_so_far(self.journal.as_ref(), *child).expect("the journal reads");
        }
        let account = Account::restored(Limits::default(), so_far, None);
        let cut_by = record.totals.has_cut_answer.then_some(Limit::Output);
        let ending = match (record.limit, &record.last_word) {
            (Some(limit), _) => Ending::limited(limit, record.history.last_text()),
            (None, Some(reply)) => final_answer(&record, reply, cut_by),
            (None, None) => Ending::Cancelled { text: record.history.last_text() },
        };
        timeless(&ending.outcome(&record, Unrecorded::start(&account, record.worked.known())))
    }
}

/// Returns an outcome without its duration.
fn timeless(outcome: &TaskOutcome) -> TaskOutcome {
    TaskOutcome { usage: Usage { duration_ms: 0, ..outcome.usage }, ..outcome.clone() }
}

fn delegation(prompt: &str, in_background: bool) -> sortie_testkit::ScriptedPart {
    let wish = json!({
        "description": "Part", "prompt": prompt, "subagent_type": "explore", "run_in_background": in_background,
    });
    reply::call("Task", wish)
}

#[tokio::test(start_paused = true)]
async fn the_live_record_of_tools_children_and_mail_equals_the_log() {
    let read = |page: &str| reply::call("Read", json!({"file_path": page}));
    let first = [delegation("FIRST", true), delegation("SECOND", false), read("1.txt"), read("none.txt")];
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls(first))
        .on(when::prompt_contains("MAIN").turn(1), reply::calls([read("2.txt")]).after_ms(30))
        .on(when::prompt_contains("MAIN").turn(2), reply::text("It is on its way."))
        .on(when::prompt_contains("MAIN"), reply::text("All of it."))
        .on(when::prompt_contains("FIRST").turn(0), reply::calls([read("3.txt")]).after_ms(200))
        .otherwise(reply::text("Here is the place.").after_ms(20));
    let world = world(ScriptedModel::new(script), Terms::default());
    let running = world.engine.run(ask()).await.expect("it starts");
    let task = running.task;
    let writes = async {
        for number in 1..4 {
            // Sleeps on purpose: the clock is paused, and messages come while the task works.
            tokio::time::sleep(std::time::Duration::from_millis(15)).await;
            let Some(running_task) = world.engine.state.present.find(task) else { return };
            let message = (Sender::Person, format!("Word {number}."));
            running_task
                .write(message.0, message.1, ArrivedBy::Command(CommandId(number)))
                .await
                .expect("the journal works");
        }
    };
    let (outcome, ()) = tokio::join!(running.outcome(), writes);
    assert_eq!(outcome.expect("the journal works").status, Status::Completed);
    let events = world.journal.read(task).expect("the journal reads");
    let is_mail = |event: &&Event| matches!(event.fact, Fact::MailRead { .. } | Fact::ChildEnded { .. });
    assert!(events.iter().filter(is_mail).count() >= 4, "{events:?}");
    world.check_outcomes();
    assert_eq!(world.go_on(task, "And now?").await.text, "All of it.");
    world.check_outcomes();
}

/// Reads one page after the other, for so many turns.
fn reads(request: &ModelRequest<'_>, n_pages: usize) -> sortie_testkit::ScriptedReply {
    let said =
        |text: &str| matches!(request.messages.last(), Some(Message::User { text: last }) if last.contains(text));
    let page = request.messages.iter().rev().find_map(|message| match message {
        Message::Assistant { parts } => {
            serde_json::to_string(parts).ok()?.split(".txt").next()?.rsplit('"').next()?.parse().ok()
        }
        Message::User { .. } | Message::Outputs { .. } => None,
    });
    let next = page.map_or(0, |page: usize| page + 1);
    if said("Sum up this conversation") {
        return reply::text("The pages so far say the same.");
    }
    if next >= n_pages || said("You have reached a limit") {
        return reply::text("All pages say the same.");
    }
    reply::calls([reply::call("Read", json!({"file_path": format!("{next}.txt")}))])
}

#[tokio::test(start_paused = true)]
async fn the_live_record_of_a_limit_and_the_next_leg_equals_the_log() {
    let world = world(ScriptedModel::answering(|request| reads(request, 9)), Terms::default());
    let limits = Limits { max_turns: Some(3), ..Limits::default() };
    let outcome = world.run(TaskRequest { limits, ..ask() }).await;
    assert_eq!((outcome.status, outcome.reason), (Status::Partial, Some(Limit::Turns)));
    world.check_outcomes();
    world.go_on(outcome.task_id, "Read on.").await;
    world.check_outcomes();
}

#[tokio::test(start_paused = true)]
async fn a_compacted_live_record_equals_the_log() {
    let terms = Terms { window: Some(16_000), ..Terms::default() };
    let world = world(ScriptedModel::answering(|request| reads(request, 30)), terms);
    let outcome = world.run(ask()).await;
    let events = world.journal.read(outcome.task_id).expect("the journal reads");
    let is_compacted = |event: &&Event| matches!(event.fact, Fact::Compacted { .. });
    assert!(events.iter().any(|event| is_compacted(&event)), "{outcome:?}");
    world.check_outcomes();
}

#[tokio::test(start_paused = true)]
async fn the_live_record_of_structured_answers_equals_the_log() {
    let script = Script::new()
        .on(when::turn(0), reply::text("In line 3."))
        .on(when::turn(1), reply::text("Once more: line 3."))
        .otherwise(reply::text("{\"line\": 3}"));
    let world = world(ScriptedModel::new(script), Terms::default());
    let schema = json!({"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]});
    let outcome = world.run(TaskRequest { output_schema: Some(schema), ..ask() }).await;
    assert_eq!((outcome.status, outcome.structured.clone()), (Status::Completed, Some(json!({"line": 3}))));
    world.check_outcomes();
}

#[tokio::test(start_paused = true)]
async fn the_live_record_of_a_fork_equals_the_log() {
    let read = |page: &str| reply::calls([reply::call("Read", json!({"file_path": page}))]);
    let fork = json!({"description": "Part", "prompt": "FORKED", "fork": true});
    let nested = json!({"description": "Part", "prompt": "NESTED", "fork": 1, "subagent_type": "explore"});
    let script = Script::new()
        .on(when::last_contains("NESTED"), read("2.txt").after_ms(20))
        .on(when::last_contains("FORKED"), reply::calls([reply::call("Task", nested)]).after_ms(20))
        .on(when::turn(0), read("1.txt"))
        .on(when::turn(1), reply::calls([reply::call("Task", fork)]))
        .otherwise(reply::text("Done.").after_ms(20));
    let world = world(ScriptedModel::new(script), Terms::default());
    let outcome = world.run(ask()).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "Done."));
    assert_eq!(world.journal.tree(outcome.task_id).expect("the journal reads").len(), 3);
    world.check_outcomes();
}
