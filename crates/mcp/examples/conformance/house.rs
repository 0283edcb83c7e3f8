//! Jobs that are tasks of a real office: an engine with a journal on disk, whose model takes as long as the suite asks.
//! So the suite judges our own Tasks extension.

use std::error::Error;
use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities, GetTaskParams, GetTaskResult,
    JsonObject, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use sortie_agents::Registry;
use sortie_contract::Sortie;
use sortie_engine::{Engine, EngineParts, EngineSettings, NoHooks, NoRemoteTools, Permissions, RandomIds, SystemClock};
use sortie_journal::{Journal, SqliteJournal};
use sortie_mcp::{Office, OfficeParts, People, Server};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::{Script, ScriptedModel, ScriptedModels, reply, when};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Seconds that each kind of job takes. Any other job never ends.
const TIMES: [u64; 3] = [0, 1, 2];
const FAIL: &str = "Fail.";

pub(crate) struct House {
    server: Server,
    /// Kept as long as the house exists.
    _home: TempDir,
}

impl House {
    pub(crate) fn open() -> Result<Self, Box<dyn Error>> {
        let home = tempfile::tempdir()?;
        let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(&home.path().join("journal.db"))?);
        let workspace = Arc::new(Workspace::open(home.path())?);
        let (agents, contract) = (Registry::builtin().fixed(), Arc::new(Sortie));
        let root = workspace.root().display().to_string();
        let engine = Engine::new(EngineParts {
            journal: Arc::clone(&journal),
            models: Arc::new(ScriptedModels::of(Arc::new(ScriptedModel::new(script())))),
            workspace,
            agents: Arc::clone(&agents),
            contract: contract.clone(),
            more_tools: Vec::new(),
            remote_tools: Arc::new(NoRemoteTools),
            shell: None,
            reports: Arc::new(SpillDir::open(&home.path().join("reports"))?),
            cache: None,
            hooks: Arc::new(NoHooks),
            rules: EngineSettings::of(contract.as_ref()),
            permissions: Permissions::default(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        });
        let (max_prompt_bytes, version) = (1 << 20, env!("CARGO_PKG_VERSION").to_owned());
        let parts = OfficeParts {
            engine,
            journal,
            agents,
            contract,
            workspace: root,
            max_prompt_bytes,
            hosts: None,
            background: None,
            is_nested: false,
            refusal: None,
            notices: Vec::new(),
            people: People::default(),
            version,
        };
        Ok(Self { server: Server::new(Office::new(parts), CancellationToken::new()), _home: home })
    }

    /// Translates a tool of the suite into a call of our own tool; `None` for any other tool.
    pub(crate) fn errand(call: &CallToolRequestParams) -> Option<CallToolRequestParams> {
        let argument = |name: &str| call.arguments.as_ref().and_then(|arguments| arguments.get(name));
        let prompt = match &*call.name {
            "slow_compute" => compute(argument("seconds").and_then(Value::as_u64).unwrap_or_default()),
            "failing_job" => FAIL.to_owned(),
            _ => return None,
        };
        let arguments: JsonObject =
            [("description".to_owned(), json!("A job of the suite")), ("prompt".to_owned(), prompt.into())]
                .into_iter()
                .collect();
        Some(CallToolRequestParams::new("Task").with_arguments(arguments))
    }

    /// Runs the call, as a task if the client knows tasks. One of the jobs requires that.
    pub(crate) async fn run(
        &self,
        job: &str,
        errand: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let declared = context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
        if job == "failing_job" && !declared {
            let tasks = ClientCapabilities::builder().enable_tasks().build();
            return Err(ErrorData::missing_required_client_capability(tasks));
        }
        self.server.call_tool(errand, context).await
    }

    pub(crate) async fn look(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.server.get_task(request, context).await
    }

    pub(crate) async fn hear(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.server.update_task(request, context).await
    }

    pub(crate) async fn stop(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.server.cancel_task(request, context).await
    }
}

fn compute(seconds: u64) -> String {
    format!("Compute for {seconds} s.")
}

fn script() -> Script {
    let failing = Script::new().on(when::prompt_contains(FAIL), reply::status(400));
    let timed = TIMES.into_iter().fold(failing, |script, seconds| {
        script.on(when::prompt_contains(compute(seconds)), reply::text("Computed.").after_ms(seconds * 1000))
    });
    timed.otherwise(reply::never())
}
