//! A live connection to a server: its tools, and calls of them.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientRequest, JsonObject,
    PaginatedRequestParams, ServerResult,
};
use rmcp::service::{ClientInitializeError, Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use sortie_agents::{ServerAccess, ServerDefinition};
use sortie_policy::Redactor;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ServerGround;
use super::address;
use super::expand::expanded;
use super::listener::Listener;
use super::listing::Listing;
use super::process::ServerProcess;
use super::trouble::Trouble;
use super::words::brief;

/// A list that goes on for longer is no list of tools.
const MAX_PAGES: usize = 100;
const MAX_TOOLS: usize = 5_000;
/// How long the end of the protocol may take.
const FAREWELL: Duration = Duration::from_secs(1);

pub(super) struct Link {
    server: String,
    service: Mutex<Option<RunningService<RoleClient, Listener>>>,
    peer: Peer<RoleClient>,
    listener: Listener,
    listing: Mutex<Option<Arc<Listing>>>,
    /// `None` for a server that is reached by an address.
    process: Option<ServerProcess>,
    since: Instant,
    redactor: Arc<Redactor>,
}

impl Link {
    /// Starts or calls the server, and greets it.
    pub(super) async fn open(server: &ServerDefinition, ground: &ServerGround) -> Result<Self, Trouble> {
        let unusable = |why: String| Trouble::Unusable { server: server.name.clone(), why };
        let listener = Listener::default();
        let (greeted, process) = match expanded(server, &ground.variables).map_err(unusable)? {
            ServerAccess::Program { command, arguments, environment } => {
                let (process, transport) =
                    ServerProcess::start(&server.name, (command, arguments, environment), ground)
                        .await
                        .map_err(unusable)?;
                (rmcp::serve_client(listener.clone(), transport).await, Some(process))
            }
            ServerAccess::Address { url, headers } => {
                let transport = address::transport(&url, &headers, &ground.redactor).map_err(unusable)?;
                (rmcp::serve_client(listener.clone(), transport).await, None)
            }
        };
        let service = match greeted {
            Ok(service) => service,
            Err(error) => {
                let (words, said) = match &process {
                    Some(process) => (of_program(&error, &ground.redactor), process.last_words().await),
                    None => (brief(&ground.redactor, &error.to_string()), String::new()),
                };
                let why = format!("did not answer as one: {words}{said}");
                return Err(Trouble::Unreachable { server: server.name.clone(), why });
            }
        };
        let (peer, since) = (service.peer().clone(), Instant::now());
        let (service, listing) = (Mutex::new(Some(service)), Mutex::default());
        let redactor = Arc::clone(&ground.redactor);
        Ok(Self { server: server.name.clone(), service, peer, listener, listing, process, since, redactor })
    }

    pub(super) fn is_over(&self) -> bool {
        self.peer.is_transport_closed()
    }

    pub(super) fn lived(&self) -> Duration {
        self.since.elapsed()
    }

    /// Why it is over, as the end of a sentence.
    pub(super) async fn last_words(&self) -> String {
        match &self.process {
            Some(process) => format!("has ended{}", process.last_words().await),
            None => "has closed the connection".to_owned(),
        }
    }

    /// The server's tools: asked for once, and again after the server has said that they have changed.
    pub(super) async fn listing(&self) -> Result<Arc<Listing>, Trouble> {
        let mut listing = self.listing.lock().await;
        let has_changed = self.listener.take_changed();
        if let Some(listing) = listing.as_ref().filter(|_| !has_changed) {
            return Ok(Arc::clone(listing));
        }
        let listed = self.list().await.inspect_err(|_| self.listener.note_changed());
        Ok(Arc::clone(listing.insert(Arc::new(listed?))))
    }

    async fn list(&self) -> Result<Listing, Trouble> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = match self.peer.list_tools(Some(page)).await {
                Ok(page) => page,
                Err(error) => return Err(self.trouble(error, "tools/list").await),
            };
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() || tools.len() >= MAX_TOOLS {
                break;
            }
        }
        Ok(Listing::new(&self.server, &tools, cursor.is_some(), &self.redactor))
    }

    /// Makes one call. Where it is given up, the server is told so.
    pub(super) async fn call(
        &self,
        (tool, arguments): (&str, JsonObject),
        within: Duration,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, Trouble> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(within).reset_timeout_on_progress();
        let handle = match self.peer.send_request_with_option(request, options).await {
            Ok(handle) => handle,
            Err(error) => return Err(self.trouble(error, tool).await),
        };
        let id = handle.id.clone();
        let answer = tokio::select! {
            biased;
            answer = handle.await_response() => answer,
            () = cancel.cancelled() => {
                let given_up = CancelledNotificationParam::new(Some(id), Some("the task was stopped".to_owned()));
                // Should the server be gone, there is nobody to tell.
                tokio::time::timeout(FAREWELL, self.peer.notify_cancelled(given_up)).await.ok();
                return Err(Trouble::Stopped { tool: tool.to_owned() });
            }
        };
        match answer {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(_) => Err(self.lost("answered with something else than a result of a tool".to_owned())),
            Err(error) => Err(self.trouble(error, tool).await),
        }
    }

    fn lost(&self, why: String) -> Trouble {
        Trouble::Lost { server: self.server.clone(), why }
    }

    async fn trouble(&self, error: ServiceError, tool: &str) -> Trouble {
        let server = self.server.clone();
        match error {
            ServiceError::McpError(error) => {
                Trouble::Refused { server, message: brief(&self.redactor, &error.message), code: error.code.0 }
            }
            ServiceError::Timeout { timeout } => Trouble::NoAnswer { server, within: timeout },
            ServiceError::Cancelled { .. } => Trouble::Stopped { tool: tool.to_owned() },
            ServiceError::TransportClosed => self.lost(self.last_words().await),
            other => self.lost(format!("could not be spoken with: {}", brief(&self.redactor, &other.to_string()))),
        }
    }

    /// Says good-bye and ends what was started.
    pub(super) async fn close(&self) {
        if let Some(service) = self.service.lock().await.take() {
            tokio::time::timeout(FAREWELL, service.cancel()).await.ok();
        }
        if let Some(process) = &self.process {
            process.end().await;
        }
    }
}

/// What went wrong with the greeting of a program.
fn of_program(error: &ClientInitializeError, redactor: &Redactor) -> String {
    match error {
        // Which of the two is seen first is a matter of chance.
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => {
            "it closed the connection".to_owned()
        }
        other => brief(redactor, &other.to_string()),
    }
}
