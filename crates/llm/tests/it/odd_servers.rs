//! Misbehaving servers: replies sent byte by byte, without a script.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sortie_llm::{ErrorKind, ModelError, WireKind};
use sortie_protocol::{Message, Reply};

use crate::caller::{IMPATIENT, Observed, QUICK, call, open};
use crate::fixture::{request, route};

/// Sends the same bytes to every connection and closes none.
pub(crate) struct OddServer {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl OddServer {
    fn start(answer: impl Into<Vec<u8>>) -> Self {
        Self::dripping(vec![answer.into()], Duration::ZERO)
    }

    /// Sends the pieces with a pause after each, and closes no connection.
    fn dripping<P: AsRef<[u8]> + Send + 'static>(pieces: Vec<P>, pace: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for mut stream in listener.incoming().map(Result::unwrap) {
                counter.fetch_add(1, Ordering::SeqCst);
                assert_ne!(stream.read(&mut [0; 4096]).unwrap(), 0, "the request comes before the answer");
                for piece in &pieces {
                    // A client that has enough hangs up.
                    stream.write_all(piece.as_ref()).ok();
                    // Sleeps on purpose: pacing over a real connection is under test.
                    std::thread::sleep(pace);
                }
                open.push(stream);
            }
        });
        Self { address, connections }
    }

    pub(crate) fn document(status: &str, headers: &str, body: &str) -> Self {
        Self::start(format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()))
    }

    async fn ask(&self, wire: WireKind, settings: sortie_llm::CallSettings) -> Result<Reply, ModelError> {
        self.ask_at(&format!("http://{}", self.address), wire, settings).await
    }

    async fn ask_at(
        &self,
        base_url: &str,
        wire: WireKind,
        settings: sortie_llm::CallSettings,
    ) -> Result<Reply, ModelError> {
        self.observe_at(base_url, wire, settings).await.1
    }

    pub(crate) async fn observe(
        &self,
        wire: WireKind,
        settings: sortie_llm::CallSettings,
    ) -> (Observed, Result<Reply, ModelError>) {
        self.observe_at(&format!("http://{}", self.address), wire, settings).await
    }

    async fn observe_at(
        &self,
        base_url: &str,
        wire: WireKind,
        settings: sortie_llm::CallSettings,
    ) -> (Observed, Result<Reply, ModelError>) {
        let messages = [Message::user("Where is it?")];
        let model = open(route(wire, base_url), settings);
        call(model.as_ref(), request(&[], &messages)).await
    }
}

/// Returns the error for this document as a reply; it must come without a second try.
async fn told(server: &OddServer) -> ModelError {
    let error = server.ask(WireKind::OpenAiChat, QUICK).await.unwrap_err();
    assert_eq!(server.connections.load(Ordering::SeqCst), 1, "asking again would change nothing");
    ModelError { message: error.message.replace(&server.address.to_string(), "HOST"), ..error }
}

#[tokio::test]
async fn an_endless_reply_is_cut_off_and_not_retried() {
    let piece =
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "x".repeat(64 * 1024));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let server = OddServer::start(format!("{head}{}", piece.repeat(520)));
    let error = told(&server).await;
    assert_eq!(error.kind, ErrorKind::TooLarge, "{error}");
    assert_eq!(error.message, "http://HOST/v1/chat/completions: the reply is larger than 33554432 bytes");
}

#[tokio::test]
async fn a_web_page_is_a_wrong_address() {
    let server = OddServer::document("200 OK", "content-type: text/html; charset=utf-8\r\n", "<html>Welcome!</html>");
    let error = told(&server).await;
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert_eq!(
        error.message,
        "http://HOST/v1/chat/completions answered with a web page, not a model; correct LLM_BASE_URL or `base_url` in \
         [routes.main]"
    );
}

