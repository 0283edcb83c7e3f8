//! A live connection to a server: its tools, and calls of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, InputRequiredResult, JsonObject, ListToolsRequest,
    MetaObject, PaginatedRequestParams, ProtocolVersion, RequestMetaObject, ServerPeerInfo, ServerResult,
    SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, PeerRequestOptions, RoleClient,
    RunningService, ServiceError,
};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use sortie_agents::{ServerAccess, ServerDefinition};
use sortie_policy::Redactor;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::client::notifications::NotificationListener;
use crate::client::pending_request::{FAREWELL, PendingRequest};
use crate::client::pending_request::{MOST_TIMES, Unanswered, wait};
use crate::client::server_error::ServerError;
use crate::client::tool_answer::ToolAnswer;
use crate::client::tool_listing::ToolListing;
use crate::client::tool_pages::ToolPages;
use crate::transport::ServerGround;
use crate::transport::brief::brief;
use crate::transport::brief::plain;
use crate::transport::credentials::Barred;
use crate::transport::discovery::{Discovered, Discovering};
use crate::transport::expanded;
use crate::transport::http_transport::{self, Remote};
use crate::transport::printed_headers;
use crate::transport::secrets_of;
use crate::transport::server_process::{Program, ServerProcess};
use crate::transport::{Failure, Unnamed};

/// Time for which the list of a server at an address stays valid. Such a server can be replaced without notice, for
/// instance if it restarts and has no sessions. A program stays the same while its pipes are open.
const FRESH: Duration = Duration::from_secs(5);

/// Most rounds that a server may cut one call into.
pub(super) const MAX_ROUNDS: usize = 10;

const OLD: &str = "its `type` is `sse`, a transport of 2024 that is not supported; if the server also has an address for \
                   streamable HTTP (often the same one ending in `/mcp`), name that, with `type` `http`";
const SPEAKS_OLD: &str = "speaks `sse`, a transport of 2024 that is not supported; if it also has an address for \
                          streamable HTTP (often the same one ending in `/mcp`), name that as its `url`";
const SESSION_ENDED: &str = "has ended the session";

/// Number of the attempt. A request that may have failed for lack of a session is sent once more in a new one. If it
/// fails there in the same way, the session was not the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    First,
    Last,
}

pub(super) struct LiveConnection {
    server: ServerDefinition,
    service: Mutex<Option<RunningService<RoleClient, NotificationListener>>>,
    peer: Peer<RoleClient>,
    listener: NotificationListener,
    listed: Mutex<Option<Listed>>,
    /// Reason why it is no longer used, even if its transport still exists.
    over: OnceLock<&'static str>,
    /// True once any request was answered.
    has_answered: AtomicBool,
    /// `None` for a server at an address.
    process: Option<ServerProcess>,
    since: Instant,
    redactor: Arc<Redactor>,
}

/// A list of tools, and the time of its request.
struct Listed {
    listing: Arc<ToolListing>,
    asked: Instant,
    /// Number of changes to the tools by then.
    changes: u64,
}

