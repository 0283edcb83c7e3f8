//! Input from a client with the token: none of it ends the server or makes it grow.

use std::time::Duration;

use serde_json::{Value, json};
use sortie_mcp::http::Bounds;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::host::{Fate, Host};
use super::raw::{
    Connection, Request, call, initialize, open_session, open_session_on_one_connection, until_there_is_room,
};

/// Checks that the server still works.
async fn assert_lives(host: &Host) {
    let session = open_session(host).await;
    let reply = Request::post(host, &call(1, "echo")).within(&session).send().await;
    assert!(reply.body.contains("\"text\":\"echo\""), "{reply:?}");
}

#[tokio::test]
async fn s68_a_too_large_body_is_refused_and_not_kept() {
    let host = Host::with(Bounds { body_bytes: 64 << 10, ..Bounds::default() }).await;
    let stated = Request::new(&host, "POST /mcp HTTP/1.1")
        .with("Content-Type", "application/json")
        .with("Content-Length", &(64_usize << 20).to_string());
    assert_eq!(stated.send().await.status, 413, "by what it says of itself");

    let chunked = stated.without("Content-Length").with("Transfer-Encoding", "chunked");
    let mut connection = chunked.begin().await;
    let chunk = format!("{:x}\r\n{}\r\n", 8 << 10, " ".repeat(8 << 10));
    for _ in 0..9 {
        // The connection may be cut once it is too much.
        connection.stream.write_all(chunk.as_bytes()).await.ok();
    }
    let reply = connection.reply().await;
    assert_eq!((reply.status, reply.error_code()), (413, -32600), "by what came: {reply:?}");

    let fits = Request::bytes(&host, format!("{}{}", " ".repeat(60 << 10), initialize()).as_bytes());
    assert_eq!(fits.send().await.status, 200);
    assert_lives(&host).await;
}

#[tokio::test]
async fn s68_the_sender_of_a_too_large_body_can_still_read_the_refusal() {
    let host = Host::with(Bounds { body_bytes: 64 << 10, ..Bounds::default() }).await;
    let body = " ".repeat(16 << 20);
    let request = Request::new(&host, "POST /mcp HTTP/1.1").with("Content-Type", "application/json");
    let stated = request.clone().with("Content-Length", &body.len().to_string());
    let chunked = request.with("Transfer-Encoding", "chunked");
    for (request, body) in [(stated, body.clone()), (chunked, format!("{:x}\r\n{body}\r\n", body.len()))] {
        let mut connection = request.begin().await;
        connection.stream.write_all(body.as_bytes()).await.expect("it is read to its end");
        let reply = connection.reply().await;
        assert_eq!((reply.status, reply.error_code()), (413, -32600), "{reply:?}");
    }
}

#[tokio::test]
async fn s68_an_invalid_body_is_answered_with_its_fault() {
    let host = Host::start().await;
    let session = open_session(&host).await;
    let batch = Value::Array((0..10_000).map(|id| call(id, "echo")).collect()).to_string();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_in_a_call = call(1, "echo").to_string().replace("{}", &deep);
    for (body, code, what) in [
        ("".as_bytes(), -32700, "nothing"),
        (b"{\"jsonrpc\":\"2.0\",", -32700, "half of one"),
        (b"\xff\xfe{}", -32700, "other bytes"),
        (deep.as_bytes(), -32600, "a deep batch"),
        (deep_in_a_call.as_bytes(), -32700, "a call with a deep argument"),
        (batch.as_bytes(), -32600, "a batch"),
        (b"42", -32600, "a number"),
        (b"{}", -32600, "an object without anything"),
        (b"{\"id\":1,\"method\":\"ping\"}", -32600, "one without a version"),
    ] {
        for request in [Request::bytes(&host, body), Request::bytes(&host, body).within(&session)] {
            let reply = request.send().await;
            assert_eq!((reply.status, reply.error_code()), (400, code), "{what}: {reply:?}");
        }
    }
    assert_lives(&host).await;
}

