//! An engine with a scripted model, and servers for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sortie_agents::{Registry, ServerDefinition};
use sortie_contract::Sortie;
use sortie_engine::{
    Engine, EngineParts, EngineSettings, NoHooks, Permissions, RandomIds, RemoteTools as _, Running, SystemClock,
};
use sortie_journal::{Journal, MemoryJournal};
use sortie_mcp::{Chain, Connections, ServerGround, TokenStore};
use sortie_policy::Redactor;
use sortie_protocol::{Message, TaskOutcome, TaskRequest, ToolOutput};
use sortie_sandbox::process::Environment;
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::mcp_server::{self, ROLE};
use sortie_testkit::{Script, ScriptedModel, ScriptedModels, ScriptedPart, reply, when};
use tempfile::TempDir;

pub(super) const SERVER_TEST: &str = "client::the_server_that_tests_start_completes_the_handshake";

/// Definition that starts this server in a role, with extra keys.
pub(super) fn server_with(name: &str, role: &str, more: &Value) -> ServerDefinition {
    let program = std::env::current_exe().unwrap();
    let mut definition = json!({
        "command": program,
        "args": mcp_server::arguments(SERVER_TEST),
        "env": { ROLE: role },
    });
    for (key, value) in more.as_object().unwrap() {
        match (definition.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more.clone()),
            _ => definition[key] = value.clone(),
        }
    }
    // A busy machine may take its time to start a program.
    definition["start_timeout_seconds"] = more.get("start_timeout_seconds").cloned().unwrap_or(json!(60));
    ServerDefinition::read(name, &definition).unwrap().server
}

pub(super) fn server(name: &str, role: &str) -> ServerDefinition {
    server_with(name, role, &json!({}))
}

pub(super) struct World {
    pub(super) engine: Engine,
    pub(super) connections: Arc<Connections>,
    pub(super) model: Arc<ScriptedModel>,
    pub(super) home: TempDir,
}

impl World {
    pub(super) fn new(servers: Vec<ServerDefinition>, script: Script) -> Self {
        Self::permitted(servers, script, Permissions::unrestricted())
    }

    pub(super) fn permitted(servers: Vec<ServerDefinition>, script: Script, permissions: Permissions) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("workspace")).unwrap();
        Self::of(home, servers, script, permissions)
    }

    /// Another process with the home of an earlier one.
    pub(super) fn in_home(home: TempDir, servers: Vec<ServerDefinition>, script: Script) -> Self {
        Self::of(home, servers, script, Permissions::unrestricted())
    }

    fn of(home: TempDir, servers: Vec<ServerDefinition>, script: Script, permissions: Permissions) -> Self {
        let workspace = home.path().join("workspace");
        let connections = Arc::new(Connections::new(servers, ground(&home)));
        let model = Arc::new(ScriptedModel::new(script));
        let engine = Engine::new(EngineParts {
            journal: Arc::new(MemoryJournal::new()) as Arc<dyn Journal>,
            models: Arc::new(ScriptedModels::of(Arc::clone(&model))),
            workspace: Arc::new(Workspace::open(&workspace).unwrap()),
            agents: Registry::builtin().fixed(),
            contract: Arc::new(Sortie),
            more_tools: Vec::new(),
            remote_tools: Arc::clone(&connections) as _,
            shell: None,
            reports: Arc::new(SpillDir::open(&home.path().join("reports")).unwrap()),
            cache: None,
            hooks: Arc::new(NoHooks),
            rules: EngineSettings::of(&Sortie),
            permissions,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        });
        Self { engine, connections, model, home }
    }

    pub(super) async fn start(&self) -> Running {
        self.start_with("The question").await
    }

    pub(super) async fn start_with(&self, prompt: &str) -> Running {
        let request = TaskRequest {
            title: "a question".to_owned(),
            prompt: prompt.to_owned(),
            agent: "main".to_owned(),
            ..TaskRequest::default()
        };
        self.engine.run(request).await.unwrap()
    }

    pub(super) async fn run(&self) -> TaskOutcome {
        self.start().await.outcome().await.unwrap()
    }

    /// Outputs of the calls, a list per turn, as in the last request.
    pub(super) fn outputs(&self) -> Vec<ToolOutput> {
        let last = self.model.seen().pop().unwrap();
        let outputs = last.messages.into_iter().filter_map(|message| match message {
            Message::Outputs { outputs } => Some(outputs),
            _ => None,
        });
        outputs.flatten().map(|output| output.output).collect()
    }

    /// Names of the tools offered in the model's last request.
    pub(super) fn offered(&self) -> Vec<String> {
        let tools = self.model.seen().pop().unwrap().tools;
        tools.into_iter().filter(|name| name.starts_with("mcp__")).collect()
    }

    pub(super) async fn close(&self) {
        self.connections.close().await;
    }
}

pub(super) fn ground(home: &TempDir) -> ServerGround {
    let workspace = home.path().join("workspace").canonicalize().unwrap();
    let mut environment = Environment::default();
    environment.set("PATH", "/usr/bin:/bin");
    ServerGround {
        changeable: vec![workspace.clone()],
        workspace,
        environment,
        variables: Arc::new(|name| (name == "SECRET_KEY").then(|| "key-from-outside".to_owned())),
        logs: Some(logs(home)),
        sign_ins: TokenStore::new(home.path().join("mcp-auth")),
        // Longer than any test takes.
        rest: Duration::from_hours(1),
        grace: Duration::from_hours(1),
        chain: Chain::default(),
        redactor: Arc::new(Redactor::new(vec!["key-from-outside".to_owned()])),
    }
}

pub(super) fn logs(home: &TempDir) -> PathBuf {
    home.path().join("logs")
}

/// One call in each turn, then an end.
pub(super) fn one_after_the_other(calls: impl IntoIterator<Item = ScriptedPart>) -> Script {
    let mut script = Script::new();
    let mut turns = 0;
    for call in calls {
        script = script.on(when::turn(turns), reply::calls([call]));
        turns += 1;
    }
    script.on(when::turn(turns), reply::text("Done."))
}

/// Waits until another process has made this file.
pub(super) async fn appears(path: PathBuf) {
    while !path.exists() {
        // Sleeps on purpose: another process does not announce that it has written a file.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
