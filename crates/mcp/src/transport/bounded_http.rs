//! Requests to servers at addresses, and answers of bounded length: the library's own client would accept a JSON answer
//! of any length.
//!
//! The library decides what to send when, and what an answer means.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{BoxStream, try_unfold};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcError, JsonRpcMessage, JsonRpcRequest, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sortie_policy::Redactor;
use sse_stream::{Sse, SseStream};
use tokio::time::timeout;

use crate::transport::brief::brief;
use crate::transport::credentials::Credentials;
use crate::transport::decline_requests::Backlog;
use crate::transport::discovery::unknown;
use crate::transport::nesting::shallow;
use crate::transport::server_process::MAX_MESSAGE_BYTES;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";
/// Longest part of an error response that is read.
const MAX_COMPLAINT_BYTES: usize = 64 << 10;

type Headers = HashMap<HeaderName, HeaderValue>;
pub(crate) type Failure = StreamableHttpError<reqwest::Error>;

/// A bad request without a code. Many servers answer this for an unknown session, and some for a request that they
/// reject. To find out which, the caller asks once more in a new session.
#[derive(Debug, thiserror::Error)]
#[error("HTTP 400: {}", .0.message)]
pub(crate) struct Unnamed(ErrorData);

impl Unnamed {
    /// The server's words, if the failure is of this kind.
    pub(crate) fn of(failure: &Failure) -> Option<&ErrorData> {
        let StreamableHttpError::Io(error) = failure else { return None };
        error.get_ref()?.downcast_ref::<Self>().map(|unnamed| &unnamed.0)
    }
}

#[derive(Clone)]
pub(crate) struct BoundedHttp {
    pub(crate) client: Client,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) backlog: Backlog,
    pub(crate) credentials: Credentials,
    /// Time for the answer to the first request of the newest revision.
    pub(crate) discovery: Duration,
}

impl BoundedHttp {
    async fn post(
        &self,
        uri: &str,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let (has_session, mut is_renewed) = (session_id.is_some(), false);
        let asked = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let body = serde_json::to_vec(&message)?;
        let mut token = self.credentials.token().await?;
        let mut response = loop {
            let request = self.client.post(uri).header(ACCEPT, format!("{EVENTS}, {JSON}"));
            let request = request.header(CONTENT_TYPE, JSON).body(body.clone());
            let request = with_headers(request, session_id.clone(), token.clone(), custom_headers.clone());
            let response = request.send().await.map_err(failed)?;
            if response.status() != StatusCode::UNAUTHORIZED || is_renewed {
                break response;
            }
            let Some(used) = &token else { break response };
            let Some(newer) = self.credentials.instead_of(used).await? else { break response };
            (token, is_renewed) = (Some(newer), true);
        };
        let session = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        match response.status() {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => return Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if has_session => return Err(StreamableHttpError::SessionExpired),
            status if !status.is_success() => {
                let body = whole(&mut response, MAX_COMPLAINT_BYTES).await.unwrap_or_default();
                if is_barred(status) {
                    let headers = response.headers();
                    return Err(self
                        .credentials
                        .barred(status, headers, &body, token.as_deref(), &self.redactor)
                        .await);
                }
                return complaint(status, &body, asked.as_ref(), has_session, &self.redactor);
            }
            _ => {}
        }
        if is_of(&response, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(self.backlog.paced(events(response)), session));
        }
        let body = whole(&mut response, MAX_MESSAGE_BYTES).await?;
        match serde_json::from_slice(&shallow(&body)) {
            Ok(answer) => Ok(StreamableHttpPostResponse::Json(addressed(answer, asked), session)),
            Err(_) if asked.is_none() => Ok(StreamableHttpPostResponse::Accepted),
            Err(error) => Err(unexpected(format!("its answer is not a message: {error}"))),
        }
    }
}