#[tokio::test]
async fn a_refusal_names_its_message() {
    let host = Host::start().await;
    let reply = Request::bytes(&host, b"{\"id\":\"seven\",\"method\":\"ping\"}").send().await;
    expect_test::expect![[r#"{"jsonrpc":"2.0","id":"seven","error":{"code":-32600,"message":"the body is not a message of this protocol: it is neither a request, a notification nor a response"}}"#]]
    .assert_eq(&reply.body);
}

#[tokio::test]
async fn s68_a_call_outside_a_session_is_refused() {
    let host = Host::start().await;
    let reply = Request::post(&host, &call(5, "echo")).send().await;
    assert_eq!((reply.status, reply.error_code()), (400, -32600), "before one: {reply:?}");
    assert!(reply.body.contains("\"id\":5"), "{reply:?}");

    let unknown = Request::post(&host, &call(1, "echo")).within("4f0c1c3e-0000-4000-8000-000000000000").send().await;
    assert_eq!((unknown.status, unknown.error_code()), (404, -32600), "in an unknown session: {unknown:?}");

    let session = open_session(&host).await;
    let end = Request::new(&host, "DELETE /mcp HTTP/1.1").within(&session);
    assert_eq!(end.send().await.status, 202);
    let over = Request::post(&host, &call(1, "echo")).within(&session).send().await;
    assert_eq!((over.status, over.error_code()), (404, -32600), "in an ended session: {over:?}");
}

#[tokio::test]
async fn s68_an_id_is_free_after_a_reply_but_not_after_a_cancellation() {
    let mut host = Host::start().await;
    let session = open_session(&host).await;
    let hold = Request::post(&host, &call(7, "hold")).within(&session);
    let _held = hold.begin().await;
    assert_eq!(host.fate().await, Fate::Started);

    let reply = Request::post(&host, &call(7, "echo")).within(&session).send().await;
    assert_eq!((reply.status, reply.error_code()), (400, -32600), "{reply:?}");
    assert!(reply.body.contains("a request with the id 7 is under way"), "{reply:?}");

    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    assert_eq!(Request::post(&host, &cancel).within(&session).send().await.status, 202);
    assert_eq!(host.fate().await, Fate::Cancelled);
    let reply = Request::post(&host, &call(7, "echo")).within(&session).send().await;
    assert_eq!((reply.status, reply.error_code()), (400, -32600), "{reply:?}");
    assert!(reply.body.contains("the request with the id 7 was cancelled"), "{reply:?}");
    for _ in 0..3 {
        let reply = Request::post(&host, &call(8, "echo")).within(&session).send().await;
        assert!(reply.body.contains("\"text\":\"echo\""), "{reply:?}");
    }
}

#[tokio::test]
async fn requests_under_way_in_a_session_are_bounded() {
    let mut host = Host::with(Bounds { calls: 2, ..Bounds::default() }).await;
    let session = open_session(&host).await;
    let call = |id, tool| Request::post(&host, &call(id, tool)).within(&session);
    let (first, second) = (call(1, "hold").begin().await, call(2, "hold").begin().await);
    let third = call(3, "echo");
    assert_eq!([host.fate().await, host.fate().await], [Fate::Started, Fate::Started]);
    let reply = third.send().await;
    assert_eq!((reply.status, reply.error_code()), (429, -32000), "{reply:?}");

    host.release();
    assert_eq!(host.fate().await, Fate::Finished);
    host.release();
    assert_eq!(host.fate().await, Fate::Finished);
    assert!(first.reply().await.body.contains("held") && second.reply().await.body.contains("held"));
    assert!(third.send().await.body.contains("\"text\":\"echo\""));
}

#[tokio::test]
async fn an_endless_head_is_disconnected() {
    let host = Host::with(Bounds { head_time: Duration::from_millis(100), ..Bounds::default() }).await;
    let mut stream = TcpStream::connect(host.address).await.unwrap();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").await.unwrap();
    let reply = Connection { stream }.reply().await;
    assert!([0, 408].contains(&reply.status), "{reply:?}");
}

#[tokio::test]
async fn a_missing_body_is_not_waited_for() {
    let host = Host::with(Bounds { body_time: Duration::from_millis(100), ..Bounds::default() }).await;
    let slow = Request::new(&host, "POST /mcp HTTP/1.1").with("Content-Type", "application/json");
    let reply = slow.with("Content-Length", "1000").send().await;
    assert_eq!((reply.status, reply.error_code()), (408, -32600), "{reply:?}");
}

#[tokio::test]
async fn connections_beyond_the_bound_get_an_error() {
    let mut host = Host::with(Bounds { connections: 1, ..Bounds::default() }).await;
    let (session, connection) = open_session_on_one_connection(&host).await;
    let held = Request::post(&host, &call(1, "hold")).within(&session).on(connection).await;
    assert_eq!(host.fate().await, Fate::Started);
    let reply = Request::initialize(&host).send().await;
    assert_eq!((reply.status, reply.error_code(), reply.header("Retry-After")), (503, -32000, Some("1")), "{reply:?}");
    host.release();
    assert!(held.reply().await.body.contains("held"));
    until_there_is_room(&host).await;
}

#[tokio::test]
async fn a_client_that_stops_reading_loses_the_connection() {
    let quick = Duration::from_millis(100);
    let host = Host::with(Bounds { connections: 1, write_time: quick, ..Bounds::default() }).await;
    let (session, connection) = open_session_on_one_connection(&host).await;
    let unread = Request::post(&host, &call(1, "large")).within(&session).on(connection).await;
    // There is one place. It is free again once the client that does not read is cut off.
    until_there_is_room(&host).await;
    let reply = unread.reply().await;
    assert!(reply.body.len() < 16 << 20, "all of it came: {}", reply.body.len());
}

#[tokio::test]
async fn sessions_beyond_the_bound_get_an_error() {
    let host = Host::with(Bounds { sessions: 2, ..Bounds::default() }).await;
    let session = open_session(&host).await;
    open_session(&host).await;
    let reply = Request::initialize(&host).send().await;
    assert_eq!((reply.status, reply.error_code()), (503, -32000), "{reply:?}");
    assert!(reply.body.contains("2 sessions are in use"), "{reply:?}");
    Request::new(&host, "DELETE /mcp HTTP/1.1").within(&session).send().await;
    assert_lives(&host).await;
}

#[tokio::test]
async fn the_session_unused_for_longest_makes_room() {
    let quick = Duration::from_millis(1);
    let host = Host::with(Bounds { sessions: 2, absence: quick, ..Bounds::default() }).await;
    let [oldest, old] = [open_session(&host).await, open_session(&host).await];
    until_there_is_room(&host).await;
    let status = async |session: &str| Request::post(&host, &call(1, "echo")).within(session).send().await.status;
    assert_eq!((status(&oldest).await, status(&old).await), (404, 200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_clients_at_once_are_all_answered() {
    let host = Host::start().await;
    let clients = (0..50).map(async |_| {
        let session = open_session(&host).await;
        let mut stream = Request::new(&host, "GET /mcp HTTP/1.1").within(&session).begin().await;
        stream.until("200 OK").await;
        for id in 0..5 {
            let reply = Request::post(&host, &call(id, "echo")).within(&session).send().await;
            assert!(reply.body.contains("\"text\":\"echo\""), "{reply:?}");
        }
        Request::new(&host, "DELETE /mcp HTTP/1.1").within(&session).send().await.status
    });
    let ends = futures_util::future::join_all(clients).await;
    assert_eq!(ends, [202; 50]);
}

#[tokio::test]
async fn f64_the_server_survives_a_flood_of_requests() {
    let mut host = Host::start().await;
    let session = open_session(&host).await;
    // Requests whose sender is gone before the reply.
    for id in 0..500 {
        drop(Request::post(&host, &call(id, "echo")).within(&session).begin().await);
    }
    let held = Request::post(&host, &call(1000, "hold")).within(&session).begin().await;
    assert_eq!(host.fate().await, Fate::Started);
    host.release();
    assert!(held.reply().await.body.contains("held"));
}