impl LiveConnection {
    /// Starts or contacts the server, and does the handshake.
    pub(super) async fn open(server: &ServerDefinition, ground: &ServerGround) -> Result<Self, ServerError> {
        let unusable = |why: String| ServerError::Unusable { server: server.name.clone(), why };
        let listener = NotificationListener::default();
        let access = expanded(server, &ground.variables).map_err(unusable)?;
        ground.redactor.learn(secrets_of(&access));
        let (greeted, process) = match access {
            ServerAccess::OldAddress { url: _ } => return Err(unusable(OLD.to_owned())),
            ServerAccess::Program { command, arguments, environment, directory } => {
                let program = Program { command, arguments, environment, directory };
                let mut lifecycle = any_revision();
                loop {
                    let (process, transport) =
                        ServerProcess::start(&server.name, program.clone(), ground).await.map_err(unusable)?;
                    let (transport, news) = Discovering::new(transport, Some(server.start_within / 3));
                    let greeted = listener.clone().serve_with_lifecycle(transport, lifecycle).await;
                    lifecycle = match (&greeted, news.heard()) {
                        (Err(_), Discovered::Ended) => ClientLifecycleMode::Initialize,
                        (Err(_), Discovered::Late) => newest_revision(),
                        _ => break (greeted, Some(process)),
                    };
                    process.end().await;
                }
            }
            ServerAccess::Address { url, mut headers, helper, oauth: _ } => {
                let name = &server.name;
                let more = printed_headers::headers(name, &url, &helper, ground).await.map_err(unusable)?;
                ground.redactor.learn(more.values().cloned().collect());
                headers.extend(more);
                let (has_helper, start_within) = (!helper.is_empty(), server.start_within);
                let remote = Remote { name, url: &url, headers: &headers, has_helper, start_within };
                let transport = http_transport::transport(&remote, ground).map_err(unusable)?;
                let (transport, _) = Discovering::new(transport, None);
                let greeted = listener.clone().serve_with_lifecycle(transport, any_revision()).await;
                let is_barred = greeted.as_ref().is_err_and(is_barred);
                if greeted.is_err() && !is_barred && http_transport::is_old(&url, &headers).await {
                    return Err(unusable(format!("it does not answer by `http`, and {SPEAKS_OLD}")));
                }
                (greeted, None)
            }
        };
        let service = match greeted {
            Ok(service) => service,
            Err(error) => {
                let (words, said) = match &process {
                    Some(process) => (of_program(&error, &ground.redactor), process.last_words().await),
                    None => (brief(&ground.redactor, &of_address(&error)), String::new()),
                };
                let why = format!("did not answer as one: {words}{said}");
                return Err(ServerError::Unreachable { server: server.name.clone(), why });
            }
        };
        let (peer, since) = (service.peer().clone(), Instant::now());
        // At an address, tools are listed again anyway.
        if process.is_some() {
            follow_changes(&peer, &listener);
        }
        let (service, listed, over) = (Mutex::new(Some(service)), Mutex::default(), OnceLock::new());
        let (server, redactor) = (server.clone(), Arc::clone(&ground.redactor));
        let has_answered = AtomicBool::new(false);
        Ok(Self { server, service, peer, listener, listed, over, has_answered, process, since, redactor })
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.get().is_some() || self.peer.is_transport_closed()
    }

    /// Marks it as over, so that the next caller makes a new link. The reason completes a sentence about the server;
    /// the first one counts.
    pub(super) fn give_up(&self, why: &'static str) {
        self.over.set(why).ok();
    }

    /// True if it ended normally: it was of use, and the server has ended the session.
    pub(super) fn has_done_its_part(&self) -> bool {
        self.over.get() == Some(&SESSION_ENDED) && self.has_answered.load(Ordering::Relaxed)
    }

    pub(super) fn lived(&self) -> Duration {
        self.since.elapsed()
    }

    /// Reason for its end, to complete a sentence.
    pub(super) async fn last_words(&self) -> String {
        match (&self.process, self.over.get()) {
            (Some(process), over) => format!("{}{}", over.unwrap_or(&"has ended"), process.last_words().await),
            (None, over) => over.unwrap_or(&"has closed the connection").to_string(),
        }
    }

    /// Returns the server's tools: requested once, and again when they may have changed. The caller sets the time
    /// limit.
    pub(super) async fn listing(&self, within: Duration, attempt: Attempt) -> Result<Arc<ToolListing>, ServerError> {
        let mut listed = self.listed.lock().await;
        let (asked, changes) = (Instant::now(), self.listener.changes());
        let is_good =
            |listed: &&Listed| listed.changes == changes && (self.process.is_some() || listed.asked.elapsed() < FRESH);
        if let Some(listed) = listed.as_ref().filter(is_good) {
            return Ok(Arc::clone(&listed.listing));
        }
        let listing = Arc::new(self.list(within, attempt).await?);
        *listed = Some(Listed { listing: Arc::clone(&listing), asked, changes });
        Ok(listing)
    }

    /// Returns the last list, without asking.
    pub(super) fn known(&self) -> Option<Arc<ToolListing>> {
        self.listed.try_lock().ok()?.as_ref().map(|listed| Arc::clone(&listed.listing))
    }

    /// Records that its tools were not listed in time. A server without other pending requests is replaced; one that
    /// works for others may only be busy, and is not ended under them.
    pub(super) fn has_not_listed(&self) {
        if !self.listener.is_awaited() {
            self.give_up("did not list its tools in time");
        }
    }

    async fn list(&self, within: Duration, attempt: Attempt) -> Result<ToolListing, ServerError> {
        if self.peer.peer_info().is_some_and(|server| server.capabilities.tools.is_none()) {
            return Ok(ToolListing::none(&self.server));
        }
        let (mut pages, mut cursor) = (ToolPages::default(), None);
        loop {
            // Not by the library's own method, which would answer from its cache.
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
            let page = match self.ask(request, within, &CancellationToken::new()).await {
                Ok(Ok(page)) => page,
                Ok(Err(error)) => return Err(self.without_list(error, attempt).await),
                Err(_) => return Err(self.not_listed(within)),
            };
            cursor = pages.take(page).map_err(|why| self.no_list(why.to_owned()))?;
            if cursor.is_none() {
                return Ok(ToolListing::new(&self.server, &pages, &self.redactor));
            }
        }
    }

