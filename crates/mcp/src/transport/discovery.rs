//! Discovery: the first request to a server, which shows whether it speaks a revision without a handshake.
//!
//! Servers of older revisions do not know the request. Each fails it in its own way: with any error, with an empty
//! result, with silence, or by ending. The library expects a proper error, so it gets one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::transport::Transport;
use tokio::time::{Instant, sleep_until};

/// Fate of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Discovered {
    /// It was answered, or is still open.
    InTime,
    /// The server ended instead of answering.
    Ended,
    /// The server knows the request, but its answer came after the handshake had begun.
    Late,
}

/// Fate of the request, for the code that opened the transport.
#[derive(Clone, Default)]
pub(crate) struct DiscoveryNews(Arc<AtomicU8>);

impl DiscoveryNews {
    pub(crate) fn heard(&self) -> Discovered {
        match self.0.load(Ordering::Acquire) {
            1 => Discovered::Ended,
            2 => Discovered::Late,
            _ => Discovered::InTime,
        }
    }

    fn tell(&self, news: Discovered) {
        self.0.store(news as u8, Ordering::Release);
    }
}

/// A transport on which a failed discovery looks as the library expects.
pub(crate) struct Discovering<T> {
    inner: T,
    /// Time for the answer; `None` if the transport below sees to that.
    within: Option<Duration>,
    stage: Stage,
    news: DiscoveryNews,
}

enum Stage {
    Before,
    Asked {
        id: RequestId,
        until: Option<Instant>,
    },
    /// Given up; an answer that comes now is kept from the library.
    GivenUp {
        id: RequestId,
    },
    Done,
}

impl<T> Discovering<T> {
    pub(crate) fn new(inner: T, within: Option<Duration>) -> (Self, DiscoveryNews) {
        let news = DiscoveryNews::default();
        (Self { inner, within, stage: Stage::Before, news: news.clone() }, news)
    }

    fn note_sent(&mut self, message: &ClientJsonRpcMessage) {
        let JsonRpcMessage::Request(request) = message else { return };
        match &request.request {
            ClientRequest::DiscoverRequest(_) => {
                let until = self.within.map(|within| Instant::now() + within);
                self.stage = Stage::Asked { id: request.id.clone(), until };
            }
            // The library has a time limit of its own.
            ClientRequest::InitializeRequest(_) => {
                if let Stage::Asked { id, .. } = &self.stage {
                    self.stage = Stage::GivenUp { id: id.clone() };
                }
            }
            _ => {}
        }
    }

    /// Returns the message for the library: this one, another one, or none.
    fn seen(&mut self, message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        let is_answer = matches!(
            &message,
            JsonRpcMessage::Response(response) if matches!(response.result, ServerResult::DiscoverResult(_))
        );
        match (&self.stage, answered(&message)) {
            (Stage::GivenUp { id }, Some(answered)) if id == answered => {
                if is_answer {
                    self.news.tell(Discovered::Late);
                }
                None
            }
            (Stage::Asked { id, .. }, Some(answered)) if id == answered => {
                let id = id.clone();
                self.stage = Stage::Done;
                match message {
                    JsonRpcMessage::Response(_) if !is_answer => Some(unknown(id)),
                    answer => Some(answer),
                }
            }
            _ => Some(message),
        }
    }
}