impl StreamableHttpClient for BoundedHttp {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let discovery = match &message {
            JsonRpcMessage::Request(JsonRpcRequest { id, request: ClientRequest::DiscoverRequest(_), .. }) => {
                Some(id.clone())
            }
            _ => None,
        };
        let posted = self.post(&uri, message, session_id, custom_headers);
        let Some(id) = discovery else { return posted.await };
        // A server of an older revision, or something in front of it, may say anything, or nothing. The handshake that
        // follows shows what it is.
        match timeout(self.discovery, posted).await {
            Ok(Err(StreamableHttpError::UnexpectedServerResponse(_)) | Ok(StreamableHttpPostResponse::Accepted))
            | Err(_) => Ok(StreamableHttpPostResponse::Json(unknown(id), None)),
            Ok(answer) => answer,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failure> {
        let token = self.credentials.token().await?;
        self.client.delete_session(uri, session_id, token, custom_headers).await.map_err(without_address)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let token = self.credentials.token().await?;
        // Bounded there already.
        let stream = self.client.get_stream(uri, session_id, last_event_id, token, custom_headers).await;
        Ok(self.backlog.paced(stream.map_err(without_address)?.map(in_shallow_form).boxed()))
    }
}

fn with_headers(
    request: RequestBuilder,
    session: Option<Arc<str>>,
    token: Option<String>,
    headers: Headers,
) -> RequestBuilder {
    let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
    let request = session.into_iter().fold(request, |request, id| request.header(SESSION, id.as_ref()));
    token.into_iter().fold(request, RequestBuilder::bearer_auth)
}

fn is_of(response: &Response, kind: &str) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|found| found.as_bytes().starts_with(kind.as_bytes()))
}

/// Returns the protocol error in a response; else its status and text.
fn complaint(
    status: StatusCode,
    body: &[u8],
    asked: Option<&RequestId>,
    has_session: bool,
    redactor: &Redactor,
) -> Result<StreamableHttpPostResponse, Failure> {
    let error = match serde_json::from_slice::<ServerJsonRpcMessage>(body) {
        Ok(JsonRpcMessage::Error(error)) => Some(error),
        _ => None,
    };
    match error {
        Some(error) if status == StatusCode::BAD_REQUEST && has_session && may_be_about_session(&error, asked) => {
            Err(io::Error::other(Unnamed(error.error)).into())
        }
        Some(error) => {
            let error = addressed(JsonRpcMessage::Error(error), asked.cloned());
            Ok(StreamableHttpPostResponse::Json(error, None))
        }
        None => Err(unexpected(format!("HTTP {status}: {}", brief(redactor, String::from_utf8_lossy(body).trim())))),
    }
}

fn is_barred(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// True if an error may be about the session. An error about a request carries the request's id. Some servers use an id
/// of their own for other errors, and say what these are about.
fn may_be_about_session(error: &JsonRpcError, asked: Option<&RequestId>) -> bool {
    match &error.id {
        None => true,
        Some(named) if asked.is_some_and(|asked| named.to_string() == asked.to_string()) => false,
        Some(_) => error.error.message.to_lowercase().contains("session"),
    }
}

/// Gives an error response the id of its request, whatever id it has: without one, nobody would receive it.
fn addressed(answer: ServerJsonRpcMessage, asked: Option<RequestId>) -> ServerJsonRpcMessage {
    match (answer, asked) {
        (JsonRpcMessage::Error(error), Some(asked)) => JsonRpcMessage::error(error.error, Some(asked)),
        (answer, _) => answer,
    }
}

/// Reads a whole response, unless it is too long.
async fn whole(response: &mut Response, most: usize) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        body.extend_from_slice(&chunk);
        if body.len() > most {
            return Err(unexpected(too_long(most)));
        }
    }
    Ok(body)
}

/// Splits a response into events, each no longer than a message may be.
fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let chunks = try_unfold((response, 0), |(mut response, so_far): (Response, usize)| async move {
        let Some(chunk) = response.chunk().await.map_err(|error| io::Error::other(error.without_url()))? else {
            return Ok(None);
        };
        let since_event = match chunk.windows(2).rposition(|pair| pair == b"\n\n" || pair == b"\n\r") {
            Some(end) => chunk.len() - end,
            None => so_far + chunk.len(),
        };
        if since_event > MAX_MESSAGE_BYTES {
            return Err(io::Error::other(too_long(MAX_MESSAGE_BYTES)));
        }
        Ok::<Option<(Bytes, _)>, io::Error>(Some((chunk, (response, since_event))))
    });
    SseStream::from_bytes_stream(chunks.boxed()).map(in_shallow_form).boxed()
}

/// An event with a message that is not nested too deeply.
fn in_shallow_form(event: Result<Sse, SseError>) -> Result<Sse, SseError> {
    let mut event = event?;
    event.data = event.data.map(|data| String::from_utf8_lossy(&shallow(data.as_bytes())).into_owned());
    Ok(event)
}

/// Leaves out the address, which may hold a key.
fn failed(error: reqwest::Error) -> Failure {
    StreamableHttpError::Client(error.without_url())
}

fn without_address(error: Failure) -> Failure {
    match error {
        StreamableHttpError::Client(error) => failed(error),
        other => other,
    }
}

fn unexpected(what: String) -> Failure {
    StreamableHttpError::UnexpectedServerResponse(what.into())
}

fn too_long(most: usize) -> String {
    format!("it sent a message of more than {} KiB", most >> 10)
}
