//! A small world for one engine: a temp workspace, a scripted model, a journal in memory, fixed ids and time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use serde_json::json;
use sortie_agents::{Agents, Dialect, Registry};
use sortie_contract::{Contract, Sortie};
use sortie_engine::{
    AgentFolders, Clock, Engine, EngineParts, EngineSettings, Folder, Holds, Hooks, Ids, NoHooks, NoRemoteTools,
    Permissions, RemoteTools, ResultCache, Running, tool_names,
};
use sortie_journal::{Journal, MemoryJournal, Position, Scope};
use sortie_llm::{Models, Terms};
use sortie_protocol::{Event, TaskId, TaskOutcome, TaskRequest, Timestamp};
use sortie_sandbox::process::{Environment, Program};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::{Script, ScriptedModel, ScriptedModels, Seen, render, reply, when};
use sortie_tools::{ShellSetup, Tool};
use tempfile::TempDir;

/// Time advances by one millisecond whenever someone looks.
struct StepClock(AtomicU64);

impl Clock for StepClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// `agent-aaaaaaaaaaaa`, `agent-bbbbbbbbbbbb`, and so on.
#[derive(Default)]
struct CountingIds(AtomicU8);

impl Ids for CountingIds {
    fn task(&self) -> TaskId {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        let mut letters = [0; 12];
        letters[10] = count / 26;
        letters[11] = count % 26;
        TaskId::from_random(letters)
    }

    fn mark(&self) -> String {
        "mark".to_owned()
    }
}

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) journal: Arc<MemoryJournal>,
    pub(crate) home: Arc<TempDir>,
}

pub(crate) struct Plan {
    pub(crate) files: Vec<(String, String)>,
    pub(crate) model: ScriptedModel,
    pub(crate) rules: EngineSettings,
    pub(crate) more_tools: Vec<Arc<dyn Tool>>,
    pub(crate) remote_tools: Arc<dyn RemoteTools>,
    /// True if the agents of the workspace's folders exist as well as the built-in ones.
    pub(crate) agent_files: bool,
    pub(crate) models: Option<Arc<dyn Models>>,
    pub(crate) contract: Arc<dyn Contract>,
    pub(crate) permissions: Permissions,
    pub(crate) hooks: Arc<dyn Hooks>,
    /// Directories that are added to the workspace.
    pub(crate) added: Vec<PathBuf>,
    /// First time on the clock.
    pub(crate) now: Timestamp,
    /// Terms of every model.
    pub(crate) terms: Terms,
    /// Number of ids given out before.
    pub(crate) ids_before: u8,
    /// True if the tools for commands are offered. None can be run.
    pub(crate) has_shell: bool,
    /// True if results are reused.
    pub(crate) keeps_results: bool,
}

impl Plan {
    pub(crate) fn of(model: ScriptedModel) -> Self {
        Self {
            files: Vec::new(),
            model,
            rules: EngineSettings::default(),
            more_tools: Vec::new(),
            remote_tools: Arc::new(NoRemoteTools),
            agent_files: false,
            models: None,
            contract: Arc::new(Sortie),
            permissions: Permissions::unrestricted(),
            hooks: Arc::new(NoHooks),
            added: Vec::new(),
            now: Timestamp(0),
            terms: Terms::default(),
            ids_before: 0,
            has_shell: false,
            keeps_results: false,
        }
    }

    pub(crate) fn script(script: Script) -> Self {
        Self::of(ScriptedModel::new(script))
    }

    pub(crate) fn files<T: AsRef<str>>(self, files: &[(T, T)]) -> Self {
        let owned = |(path, text): &(T, T)| (path.as_ref().to_owned(), text.as_ref().to_owned());
        Self { files: files.iter().map(owned).collect(), ..self }
    }

    pub(crate) fn rules(self, rules: EngineSettings) -> Self {
        Self { rules, ..self }
    }

