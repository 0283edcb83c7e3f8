//! The server as such: connections, bodies, counts, and its end.

use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use sortie_testkit::{Script, ScriptedServer, ServerOptions, reply, when};

use crate::client::{Client, Wire, anthropic_request, ask, openai_request, openai_responses_request, streaming};

fn serving(text: &str) -> ScriptedServer {
    ScriptedServer::start(Script::always(reply::text(text))).unwrap()
}

#[test]
fn one_connection_serves_many_requests_on_both_wires() {
    let server = serving("here");
    let mut client = Client::connect(&server);
    client.post_anthropic(&streaming(anthropic_request("one")));
    assert_eq!((client.receive().status, server.open_connections()), (200, 1));
    client.post_openai(&streaming(openai_request("two")));
    assert_eq!(client.receive().status, 200);
    client.post_openai(&openai_request("three"));
    assert_eq!(client.receive().json()["choices"][0]["message"]["content"], "here");
    assert_eq!((server.traffic().connections, server.traffic().calls), (1, 3));
}

#[test]
fn requests_are_recorded_with_headers_body_and_connection() {
    let server = serving("here");
    let before = Instant::now();
    let request = anthropic_request("hello");
    for _ in 0..2 {
        let mut client = Client::connect(&server);
        client.post("/v1/messages?beta=true", &[("Anthropic-Version", "2023-06-01"), ("x-api-key", "k")], &request);
        assert_eq!(client.receive().status, 200);
    }
    let [first, second] = server.requests().try_into().unwrap();
    assert_eq!((first.target.as_str(), first.path()), ("/v1/messages?beta=true", "/v1/messages"));
    assert_eq!((first.header("anthropic-version"), first.header("x-api-key")), (Some("2023-06-01"), Some("k")));
    assert_eq!((&first.body, first.raw.as_slice()), (&request, request.to_string().as_bytes()));
    assert!(before <= first.arrival && first.arrival <= second.arrival);
    assert_eq!((first.connection, second.connection), (1, 2));
}

#[test]
fn a_server_that_forgets_keeps_no_requests() {
    let options = ServerOptions { forget_requests: true, ..ServerOptions::default() };
    let server = ScriptedServer::start_with(Script::always(reply::text("here")), options).unwrap();
    assert_eq!(ask(&server, Wire::OpenAi, &openai_request("x")).status, 200);
    assert_eq!((server.requests().len(), server.traffic().calls), (0, 1));
}

#[test]
fn a_request_body_may_come_in_chunks_and_after_a_handshake() {
    let server = serving("here");
    let body = openai_request("chunked").to_string();
    let (front, back) = body.split_at(10);
    let mut client = Client::connect(&server);
    client.send(
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
    );
    assert_eq!(client.take_through("\r\n\r\n").as_deref(), Some("HTTP/1.1 100 Continue\r\n\r\n"));
    client.send(format!("a;ext=1\r\n{front}\r\n{:x}\r\n{back}\r\n0\r\ntrailer: t\r\n\r\n", back.len()).as_bytes());
    assert_eq!(client.receive().status, 200);
    assert_eq!(server.requests()[0].raw, body.as_bytes());
}

#[test]
fn input_that_is_not_http_is_refused_and_the_connection_closed() {
    for bytes in [
        "nonsense\r\n\r\n",
        "POST / HTTP/2\r\n\r\n",
        "POST / HTTP/1.1\r\nno colon\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
    ] {
        let server = serving("here");
        let mut client = Client::connect(&server);
        client.send(bytes.as_bytes());
        assert_eq!(client.receive().status, 400, "{bytes:?}");
        assert!(client.is_closed_by_server(), "{bytes:?}");
    }
}

#[test]
fn other_paths_and_methods_are_refused() {
    let server = serving("here");
    let mut client = Client::connect(&server);
    client.post("/v1/v1/messages", &[], &anthropic_request("x"));
    assert_eq!(client.receive().status, 404);
    client.send(b"GET /v1/messages HTTP/1.1\r\nhost: x\r\n\r\n");
    assert_eq!(client.receive().status, 405);
    client.post("/messages", &[("anthropic-version", "2023-06-01")], &anthropic_request("x"));
    assert_eq!(client.receive().status, 200);
    client.post("/chat/completions", &[], &openai_request("x"));
    assert_eq!(client.receive().status, 200);
    client.post("/responses", &[], &openai_responses_request("x"));
    assert_eq!(client.receive().status, 200);
}