    /// Makes one call. If it is given up, the server is notified.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        meta: Option<JsonObject>,
        attempt: Attempt,
        cancel: &CancellationToken,
    ) -> Result<ToolAnswer, ServerError> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        params.meta = meta.map(|meta| RequestMetaObject(MetaObject(meta)));
        for _ in 0..MAX_ROUNDS {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
            let (server, within) = (self.server.name.clone(), self.server.call_within);
            let result = match self.ask(request, within, cancel).await {
                Ok(Ok(result)) => result,
                Ok(Err(error)) => return Err(self.trouble(error, tool, attempt).await),
                Err(Unanswered::Silent) => return Err(ServerError::NoAnswer { server, within }),
                Err(Unanswered::Endless) => {
                    return Err(ServerError::NoEnd { server, within: within.saturating_mul(MOST_TIMES) });
                }
                Err(Unanswered::Stopped) => return Err(ServerError::Stopped { tool: tool.to_owned() }),
            };
            let ServerResult::InputRequiredResult(InputRequiredResult { input_requests, request_state, .. }) = result
            else {
                return ToolAnswer::read(result).ok_or(ServerError::NoResult { server });
            };
            if input_requests.is_some_and(|requests| !requests.is_empty()) {
                return Err(ServerError::Asks { server });
            }
            // It has cut the work into rounds, and keeps nothing between them.
            params.request_state = Some(request_state.ok_or(ServerError::NoResult { server })?);
        }
        Err(ServerError::Rounds { server: self.server.name.clone() })
    }

    /// Sends a request and waits for the answer. The library's own wait would not end while the server does not read.
    async fn ask(
        &self,
        request: ClientRequest,
        within: Duration,
        cancel: &CancellationToken,
    ) -> Result<Result<ServerResult, ServiceError>, Unanswered> {
        let handle = match self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await {
            Ok(handle) => handle,
            Err(error) => return Ok(Err(error)),
        };
        let mut signs = self.listener.follow(handle.progress_token.clone());
        let pending = PendingRequest::new(&self.peer, handle.id.clone());
        let unanswered = match wait(handle.await_response(), &mut signs, within, cancel).await {
            Ok(answer) => {
                pending.answered();
                if matches!(answer, Ok(_) | Err(ServiceError::McpError(_))) {
                    self.has_answered.store(true, Ordering::Relaxed);
                }
                return Ok(answer);
            }
            Err(unanswered) => unanswered,
        };
        let why = if unanswered == Unanswered::Stopped { "the task was stopped" } else { "it took too long" };
        drop(signs);
        // All messages to a program share one pipe, so if this one does not get through, none does. A server that works
        // for others may read again later, and is not ended under them: the last waiting request ends it.
        if !pending.withdraw(why).await && self.process.is_some() && !self.listener.is_awaited() {
            self.give_up("does not read what it is sent");
        }
        Err(unanswered)
    }

    /// Error of a failed call.
    async fn trouble(&self, error: ServiceError, tool: &str, attempt: Attempt) -> ServerError {
        let server = self.server.name.clone();
        match in_its_words(error, attempt) {
            ServiceError::McpError(error) => {
                ServerError::Refused { server, message: brief(&self.redactor, &error.message), code: error.code.0 }
            }
            ServiceError::Cancelled { .. } => ServerError::Stopped { tool: tool.to_owned() },
            other if is_without_session(&other) => self.session_gone(),
            other => match self.barred(&other) {
                Some(why) => ServerError::Barred { server, why },
                None => ServerError::Lost { server, why: self.lost(&other).await },
            },
        }
    }

    /// Error of a failed list request. It can have had no effect.
    async fn without_list(&self, error: ServiceError, attempt: Attempt) -> ServerError {
        match in_its_words(error, attempt) {
            ServiceError::McpError(error) => {
                self.no_list(format!("{} (code {})", brief(&self.redactor, &error.message), error.code.0))
            }
            other if is_without_session(&other) => self.session_gone(),
            other => match self.barred(&other) {
                Some(why) => self.no_list(why),
                None => ServerError::Unreachable { server: self.server.name.clone(), why: self.lost(&other).await },
            },
        }
    }

    /// Words about a request that was refused for its credentials. Printed headers are asked for again: the next caller
    /// gets a new connection.
    fn barred(&self, error: &ServiceError) -> Option<String> {
        let ServiceError::TransportSend(transport) = error else { return None };
        if !failure(error).is_some_and(Barred::is) {
            return None;
        }
        if matches!(&self.server.access, ServerAccess::Address { helper, .. } if !helper.is_empty()) {
            self.give_up("did not accept the headers of its `headersHelper`");
        }
        Some(brief(&self.redactor, &plain(transport)))
    }

    async fn lost(&self, error: &ServiceError) -> String {
        match error {
            ServiceError::TransportClosed => self.last_words().await,
            ServiceError::TransportSend(error) => {
                format!("could not be contacted: {}", brief(&self.redactor, &plain(error)))
            }
            other => format!("could not be contacted: {}", brief(&self.redactor, &other.to_string())),
        }
    }

    fn no_list(&self, why: String) -> ServerError {
        ServerError::NoList { server: self.server.name.clone(), why }
    }

    /// Error for a list that did not come in time: the time of a start, or of a call.
    pub(super) fn not_listed(&self, within: Duration) -> ServerError {
        let server = self.server.name.clone();
        if within > self.server.start_within {
            ServerError::NotListed { server, within }
        } else {
            ServerError::NotReady { server, within, said: String::new() }
        }
    }

    fn session_gone(&self) -> ServerError {
        self.give_up(SESSION_ENDED);
        ServerError::SessionGone { server: self.server.name.clone() }
    }

    /// Says goodbye and ends the process, if there is one.
    pub(super) async fn close(&self) {
        if let Some(service) = self.service.lock().await.take() {
            tokio::time::timeout(FAREWELL, service.cancel()).await.ok();
        }
        if let Some(process) = &self.process {
            process.end().await;
        }
    }
}

