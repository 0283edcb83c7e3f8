//! At every step of a long history: a run killed there can be resumed, and a task stopped there ends once.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use sortie_agents::Registry;
use sortie_contract::Sortie;
use sortie_engine::{Engine, EngineParts, EngineSettings, Permissions, RandomIds, Resumption, SystemClock};
use sortie_journal::{Entry, Journal, Position, Scope, TaskQuery, TaskState};
use sortie_llm::ModelRequest;
use sortie_protocol::{Event, Fact, FailureCode, Message, Status, TaskId, TaskOutcome};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::checker::{Evidence, Stage, TaskLog, check};
use sortie_testkit::{ScriptedModel, ScriptedModels, ScriptedPart, ScriptedReply, reply};
use tempfile::TempDir;

use crate::relic::Relic;
use crate::support::ask;

/// Amount of work: by each child, and by the main agent itself.
#[derive(Clone, Copy)]
struct Work {
    children: usize,
    turns_of_children: usize,
    own_turns: usize,
}

const MAIN: &str = "MAIN";
const REPORT: &str = "This is the report of";

/// The main agent has children work, then works itself; all of them read, list and write.
fn answer(request: &ModelRequest<'_>, work: Work) -> ScriptedReply {
    let turn = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
    let Some(Message::User { text: who }) = request.messages.first() else { panic!("nobody was asked") };
    let n_turns = if who == MAIN { 1 + work.own_turns } else { work.turns_of_children };
    if turn >= n_turns {
        reply::text(format!("{REPORT} {who}."))
    } else if who == MAIN && turn == 0 {
        reply::calls((0..work.children).map(delegation))
    } else {
        reply::calls(deeds(who, turn))
    }
}

fn delegation(child: usize) -> ScriptedPart {
    let prompt = format!("CHILD {child:02}");
    reply::call("Task", json!({"description": "Part", "prompt": prompt, "subagent_type": "general-purpose"}))
}

/// Some change something: writing takes a while, so not all do.
fn deeds(who: &str, turn: usize) -> [ScriptedPart; 3] {
    let made = format!("made/{}-{turn}.txt", who.replace(' ', "-"));
    let second = match turn % 10 {
        1 => reply::call("Write", json!({"file_path": made, "content": format!("by {who}, turn {turn}\n")})),
        _ => reply::call("Glob", json!({"pattern": format!("*{turn}.txt")})),
    };
    [reply::call("Read", json!({"file_path": "notes.txt"})), second, reply::call("LS", json!({"path": "made"}))]
}

/// A workspace and an engine over it, as a new process has them.
pub(crate) struct Place {
    home: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { home: tempfile::tempdir().expect("a temp directory") };
        place.clear();
        place
    }

    fn workspace(&self) -> PathBuf {
        self.home.path().join("workspace")
    }

    /// Resets it to its state before any work.
    fn clear(&self) {
        fs::remove_dir_all(self.workspace()).ok();
        fs::create_dir_all(self.workspace().join("made")).expect("a fresh directory");
        fs::write(self.workspace().join("notes.txt"), "a line to be read\n").expect("a fresh file");
    }

    fn engine(&self, journal: Arc<Relic>, work: Work, max_concurrent: usize) -> Engine {
        let model = ScriptedModel::answering(move |request| answer(request, work)).without_recording();
        self.engine_with(journal, Arc::new(model), EngineSettings { max_concurrent, ..EngineSettings::default() })
    }

    pub(crate) fn engine_with(&self, journal: Arc<Relic>, model: Arc<ScriptedModel>, rules: EngineSettings) -> Engine {
        Engine::new(EngineParts {
            journal,
            models: Arc::new(ScriptedModels::of(model)),
            workspace: Arc::new(Workspace::open(&self.workspace()).expect("the workspace is there")),
            agents: Registry::builtin().fixed(),
            contract: Arc::new(Sortie),
            more_tools: Vec::new(),
            remote_tools: Arc::new(sortie_engine::NoRemoteTools),
            shell: None,
            reports: Arc::new(SpillDir::open(&self.home.path().join("reports")).expect("a directory")),
            cache: None,
            hooks: Arc::new(sortie_engine::NoHooks),
            rules,
            permissions: Permissions::unrestricted(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        })
    }
}

async fn run(engine: &Engine) -> TaskOutcome {
    engine.run(ask(MAIN)).await.expect("it starts").outcome().await.expect("the journal works")
}

/// Returns the contents of journal and workspace, after the events shown before the kill.
fn evidence(journal: &Relic, workspace: &Path, shown: Vec<Event>) -> Evidence {
    let headers = journal.list(&TaskQuery::default()).expect("the journal reads");
    let log = |task: TaskId| journal.read(task).expect("the task is there");
    let tasks = headers.iter().rev().map(|header| TaskLog { state: header.state, events: log(header.task_id) });
    let made = fs::read_dir(workspace.join("made")).expect("the directory is there").flatten();
    let files = made.map(|entry| {
        let text = fs::read_to_string(entry.path()).expect("a text");
        (format!("made/{}", entry.file_name().display()), text)
    });
    Evidence { tasks: tasks.collect(), files: files.collect(), shown, ..Evidence::default() }
}