#[test]
fn the_path_of_gemini_names_the_model_and_its_method() {
    let server = ScriptedServer::start(Script::new().on(when::model("large"), reply::text("here"))).unwrap();
    let mut client = Client::connect(&server);
    let body = serde_json::json!({ "contents": [{ "role": "user", "parts": [{ "text": "x" }] }] });
    for (path, status) in [
        ("/v1beta/models/large:generateContent", 200),
        ("/v1/models/large:generateContent", 200),
        ("/models/large:streamGenerateContent?alt=sse", 200),
        ("/v1beta/models/small:generateContent", 400),
        ("/v1beta/models/large:countTokens", 404),
        ("/v1beta/models/large", 404),
        ("/v1beta/v1beta/models/large:generateContent", 404),
    ] {
        client.post(path, &[], &body);
        assert_eq!(client.receive().status, status, "{path}");
    }
}

#[test]
fn a_client_that_asks_to_close_is_disconnected() {
    let server = serving("here");
    let mut client = Client::connect(&server);
    client.post("/v1/chat/completions", &[("connection", "close")], &openai_request("x"));
    assert!(client.receive().whole);
    assert!(client.is_closed_by_server());
}

#[test]
fn a_delay_counts_from_the_arrival() {
    let server = ScriptedServer::start(Script::always(reply::text("late").after_ms(80))).unwrap();
    let start = Instant::now();
    ask(&server, Wire::Anthropic, &anthropic_request("x"));
    let elapsed = start.elapsed();
    assert!(elapsed >= Duration::from_millis(80), "{elapsed:?}");
    assert!(server.requests()[0].arrival.elapsed() >= Duration::from_millis(80));
}

#[tokio::test]
async fn many_requests_are_in_flight_at_once() {
    const CLIENTS: u64 = 50;
    let script = Script::always(reply::text("through").held_by("door"));
    let server = Arc::new(ScriptedServer::start(script).unwrap());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let server = Arc::clone(&server);
            thread::spawn(move || ask(&server, Wire::OpenAi, &streaming(openai_request("x"))).whole)
        })
        .collect();
    let traffic = server.traffic_reaches(|traffic| traffic.in_flight == CLIENTS).await;
    assert_eq!((traffic.max_in_flight, traffic.open_connections), (CLIENTS, CLIENTS));
    server.gate("door").open();
    assert!(clients.into_iter().all(|client| client.join().unwrap()));
    assert_eq!(server.traffic().abandoned, 0);
}

#[tokio::test]
async fn a_client_that_leaves_while_it_waits_is_noticed() {
    for reply in [reply::never(), reply::text("late").after_ms(3_600_000), reply::text("held").held_by("door")] {
        let server = ScriptedServer::start(Script::always(reply)).unwrap();
        let mut client = Client::connect(&server);
        client.post_openai(&openai_request("x"));
        server.traffic_reaches(|traffic| traffic.in_flight == 1).await;
        drop(client);
        let traffic = server.traffic_reaches(|traffic| traffic.open_connections == 0).await;
        assert_eq!((traffic.in_flight, traffic.abandoned), (0, 1));
    }
}

#[test]
fn dropping_the_server_closes_its_port_and_its_connections() {
    let server = ScriptedServer::start(Script::always(reply::never())).unwrap();
    let mut client = Client::connect(&server);
    client.post_openai(&openai_request("x"));
    let address = server.address();
    drop(server);
    assert!(client.is_closed_by_server());
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_request_without_a_matching_rule_is_refused_and_described() {
    let server = ScriptedServer::start(Script::new().on(when::turn(9), reply::text("never"))).unwrap();
    let response = ask(&server, Wire::Anthropic, &anthropic_request("Who?"));
    assert_eq!(response.status, 400);
    assert!(response.json()["error"]["message"].as_str().unwrap().contains("Who?"), "{}", response.body);
}