#[tokio::test]
async fn a_server_that_cannot_stream_is_reported() {
    let server = OddServer::document("200 OK", "content-type: application/json\r\n", r#"{"choices":[]}"#);
    let error = told(&server).await;
    assert_eq!(error.kind, ErrorKind::BadRequest);
    assert!(error.message.ends_with("the server must be able to stream events"), "{error}");
}

#[tokio::test]
async fn an_error_with_a_success_status_is_still_an_error() {
    let body = r#"{"error":{"type":"invalid_request_error","message":"no such thing"}}"#;
    let server = OddServer::document("200 OK", "content-type: application/json\r\n", body);
    let error = told(&server).await;
    assert_eq!(error.kind, ErrorKind::BadRequest);
    assert_eq!(error.message, "http://HOST/v1/chat/completions answered: no such thing");
}

#[tokio::test]
async fn an_error_with_a_success_status_keeps_its_requested_wait() {
    let details = r#"{"error":{"code":429,"message":"slow down","details":[{"retryDelay":"7s"}]}}"#;
    let plain = r#"{"error":{"type":"overloaded_error","message":"slow down"}}"#;
    for (headers, body) in [("", details), ("retry-after: 7\r\n", plain)] {
        let headers = format!("content-type: application/json\r\n{headers}");
        let server = OddServer::document("200 OK", &headers, body);
        let error = server.ask(WireKind::OpenAiChat, IMPATIENT).await.unwrap_err();
        assert_eq!(error.retry_after, Some(Duration::from_secs(7)), "{error}");
    }
}

#[tokio::test]
async fn errors_show_nothing_of_an_address_but_its_host() {
    let location = "location: https://user-name:pass-word@elsewhere.example/v1?key=top-secret\r\n";
    let echo = "no user-name with pass-word and key=top-secret for API version 2026-10-01";
    let base_url = |server: &OddServer| {
        format!("http://user-name:pass-word@{}/v1?key=top-secret&api-version=2026-10-01", server.address)
    };
    for (status, headers) in [("307 Temporary Redirect", location), ("400 Bad Request", "")] {
        let server = OddServer::document(status, headers, echo);
        let error = server.ask_at(&base_url(&server), WireKind::OpenAiChat, IMPATIENT).await.unwrap_err();
        for secret in ["user-name", "pass-word", "top-secret"] {
            assert!(!error.message.contains(secret), "{error}");
        }
        assert!(error.message.contains("no *** with *** and key=*** for API version 2026-10-01"), "{error}");
        assert_eq!(error.message.contains("it redirects to https://elsewhere.example/v1; "), !headers.is_empty());
    }
}

/// A stream whose model thinks silently for longer than the idle timeout, while the provider gives signs of life.
async fn silent_reasoning(wire: WireKind, opening: &str, sign_of_life: &str, rest: &[&str]) -> Reply {
    const SIGNS: usize = 40;
    const PACE: Duration = Duration::from_millis(20);
    let event = |data: &&str| format!("data: {data}\n\n");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_owned();
    let mut pieces = vec![head + &event(&opening)];
    pieces.extend(vec![event(&sign_of_life); SIGNS]);
    pieces.extend(rest.iter().map(event));
    assert!(PACE * u32::try_from(SIGNS).unwrap() > IMPATIENT.idle_timeout, "only then does it prove anything");
    OddServer::dripping(pieces, PACE).ask(wire, IMPATIENT).await.unwrap()
}

#[tokio::test]
async fn a_model_that_thinks_silently_does_not_stall() {
    let reply = silent_reasoning(
        WireKind::Anthropic,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"ping"}"#,
        &[
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Here."}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    )
    .await;
    assert_eq!(reply.text(), "Here.");
    let reply = silent_reasoning(
        WireKind::OpenAiResponses,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}"#,
        r#"{"type":"keepalive"}"#,
        &[
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}"#,
            r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"Here."}]}}"#,
            r#"{"type":"response.completed","response":{"status":"completed"}}"#,
        ],
    )
    .await;
    assert_eq!(reply.text(), "Here.");
}

#[tokio::test]
async fn a_redirect_is_reported_and_not_followed() {
    let elsewhere = OddServer::document("200 OK", "", "");
    let location = format!("location: http://{}/v2\r\n", elsewhere.address);
    let server = OddServer::document("307 Temporary Redirect", &location, "");
    let error = told(&server).await;
    assert_eq!((error.kind, error.status), (ErrorKind::NotFound, Some(307)));
    assert!(
        error.message.contains(&format!("it redirects to http://{}/v2; correct LLM_BASE_URL", elsewhere.address)),
        "{error}"
    );
    assert_eq!(elsewhere.connections.load(Ordering::SeqCst), 0, "neither prompt nor key may go there");
}

#[tokio::test]
async fn a_refusal_of_any_size_and_shape_becomes_one_short_line() {
    let flood = "no\n\t\u{1b}[2J".repeat(100_000);
    let error = told(&OddServer::document("400 Bad Request", "", &flood)).await;
    assert_eq!(error.kind, ErrorKind::BadRequest);
    assert!(error.message.len() < 600 && !error.message.contains(char::is_control), "{error}");
    let listed = r#"[{"error":{"code":400,"message":"no such field","status":"INVALID_ARGUMENT"}}]"#;
    let error = told(&OddServer::document("400 Bad Request", "", listed)).await;
    assert_eq!(error.message, "http://HOST/v1/chat/completions answered 400: no such field");
    let page = OddServer::document("403 Forbidden", "content-type: text/html\r\n", "<html><body>Blocked</body></html>");
    assert!(told(&page).await.message.contains("answered 403: a web page; check LLM_API_KEY"));
    let silent = OddServer::document("404 Not Found", "", "");
    assert!(told(&silent).await.message.contains("answered 404: no reason given; is `some-model` a model there"));
}

#[tokio::test]
async fn nobody_waits_for_a_server_that_keeps_the_stream_open() {
    let chunk = r#"data: {"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}"#;
    let server = OddServer::start(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{chunk}\n\n"));
    let patient = sortie_llm::CallSettings { idle_timeout: Duration::from_mins(10), ..IMPATIENT };
    let reply = server.ask(WireKind::OpenAiChat, patient).await.unwrap();
    assert_eq!((reply.text().as_str(), reply.model.as_str()), ("Hi.", "some-model"));
}

#[tokio::test]
async fn a_window_that_fills_up_in_mid_reply_fails_once_with_the_text_so_far() {
    let events = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Well"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let body = events.map(|event| format!("data: {event}\n\n")).concat();
    let server = OddServer::start(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{body}"));
    let error = server.ask(WireKind::Anthropic, QUICK).await.unwrap_err();
    assert_eq!((error.kind, error.partial.as_str()), (ErrorKind::ContextLength, "Well"));
    assert_eq!(server.connections.load(Ordering::SeqCst), 1, "asking again would change nothing");
}