/// Writes the files of all calls that are recorded as done.
fn restore(workspace: &Path, appends: &[Vec<Entry>]) {
    let mut asked: HashMap<(TaskId, String), Value> = HashMap::new();
    for Entry { task_id, fact, .. } in appends.iter().flatten() {
        match fact {
            Fact::CallStarted { call, .. } if call.tool == "Write" => {
                let arguments = serde_json::from_str(&call.arguments).expect("an object");
                asked.insert((*task_id, call.id.0.clone()), arguments);
            }
            Fact::CallFinished { output, .. } => {
                let Some(arguments) = asked.get(&(*task_id, output.call.0.clone())) else { continue };
                let text = |field: &str| arguments[field].as_str().expect("a text").to_owned();
                fs::write(workspace.join(text("file_path")), text("content")).expect("it can be written");
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_run_killed_at_any_step_of_a_long_history_can_be_resumed() {
    let work = Work { children: 10, turns_of_children: 4, own_turns: 20 };
    let (place, journal) = (Place::new(), Arc::new(Relic::default()));
    let whole = run(&place.engine(Arc::clone(&journal), work, 20)).await;
    let appends = journal.appends();
    let n_events: usize = appends.iter().map(Vec::len).sum();
    assert!(whole.status == Status::Completed && n_events >= 500, "{n_events} events: {whole:?}");

    for n_left in 0..=appends.len() {
        place.clear();
        restore(&place.workspace(), &appends[..n_left]);
        let journal = Arc::new(Relic::of(&appends[..n_left]).await);
        let left = journal.read_after(Scope::All, Position(0), usize::MAX).expect("the journal reads");
        let left: Vec<Event> = left.into_iter().map(|(_, event)| event).collect();
        let engine = place.engine(Arc::clone(&journal), work, 20);
        let resumed = engine.resume(whole.task_id, Resumption::default()).await;
        // Nothing had begun, or all of it had ended.
        if n_left == 0 || n_left == appends.len() {
            let code = resumed.err().map(|failure| failure.code);
            let expected = if n_left == 0 { "no_such_task" } else { "prompt_missing" };
            assert_eq!(code.as_ref().map(FailureCode::as_str), Some(expected));
            assert!(journal.appends().is_empty(), "and nothing was changed");
            continue;
        }
        let outcome = resumed.expect("it resumes").outcome().await.expect("the journal works");
        // The model refuses every history that a provider would refuse.
        let (status, text) = (outcome.status, outcome.text.as_str());
        assert_eq!((status, text), (Status::Completed, "This is the report of MAIN."), "after {n_left}");
        assert_eq!(outcome.usage.turns, whole.usage.turns, "after {n_left}: no recorded turn is taken again");
        let findings = check(&evidence(&journal, &place.workspace(), left), Stage::Ended);
        assert_eq!(findings.breaches, [""; 0], "after {n_left} of {} appends", appends.len());
    }
}

/// Number of endings of each task.
fn endings(journal: &Relic) -> HashMap<TaskId, usize> {
    let mut endings = HashMap::new();
    for Entry { task_id, fact, .. } in journal.appends().into_iter().flatten() {
        match fact {
            Fact::TaskStarted { .. } => drop(endings.insert(task_id, 0)),
            Fact::TaskEnded { .. } => *endings.entry(task_id).or_default() += 1,
            _ => {}
        }
    }
    endings
}

#[tokio::test]
async fn a_task_stopped_at_any_step_ends_once_with_its_descendants() {
    // One works, and the others wait for their turn.
    let (work, max_concurrent) = (Work { children: 3, turns_of_children: 2, own_turns: 1 }, 1);
    let place = Place::new();
    let whole = Arc::new(Relic::default());
    assert_eq!(run(&place.engine(Arc::clone(&whole), work, max_concurrent)).await.status, Status::Completed);
    let n_appends = whole.appends().len();

    // The first append is the start, before which there is nothing to stop.
    for stopped_at in 1..n_appends {
        place.clear();
        let engine: Arc<OnceLock<Engine>> = Arc::default();
        let root: Arc<OnceLock<TaskId>> = Arc::default();
        let (in_there, its_root) = (Arc::downgrade(&engine), Arc::clone(&root));
        let journal = Arc::new(Relic::watched(move |n_before| {
            if n_before == stopped_at
                && let (Some(there), Some(&root)) = (in_there.upgrade(), its_root.get())
                && let Some(engine) = there.get()
            {
                assert!(engine.stop(root) && engine.stop(root), "it runs, and twice does no harm");
            }
        }));
        let engine = engine.get_or_init(|| place.engine(Arc::clone(&journal), work, max_concurrent));
        let running = engine.run(ask(MAIN)).await.expect("it starts");
        root.set(running.task).expect("once");
        let task = running.task;
        let outcome = running.outcome().await.expect("the journal works");
        // A task after its last reply ends as it would have.
        let is_late = stopped_at + 2 >= n_appends;
        assert!(outcome.status == Status::Cancelled || is_late, "at {stopped_at} of {n_appends}: {outcome:?}");
        assert!(!engine.stop(task), "it has ended");
        let tree = journal.tree(task).expect("the task is there");
        let open: Vec<_> = tree.iter().filter(|header| !matches!(header.state, TaskState::Ended(_))).collect();
        assert!(open.is_empty(), "at {stopped_at} of {n_appends}: {open:?}");
        assert!(endings(&journal).values().all(|&n| n == 1), "at {stopped_at}: {:?}", endings(&journal));
        assert_eq!(journal.ending(task).expect("the journal reads"), Some(outcome), "what is told is what is kept");
    }
}