/// The request that a message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// The error of a server that does not know the request.
pub(crate) fn unknown(id: RequestId) -> ServerJsonRpcMessage {
    let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "it does not know `server/discover`", None);
    JsonRpcMessage::error(error, Some(id))
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Discovering<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.note_sent(&message);
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let received = match &self.stage {
                Stage::Asked { id, until: Some(until) } => tokio::select! {
                    biased;
                    received = self.inner.receive() => received,
                    () = sleep_until(*until) => {
                        let id = id.clone();
                        self.stage = Stage::GivenUp { id: id.clone() };
                        return Some(unknown(id));
                    }
                },
                _ => self.inner.receive().await,
            };
            let Some(message) = received else {
                if matches!(self.stage, Stage::Asked { .. }) {
                    self.news.tell(Discovered::Ended);
                }
                return None;
            };
            if let Some(message) = self.seen(message) {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use rmcp::model::{DiscoverRequest, DiscoverRequestParams, InitializeRequest};
    use serde_json::{Value, json};

    use super::*;

    const WITHIN: Duration = Duration::from_secs(3);

    /// A server with prepared messages; after them it is silent, or ends.
    struct Prepared {
        messages: VecDeque<Value>,
        ends: bool,
    }

    impl Transport<RoleClient> for Prepared {
        type Error = std::io::Error;

        fn send(
            &mut self,
            _message: ClientJsonRpcMessage,
        ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
            match self.messages.pop_front() {
                Some(message) => serde_json::from_value(message).ok(),
                None if self.ends => None,
                None => std::future::pending().await,
            }
        }

        async fn close(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    async fn asked(messages: Vec<Value>, ends: bool) -> (Discovering<Prepared>, DiscoveryNews) {
        let (mut transport, news) = Discovering::new(Prepared { messages: messages.into(), ends }, Some(WITHIN));
        let discover = ClientRequest::DiscoverRequest(DiscoverRequest::new(DiscoverRequestParams {}));
        transport.send(JsonRpcMessage::request(discover, RequestId::Number(1))).await.unwrap();
        (transport, news)
    }

    fn code(message: Option<ServerJsonRpcMessage>) -> i32 {
        let Some(JsonRpcMessage::Error(error)) = message else { panic!("{message:?} is no error") };
        assert_eq!(error.id, Some(RequestId::Number(1)));
        error.error.code.0
    }

    fn supported() -> Value {
        json!({ "jsonrpc": "2.0", "id": 1, "result": {
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {},
            "serverInfo": { "name": "new", "version": "1" }, "ttlMs": 0, "cacheScope": "private",
        } })
    }

    async fn initialize(transport: &mut Discovering<Prepared>) {
        let params = serde_json::from_value(json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" },
        }));
        let initialize = ClientRequest::InitializeRequest(InitializeRequest::new(params.unwrap()));
        transport.send(JsonRpcMessage::request(initialize, RequestId::Number(2))).await.unwrap();
    }

    #[tokio::test]
    async fn an_empty_result_is_as_good_as_an_unknown_method() {
        let (mut transport, news) = asked(vec![json!({ "jsonrpc": "2.0", "id": 1, "result": {} })], false).await;
        assert_eq!(code(transport.receive().await), -32601);
        assert_eq!(news.heard(), Discovered::InTime);
        let (mut transport, _) = asked(vec![supported()], false).await;
        let answer = transport.receive().await.unwrap();
        assert!(matches!(answer, JsonRpcMessage::Response(_)), "{answer:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_in_time_and_a_late_answer_does_not_disturb_the_handshake() {
        let (mut transport, news) = asked(Vec::new(), false).await;
        let start = Instant::now();
        assert_eq!(code(transport.receive().await), -32601);
        assert_eq!(start.elapsed(), WITHIN);
        initialize(&mut transport).await;
        let late = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32601, "message": "what?" } });
        let greeting = json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": 7, "message": "the answer" } });
        transport.inner.messages.extend([late, greeting]);
        let Some(JsonRpcMessage::Error(error)) = transport.receive().await else { panic!("no error") };
        assert_eq!((error.id, news.heard()), (Some(RequestId::Number(2)), Discovered::InTime));
    }

    #[tokio::test]
    async fn the_end_of_a_server_that_was_asked_is_told() {
        let (mut transport, news) = asked(Vec::new(), true).await;
        assert!(transport.receive().await.is_none());
        assert_eq!(news.heard(), Discovered::Ended);
    }

    #[tokio::test]
    async fn a_late_list_of_revisions_is_told() {
        let (mut transport, news) = asked(Vec::new(), false).await;
        initialize(&mut transport).await;
        transport.inner.messages.push_back(supported());
        transport
            .inner
            .messages
            .push_back(json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": 7, "message": "m" } }));
        transport.receive().await.unwrap();
        assert_eq!(news.heard(), Discovered::Late);
    }
}
