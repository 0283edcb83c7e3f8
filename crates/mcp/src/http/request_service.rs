//! Handles one request, from its head to its reply: past the gate, read, passed to the protocol, watched until it is
//! sent.

use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderName};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::http::presence::Presence;
use crate::http::sessions::Sessions;
use crate::http_request::Bounds;
use crate::http_request::answer::Answer;
use crate::http_request::body::{Bodies, Read};
use crate::http_request::gate::Gate;
use crate::http_request::host_names::HostNames;
use crate::http_request::refusal::{self, Refusal};
use crate::http_request::token::{Principal, TokenSource};
use crate::session::arrivals::Arrivals;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

pub(super) struct RequestService<S> {
    gate: Gate,
    bodies: Bodies,
    sessions: Arc<Sessions>,
    protocol: StreamableHttpService<S, Sessions>,
    /// Arrivals of requests without a session.
    sessionless: Arc<Arrivals>,
    /// Once cancelled, nobody new is admitted.
    stop: CancellationToken,
    /// Ends every open stream.
    streams: CancellationToken,
}

impl<S: ServerHandler> RequestService<S> {
    pub(super) fn new(
        names: HostNames,
        token: TokenSource,
        bounds: Bounds,
        new_server: impl Fn() -> S + Send + Sync + 'static,
        stop: CancellationToken,
    ) -> Self {
        let streams = CancellationToken::new();
        // The gate is stricter: it requires the port as well, and checks it before anything else.
        let config = StreamableHttpServerConfig::default().disable_allowed_hosts();
        let config = config.with_max_request_body_bytes(bounds.body_bytes).with_cancellation_token(streams.clone());
        let sessions = Sessions::new(bounds.clone());
        let protocol = StreamableHttpService::new(move || Ok(new_server()), Arc::clone(&sessions), config);
        let bodies = Bodies::new(bounds.clone());
        let (gate, sessionless) = (Gate { names, token, bounds }, Arrivals::new());
        Self { gate, bodies, sessions, protocol, sessionless, stop, streams }
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        self.try_answer(request).await.unwrap_or_else(Refusal::into_answer)
    }

    /// Ends expired sessions.
    pub(super) fn look_around(&self) {
        if !self.sessions.is_empty() {
            self.sessions.look_around(self.gate.principal());
        }
    }

    /// Lets pending replies be written within the time for it, then ends all sessions and streams.
    pub(super) async fn take_leave(&self) {
        // Anything not written by then is dropped.
        tokio::time::timeout(self.gate.bounds.farewell, self.sessions.settled()).await.ok();
        self.sessions.end_all();
        self.streams.cancel();
    }

    async fn try_answer(&self, request: Request<Incoming>) -> Result<Answer, Refusal> {
        let (mut head, body) = request.into_parts();
        let principal = self.gate.admit(&mut head)?;
        if self.stop.is_cancelled() {
            return Err(Refusal::Ending);
        }
        let session = self.session(&head, principal)?;
        let is_post = head.method == Method::POST;
        // Taken before the body is read: a later call whose body is shorter does not overtake.
        let place = is_post.then(|| self.arrivals(session.as_ref()).next());
        let mut presence = Presence::new(&self.sessions, session.clone());
        let body = if is_post { self.bodies.read(body).await? } else { Read::nothing() };
        if is_post && !body.only_listens() {
            presence.wait_for_answer();
        }
        if let Some(place) = place.filter(|_| body.is_call()) {
            head.extensions.insert(place);
        }
        let answer = match session {
            Some(session) => self.answer_in(&session, head, &body).await?,
            None if body.is_initialize() => {
                let _reserved = self.sessions.reserve()?;
                let answer = self.answer_by_protocol(head, &body).await?;
                let id = answer.headers().get(SESSION_ID).and_then(|id| id.to_str().ok());
                if let Some(id) = id.and_then(|id| self.sessions.give(id, principal)) {
                    presence.enter(id);
                }
                answer
            }
            None => self.answer_by_protocol(head, &body).await?,
        };
        Ok(presence.accompany(answer))
    }

    /// Returns the arrivals among which a request has its place: those of its session, or of all without a session.
    fn arrivals(&self, session: Option<&SessionId>) -> Arc<Arrivals> {
        let own = session.and_then(|session| self.sessions.arrivals(session));
        own.unwrap_or_else(|| Arc::clone(&self.sessionless))
    }

    /// Returns the session that a request claims to belong to.
    fn session(&self, head: &Parts, principal: Principal) -> Result<Option<SessionId>, Refusal> {
        let Some(id) = head.headers.get(SESSION_ID) else { return Ok(None) };
        let id = id.to_str().map_err(|_| Refusal::UnknownSession)?;
        self.sessions.find(id, principal).map(Some)
    }

    async fn answer_in(&self, session: &SessionId, head: Parts, body: &Read<'_>) -> Result<Answer, Refusal> {
        let begun = match body.request_id() {
            Some(id) => Some(self.sessions.calls(session)?.begin(id)?),
            None => None,
        };
        let answer = self.answer_by_protocol(head, body).await?;
        if answer.status() == StatusCode::OK
            && let Some(begun) = begun
        {
            begun.pass_on();
        }
        Ok(answer)
    }

    async fn answer_by_protocol(&self, head: Parts, body: &Read<'_>) -> Result<Answer, Refusal> {
        let request = Request::from_parts(head, Full::new(body.bytes.clone()));
        let answer = self.protocol.handle(request).await;
        // The type was right, so the body itself was not understood.
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return Err(body.fault());
        }
        let is_text = answer.headers().get(CONTENT_TYPE).is_none_or(|kind| kind != "application/json");
        let is_plain_error = is_text && (answer.status().is_client_error() || answer.status().is_server_error());
        Ok(if is_plain_error { refusal::in_json(answer, body.request_id()).await } else { answer })
    }
}