    pub(crate) fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.more_tools.push(Arc::new(tool));
        self
    }

    pub(crate) fn permissions(self, permissions: Permissions) -> Self {
        Self { permissions, ..self }
    }

    /// Uses another contract, with its own rules.
    pub(crate) fn contract(self, name: &str) -> Self {
        let contract = sortie_contract::contract(name).expect("a known contract");
        Self { rules: EngineSettings::of(contract.as_ref()), contract, ..self }
    }

    /// Adds the agents of the workspace's own folders, none of them trusted.
    pub(crate) fn agent_files(self) -> Self {
        Self { agent_files: true, ..self }
    }

    /// Builds over the test's own models; the script is then never asked.
    pub(crate) fn build_with(self, models: Arc<dyn Models>) -> World {
        Self { models: Some(models), ..self }.build()
    }

    pub(crate) fn build(self) -> World {
        let home = tempfile::tempdir().expect("a temp directory");
        let root = home.path().join("workspace");
        std::fs::create_dir(&root).expect("a fresh directory");
        for (name, text) in &self.files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("inside the workspace")).expect("a fresh directory");
            std::fs::write(path, text).expect("a fresh file");
        }
        self.build_in(Arc::new(home), Arc::new(MemoryJournal::new()))
    }

    /// Builds another engine over the workspace and the journal of a world, as a later process has it. It brings no
    /// files.
    pub(crate) fn build_over(self, world: &World) -> World {
        self.build_in(Arc::clone(&world.home), Arc::clone(&world.journal))
    }

    fn build_in(self, home: Arc<TempDir>, journal: Arc<MemoryJournal>) -> World {
        let (engine, model) = self.engine(home.path(), Arc::clone(&journal) as Arc<dyn Journal>);
        World { engine, model, journal, home }
    }

    /// Returns an engine over the workspace in a directory and over any journal.
    pub(crate) fn engine(self, home: &Path, journal: Arc<dyn Journal>) -> (Engine, Arc<ScriptedModel>) {
        let model = Arc::new(self.model);
        let known = ["light", "haiku", "sonnet"];
        let scripted =
            known.iter().fold(ScriptedModels::of(Arc::clone(&model)), |models, id| models.also_known_as(*id));
        let models = self.models.unwrap_or_else(|| Arc::new(scripted.on_terms(self.terms)));
        let workspace = Workspace::open(&home.join("workspace")).expect("the workspace is there");
        let workspace = Arc::new(workspace.with_directories(&self.added).expect("the directories are there"));
        let contract = self.contract;
        let agents = if self.agent_files { folders(&workspace) } else { Registry::builtin().fixed() };
        let reports = Arc::new(SpillDir::open(&home.join("reports")).expect("a directory"));
        let shell = self.has_shell.then(|| {
            let (program, environment) = (Program::at("sortie".into()), Environment::scrubbed([], &[]));
            Arc::new(ShellSetup::new(program, environment, Arc::clone(&reports)))
        });
        let engine = Engine::new(EngineParts {
            journal,
            models,
            workspace,
            agents,
            contract,
            more_tools: self.more_tools,
            remote_tools: self.remote_tools,
            shell,
            reports,
            cache: self
                .keeps_results
                .then(|| Arc::new(ResultCache::new(SpillDir::open(&home.join("cache")).expect("a directory")))),
            hooks: self.hooks,
            rules: self.rules,
            permissions: self.permissions,
            clock: Arc::new(StepClock(AtomicU64::new(self.now.0))),
            ids: Arc::new(CountingIds(AtomicU8::new(self.ids_before))),
        });
        (engine, model)
    }
}

/// The folders of a workspace, as the command line knows them.
pub(crate) fn folders(workspace: &Arc<Workspace>) -> Arc<dyn Agents> {
    let folder = |path: &str, holds: Holds| Folder {
        within: Arc::clone(workspace),
        path: path.to_owned(),
        scope: sortie_agents::Scope::Project,
        holds,
    };
    let all = vec![
        folder(".sortie/agents", Holds::Agents(Dialect::Ours)),
        folder(".claude/agents", Holds::Agents(Dialect::Foreign)),
        folder(".sortie/prompts", Holds::Prompts),
        folder(".sortie/templates", Holds::Templates),
    ];
    Arc::new(AgentFolders::new(all, Arc::new(|_, _| false), tool_names()))
}

/// By default, lists something else in each turn, as long as it can.
pub(crate) fn restless(script: Script) -> Script {
    (0..200_u32).fold(script, |script, turn| {
        script.on(when::turn(turn), reply::calls([reply::call("LS", json!({"path": turn.to_string()}))]))
    })
}

/// A person's request to the main agent.
pub(crate) fn ask(prompt: &str) -> TaskRequest {
    TaskRequest {
        title: "a question".to_owned(),
        prompt: prompt.to_owned(),
        agent: "main".to_owned(),
        ..TaskRequest::default()
    }
}

impl World {
    pub(crate) async fn start(&self, request: TaskRequest) -> Running {
        self.engine.run(request).await.expect("the request can be started")
    }

    pub(crate) async fn run(&self, request: TaskRequest) -> TaskOutcome {
        self.start(request).await.outcome().await.expect("the journal works")
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        let events = self.journal.read_after(Scope::All, Position::default(), usize::MAX).expect("the journal reads");
        events.into_iter().map(|(_, event)| event).collect()
    }

    /// The facts as one line each, without the working time of sub-agents, which varies on a busy machine.
    pub(crate) fn transcript(&self) -> String {
        let text = render(&self.events()).replace(&self.home.path().display().to_string(), "<home>");
        let pieces: Vec<&str> = text.split(" tokens, ").collect();
        let timeless = |piece: &&str| piece.split_once(" s\\n").map(|(_, rest)| format!("… s\\n{rest}"));
        let rest = pieces.iter().skip(1).map(|piece| timeless(piece).unwrap_or_else(|| (*piece).to_owned()));
        let all: Vec<String> = pieces.iter().take(1).map(|piece| (*piece).to_owned()).chain(rest).collect();
        all.join(" tokens, ")
    }

    /// The requests whose brief contains `text`, in order.
    pub(crate) fn seen_by(&self, text: &str) -> Vec<Seen> {
        let first_user = |seen: &Seen| format!("{:?}", seen.messages.first());
        self.model.seen().into_iter().filter(|seen| first_user(seen).contains(text)).collect()
    }
}