/// A bad request that also fails in a new session is about the request itself, so it becomes the server's answer.
fn in_its_words(error: ServiceError, attempt: Attempt) -> ServiceError {
    match failure(&error).and_then(Unnamed::of) {
        Some(words) if attempt == Attempt::Last => ServiceError::McpError(words.clone()),
        _ => error,
    }
}

/// True if the server does not know the session any more, and so has not looked at the request.
fn is_without_session(error: &ServiceError) -> bool {
    failure(error)
        .is_some_and(|failure| matches!(failure, StreamableHttpError::SessionExpired) || Unnamed::of(failure).is_some())
}

fn failure(error: &ServiceError) -> Option<&Failure> {
    let ServiceError::TransportSend(error) = error else { return None };
    error.error.downcast_ref()
}

/// Reason for a program's failed handshake.
fn of_program(error: &ClientInitializeError, redactor: &Redactor) -> String {
    match error {
        // It is a matter of chance which of the two is seen first.
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => {
            "it closed the connection".to_owned()
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_program(fallback, redactor),
        other => brief(redactor, &other.to_string()),
    }
}

/// Follows changes of the tools in the newest revision, where a server tells only those who listen.
fn follow_changes(peer: &Peer<RoleClient>, listener: &NotificationListener) {
    let tells = |server: &ServerPeerInfo| {
        let tools = server.capabilities.tools.as_ref();
        !server.protocol_version.has_initialize() && tools.is_some_and(|tools| tools.list_changed == Some(true))
    };
    if !peer.peer_info().is_some_and(|server| tells(&server)) {
        return;
    }
    let (peer, listener) = (peer.clone(), listener.clone());
    tokio::spawn(async move {
        let changes = SubscriptionFilter::builder().tools_list_changed().build();
        let Ok(mut changes) = peer.listen(changes).await else { return };
        // The list may have changed before.
        listener.has_changed();
        while let Ok(Some(_)) = changes.next().await {
            listener.has_changed();
        }
    });
}

/// True if the server did not look at the handshake, for lack of credentials.
fn is_barred(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            error.error.downcast_ref::<Failure>().is_some_and(Barred::is)
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => is_barred(fallback),
        _ => false,
    }
}

/// Begins with the newest revision, and falls back to the handshake of the older ones.
fn any_revision() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

fn newest_revision() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

/// Reason for a failed handshake with a server at an address.
fn of_address(error: &ClientInitializeError) -> String {
    match error {
        // The answer to the handshake says more than the one to the question before it.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_address(fallback),
        ClientInitializeError::TransportError { error, .. } => plain(error),
        other => other.to_string(),
    }
}
