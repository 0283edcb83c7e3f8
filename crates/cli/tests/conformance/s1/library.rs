//! Library interface for hosts that delegate themselves, and its observers.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::json;
use sortie_agents::{Dialect, Scope};
use sortie_engine::{
    AgentFolders, Engine, EngineParts, EngineSettings, Folder, Holds, Parameters, Permissions, RandomIds,
    SubagentObserver, SubagentStatus, Subagents, SystemClock, tool_names,
};
use sortie_journal::{Journal, MemoryJournal, Position, Scope as JournalScope};
use sortie_protocol::{Message, TaskId, TaskRequest};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::{Script, ScriptedModel, ScriptedModels, reply, when};

use super::{REVIEWER, task, with_agents};
use crate::world::{DONE, QUESTION, World, main_agent_calls};

/// Engine in the contract `result` over the agents of a world.
struct Library {
    engine: Engine,
    subagents: Subagents,
    journal: Arc<MemoryJournal>,
    /// Keeps its folders alive.
    _world: World,
}

impl Library {
    fn over(script: Script) -> Self {
        let world = with_agents();
        let user = Arc::new(Workspace::open(&world.path("home/.config/sortie")).unwrap());
        let holds = Holds::Agents(Dialect::Ours);
        let folder = Folder { within: user, path: "agents".to_owned(), scope: Scope::User, holds };
        let contract = sortie_contract::contract("result").unwrap();
        let journal = Arc::new(MemoryJournal::new());
        let engine = Engine::new(EngineParts {
            journal: Arc::clone(&journal) as Arc<dyn Journal>,
            models: Arc::new(ScriptedModels::of(Arc::new(ScriptedModel::new(script)))),
            workspace: Arc::new(Workspace::open(&world.path("workspace")).unwrap()),
            agents: Arc::new(AgentFolders::new(vec![folder], Arc::new(|_, _| true), tool_names())),
            rules: EngineSettings::of(contract.as_ref()),
            contract,
            more_tools: Vec::new(),
            remote_tools: Arc::new(sortie_engine::NoRemoteTools),
            shell: None,
            reports: Arc::new(SpillDir::open(&world.path("state/reports")).unwrap()),
            cache: None,
            hooks: Arc::new(sortie_engine::NoHooks),
            permissions: Permissions::default(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        });
        Self { subagents: Subagents::of(engine.clone()), engine, journal, _world: world }
    }

    /// Asks a main agent, and waits for its answer.
    async fn ask(&self) {
        let agent = "main".to_owned();
        let request = TaskRequest {
            title: "a question".to_owned(),
            prompt: QUESTION.to_owned(),
            agent,
            ..TaskRequest::default()
        };
        let outcome = self.engine.run(request).await.unwrap().outcome().await.unwrap();
        assert_eq!(outcome.text, DONE);
    }

    /// Kinds of all facts about sub-agents, in order.
    fn facts(&self) -> Vec<&'static str> {
        let events = self.journal.read_after(JournalScope::All, Position::default(), usize::MAX).unwrap();
        events.into_iter().filter(|(_, event)| event.depth == 1).map(|(_, event)| event.fact.kind()).collect()
    }
}

fn parameters(agent: &str, prompt: &str) -> Parameters {
    Parameters { description: "Review the code".to_owned(), prompt: prompt.to_owned(), subagent_type: agent.to_owned() }
}

/// Reviewer that looks once and ends.
fn reviewer() -> Script {
    main_agent_calls([task(REVIEWER, "CHILD reviews")])
        .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]))
        .otherwise(reply::text("One bug."))
}

/// Observer that records everything.
#[derive(Default)]
struct Notebook {
    added: Vec<(TaskId, Parameters)>,
    updated: Vec<(TaskId, usize, SubagentStatus)>,
    /// First event of each sub-agent.
    first: Vec<&'static str>,
}

impl SubagentObserver for Notebook {
    fn on_added(&mut self, id: TaskId, parameters: &Parameters) {
        self.first.push("added");
        self.added.push((id, parameters.clone()));
    }

    fn on_updated(&mut self, id: TaskId, messages: &[Message], status: SubagentStatus) {
        self.first.push("updated");
        self.updated.push((id, messages.len(), status));
    }
}

#[tokio::test]
async fn s1_28_configurations_are_loaded_found_matched_made_into_instances_and_executed() {
    let library = Library::over(Script::always(reply::text("One bug.")));
    let subagents = &library.subagents;
    let names: Vec<String> = subagents.load().agents.into_iter().map(|agent| agent.name).collect();
    assert_eq!(names, ["code-reviewer", "documentation-writer", "test-generator"]);
    assert!(subagents.find("nobody").is_none());
    assert!(subagents.best_match("xyzzy plugh").is_none());
    let found = subagents.find(REVIEWER).unwrap();
    assert_eq!(subagents.best_match("review typescript code"), Some(found.clone()));
    let instance = subagents.create(&found, parameters(REVIEWER, "CHILD reviews")).await.unwrap();
    assert_eq!((instance.job().task, instance.job().prompt.as_str()), (instance.id(), "CHILD reviews"));
    assert_eq!(subagents.execute(instance, "CHILD reviews").await.unwrap(), "One bug.");
}

