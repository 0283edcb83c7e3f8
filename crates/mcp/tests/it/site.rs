//! A small world for one server: a temporary workspace, a scripted model, an in-memory journal, and a protocol client
//! over an in-memory connection.

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{CallToolRequestParams, CallToolResult, ReadResourceRequestParams, ResourceContents};
use rmcp::service::{RoleClient, RunningService};
use rmcp::{ClientHandler, ServiceExt as _};
use serde_json::Value;
use sortie_agents::{Agents, Dialect, Scope};
use sortie_contract::{Contract, contract};
use sortie_engine::{
    AgentFolders, Engine, EngineParts, EngineSettings, Folder, Holds, NoHooks, NoRemoteTools, Permissions, RandomIds,
    SystemClock, tool_names,
};
use sortie_journal::{Journal, MemoryJournal};
use sortie_llm::Models;
use sortie_mcp::{Hosts, Office, OfficeParts, People, Server};
use sortie_protocol::GrantLayer;
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::{Script, ScriptedModel, ScriptedModels};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct Site {
    pub(crate) office: Arc<Office>,
    pub(crate) engine: Engine,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) journal: Arc<dyn Journal>,
    home: TempDir,
}

pub(crate) type Client<C> = RunningService<RoleClient, C>;

impl Site {
    pub(crate) fn new(script: Script, files: &[(&str, &str)]) -> Self {
        Self::speaking(contract("sortie").expect("our own"), script, files)
    }

    pub(crate) fn speaking(contract: Arc<dyn Contract>, script: Script, files: &[(&str, &str)]) -> Self {
        let model = Arc::new(ScriptedModel::new(script));
        let models = ScriptedModels::of(Arc::clone(&model)).also_known_as("light").also_known_as("haiku");
        Self { model, ..Self::with(Arc::new(models), None, contract, files, Permissions::unrestricted()) }
    }

    /// Builds a world in which these rules apply.
    pub(crate) fn under(layer: GrantLayer, contract: Arc<dyn Contract>, script: Script) -> Self {
        let model = Arc::new(ScriptedModel::new(script));
        let models = ScriptedModels::of(Arc::clone(&model)).also_known_as("light").also_known_as("haiku");
        let permissions = Permissions { layers: vec![layer], ..Permissions::unrestricted() };
        Self { model, ..Self::with(Arc::new(models), None, contract, &[], permissions) }
    }

    /// Builds a world with the models of hosts and those of the test; no script is ever asked.
    pub(crate) fn borrowing(models: Arc<dyn Models>, hosts: Hosts, files: &[(&str, &str)]) -> Self {
        Self::borrowing_in("sortie", models, hosts, files)
    }

    /// Builds such a world in this contract.
    pub(crate) fn borrowing_in(name: &str, models: Arc<dyn Models>, hosts: Hosts, files: &[(&str, &str)]) -> Self {
        let contract = contract(name).expect("one of ours");
        Self::with(models, Some(hosts), contract, files, Permissions::unrestricted())
    }

    fn with(
        models: Arc<dyn Models>,
        hosts: Option<Hosts>,
        contract: Arc<dyn Contract>,
        files: &[(&str, &str)],
        permissions: Permissions,
    ) -> Self {
        let people = People::default();
        let home = tempfile::tempdir().expect("a temp directory");
        std::fs::create_dir(home.path().join("workspace")).expect("a fresh directory");
        let root = home.path().join("workspace");
        for (path, text) in files {
            write(&home, path, text);
        }
        let workspace = Arc::new(Workspace::open(&root).expect("it is there"));
        let agents = folders(&workspace);
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        let engine = Engine::new(EngineParts {
            journal: Arc::clone(&journal),
            models,
            workspace: Arc::clone(&workspace),
            agents: Arc::clone(&agents),
            contract: Arc::clone(&contract),
            more_tools: Vec::new(),
            remote_tools: Arc::new(NoRemoteTools),
            shell: None,
            reports: Arc::new(SpillDir::open(&home.path().join("reports")).expect("a directory")),
            cache: None,
            hooks: Arc::new(NoHooks),
            rules: EngineSettings::of(contract.as_ref()),
            permissions: Permissions { approver: Arc::new(people.clone()), ..permissions },
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        });
        let office = Office::new(OfficeParts {
            engine: engine.clone(),
            journal: Arc::clone(&journal),
            agents,
            contract,
            workspace: workspace.root().display().to_string(),
            max_prompt_bytes: 1 << 20,
            hosts,
            background: None,
            is_nested: false,
            refusal: None,
            notices: Vec::new(),
            people,
            version: "0.0.0".to_owned(),
        });
        Self { office, engine, model: Arc::new(ScriptedModel::new(Script::new())), journal, home }
    }

    /// Connects a client in a session of its own.
    pub(crate) async fn connect<C: ClientHandler>(&self, client: C) -> Client<C> {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let server = Server::new(Arc::clone(&self.office), CancellationToken::new());
        tokio::spawn(async move { server.serve(ours).await.expect("a handshake").waiting().await });
        client.serve(theirs).await.expect("a handshake")
    }

    /// Path of a file of the workspace.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.home.path().join("workspace").join(path)
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.home, path, text);
    }
}

fn write(home: &TempDir, path: &str, text: &str) {
    let path = home.path().join("workspace").join(path);
    std::fs::create_dir_all(path.parent().expect("inside the workspace")).expect("a directory");
    std::fs::write(path, text).expect("a file");
}

fn folders(workspace: &Arc<Workspace>) -> Arc<dyn Agents> {
    let folder = |path: &str, holds: Holds| Folder {
        within: Arc::clone(workspace),
        path: path.to_owned(),
        scope: Scope::Project,
        holds,
    };
    let all =
        vec![folder(".sortie/agents", Holds::Agents(Dialect::Ours)), folder(".sortie/templates", Holds::Templates)];
    Arc::new(AgentFolders::new(all, Arc::new(|_, _| false), tool_names()))
}

pub(crate) async fn call<C: ClientHandler>(client: &Client<C>, tool: &str, arguments: Value) -> CallToolResult {
    let arguments = arguments.as_object().cloned().expect("an object");
    let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    client.call_tool(request).await.expect("an answer")
}

/// Makes a Task call, waits for it, and returns the id of the task.
pub(crate) async fn task<C: ClientHandler>(client: &Client<C>, prompt: &str) -> String {
    let arguments = serde_json::json!({"description": "a piece", "prompt": prompt});
    let answer = call(client, "Task", arguments).await;
    let answer = answer.structured_content.expect("an outcome");
    answer["task_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Reads the text of a resource.
pub(crate) async fn read<C: ClientHandler>(client: &Client<C>, uri: &str) -> String {
    let read = client.read_resource(ReadResourceRequestParams::new(uri)).await.expect("a resource");
    match read.contents.into_iter().next() {
        Some(ResourceContents::TextResourceContents { text, .. }) => text,
        other => panic!("no text: {other:?}"),
    }
}
