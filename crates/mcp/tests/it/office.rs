//! Hosts connected to the office of a [`Site`], over streams as in real use.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
    ClientRequest, Implementation, ProgressNotificationParam, ProtocolVersion, ServerResult,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestHandle, RoleClient, RunningService, ServiceError};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _};
use serde_json::{Value, json};
use sortie_contract::Contract;
use sortie_journal::{Journal, TaskHeader, TaskState};
use sortie_mcp::{Office, Server, stdio};
use sortie_testkit::{Script, ScriptedModel};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::site::Site;

pub(crate) struct World {
    pub(crate) office: Arc<Office>,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) journal: Arc<dyn Journal>,
    site: Site,
}

impl World {
    pub(crate) fn new(script: Script) -> Self {
        Self::in_contract("sortie", script)
    }

    pub(crate) fn in_contract(contract: &str, script: Script) -> Self {
        Self::speaking(sortie_contract::contract(contract).unwrap(), script)
    }

    pub(crate) fn speaking(contract: Arc<dyn Contract>, script: Script) -> Self {
        let site = Site::speaking(contract, script, &[]);
        let (office, model, journal) = (Arc::clone(&site.office), Arc::clone(&site.model), Arc::clone(&site.journal));
        Self { office, model, journal, site }
    }

    /// Returns all tasks, once this many have ended.
    pub(crate) async fn all_ended(&self, count: usize) -> Vec<TaskHeader> {
        loop {
            let end = self.journal.end().unwrap();
            let tasks = self.journal.tasks(100).unwrap();
            let ended = tasks.iter().filter(|task| matches!(task.state, TaskState::Ended(_)));
            if ended.count() == count {
                return tasks;
            }
            let journal = Arc::clone(&self.journal);
            tokio::task::spawn_blocking(move || journal.wait_beyond(end, Duration::from_secs(1))).await.unwrap();
        }
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, path: &str, text: &str) {
        self.site.write(path, text);
    }

    /// Opens a session and returns the other side of its streams.
    pub(crate) fn open(&self) -> (DuplexStream, JoinHandle<()>) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(ours);
        (theirs, self.open_between(input, output))
    }

    /// Opens a session over these streams.
    pub(crate) fn open_between(
        &self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> JoinHandle<()> {
        let (office, gone) = (Arc::clone(&self.office), CancellationToken::new());
        tokio::spawn(async move {
            let new_server = || Server::new(Arc::clone(&office), gone.clone());
            stdio::serve(new_server, stdio::HostStreams { input, output }, gone.clone(), CancellationToken::new())
                .await;
        })
    }

    pub(crate) async fn connect(&self) -> Host {
        self.connect_with(ClientCapabilities::default()).await
    }

    pub(crate) async fn connect_with(&self, capabilities: ClientCapabilities) -> Host {
        self.connect_by(ClientLifecycleMode::Initialize, capabilities).await
    }

    /// Connects a host that speaks the revision without a handshake.
    pub(crate) async fn connect_newest(&self, capabilities: ClientCapabilities) -> Host {
        let newest = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
        self.connect_by(newest, capabilities).await
    }

    async fn connect_by(&self, lifecycle: ClientLifecycleMode, capabilities: ClientCapabilities) -> Host {
        let (streams, session) = self.open();
        let (heard, _) = watch::channel(Vec::new());
        let listener = Listener { capabilities, heard: heard.clone() };
        Host { client: listener.serve_with_lifecycle(streams, lifecycle).await.unwrap(), session, heard }
    }
}

/// A host that records its notifications.
pub(crate) struct Listener {
    capabilities: ClientCapabilities,
    heard: watch::Sender<Vec<String>>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(self.capabilities.clone(), Implementation::new("a-host", "1"))
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.heard.send_modify(|heard| heard.push(told.message.unwrap_or_default()));
    }
}

/// A connected host.
pub(crate) struct Host {
    pub(crate) client: RunningService<RoleClient, Listener>,
    pub(crate) session: JoinHandle<()>,
    heard: watch::Sender<Vec<String>>,
}

impl Host {
    /// Calls a tool and waits for the answer.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
        match self.client.call_tool_once(params(tool, arguments)).await? {
            CallToolResponse::Complete(result) => Ok(result),
            other => panic!("not an answer: {other:?}"),
        }
    }

    /// Calls a tool and does not wait.
    pub(crate) async fn begin(&self, tool: &str, arguments: Value) -> RequestHandle<RoleClient> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params(tool, arguments)));
        self.client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap()
    }

    /// Returns the progress messages, once one of them is as wanted.
    pub(crate) async fn told(&self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let mut heard = self.heard.subscribe();
        heard.wait_for(|heard| heard.iter().any(|line| wanted(line))).await.unwrap().clone()
    }
}

pub(crate) fn params(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

/// Arguments of a call in the contract `sortie`.
pub(crate) fn brief(prompt: &str) -> Value {
    json!({"description": "a test", "prompt": prompt, "subagent_type": "explore"})
}

pub(crate) fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|content| content.as_text());
    texts.map(|content| content.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Returns the answer to a call begun earlier.
pub(crate) async fn answer(call: RequestHandle<RoleClient>) -> CallToolResult {
    match call.await_response().await.unwrap() {
        ServerResult::CallToolResult(result) => result,
        other => panic!("not an answer: {other:?}"),
    }
}