#[test]
fn s1_28_people_list_and_match_on_the_command_line() {
    let world = with_agents();
    let listed = world.sortie(["agents", "list"]).run().stdout;
    for name in [REVIEWER, "documentation-writer", "test-generator"] {
        assert!(listed.lines().any(|line| line.starts_with(name) && line.contains(" user ")), "{name}: {listed}");
    }
    let matched = world.sortie(["agents", "match", "review typescript code", "--output-format", "json"]).run();
    assert_eq!(matched.stdout_json()["best"], REVIEWER);
    assert_eq!(world.sortie(["agents", "match", "xyzzy plugh"]).run().code, 1);
}

#[tokio::test]
async fn k18_s1_29_s1_30_s1_31_s1_32_observers_hear_of_a_calls_start_and_every_message() {
    let library = Library::over(reviewer());
    let observation = library.subagents.observe(Notebook::default()).unwrap();
    library.ask().await;
    let heard = observation.finish().unwrap();
    assert_eq!(heard.panics, 0);
    let Notebook { added, updated, first } = heard.observer;
    let (id, told) = &added[0];
    assert_eq!((added.len(), told), (1, &parameters(REVIEWER, "CHILD reviews")));
    assert_eq!((first[0], first.iter().filter(|what| **what == "added").count()), ("added", 1));
    assert!(updated.iter().all(|(of, _, _)| of == id));
    // The brief, a reply with a call, its output and the last reply: each was reported, the last with the end.
    for messages in 1..=4 {
        assert!(updated.iter().any(|(_, count, _)| *count == messages), "{messages}: {updated:?}");
    }
    let (last, before) = updated.split_last().unwrap();
    assert_eq!((last.1, last.2), (4, SubagentStatus::Completed));
    assert!(before.iter().all(|(_, _, status)| *status == SubagentStatus::Active), "{updated:?}");
}

#[tokio::test]
async fn k18_s1_31_a_reported_message_is_recorded_before_the_first_request() {
    let library = Library::over(reviewer());
    library.ask().await;
    assert_eq!(library.facts()[..3], ["task_started", "task_admitted", "model_called"]);
}

#[tokio::test]
async fn s1_30_s1_32_a_sub_agent_that_breaks_is_reported_with_an_error() {
    let script = main_agent_calls([task(REVIEWER, "CHILD reviews")]).otherwise(reply::status(400));
    let library = Library::over(script);
    let observation = library.subagents.observe(Notebook::default()).unwrap();
    library.ask().await;
    let heard = observation.finish().unwrap().observer;
    assert_eq!(heard.updated.last().unwrap().2, SubagentStatus::Error);
}

/// Observer that panics at every event.
struct Panicking;

impl SubagentObserver for Panicking {
    fn on_added(&mut self, _id: TaskId, _parameters: &Parameters) {
        panic!("an observer that cannot take it");
    }

    fn on_updated(&mut self, _id: TaskId, _messages: &[Message], _status: SubagentStatus) {
        panic!("an observer that cannot take it");
    }
}

/// Observer that blocks in its first call until the test releases it.
struct Slow {
    entered: Sender<()>,
    go_on: Receiver<()>,
}

impl SubagentObserver for Slow {
    fn on_added(&mut self, _id: TaskId, _parameters: &Parameters) {
        self.entered.send(()).unwrap();
        self.go_on.recv().unwrap();
    }
}

/// Observer that wants no events.
struct Deaf;

impl SubagentObserver for Deaf {}

#[tokio::test]
async fn k18_s1_34_an_observer_that_panics_is_slow_or_absent_disturbs_nothing() {
    let library = Library::over(reviewer());
    let (entered, has_entered) = channel();
    let (let_go, go_on) = channel();
    let deaf = library.subagents.observe(Deaf).unwrap();
    let panicking = library.subagents.observe(Panicking).unwrap();
    let slow = library.subagents.observe(Slow { entered, go_on }).unwrap();
    let notebook = library.subagents.observe(Notebook::default()).unwrap();
    // The task ends although the slow observer is still at its first event.
    library.ask().await;
    has_entered.recv().unwrap();
    assert_eq!(notebook.finish().unwrap().observer.added.len(), 1);
    assert!(panicking.finish().unwrap().panics > 1);
    deaf.finish().unwrap();
    let_go.send(()).unwrap();
    slow.finish().unwrap();
}
