//! Ownership and end of sessions.

use std::time::Duration;

use sortie_mcp::http::Bounds;

use super::host::{Fate, Host, OTHER_TOKEN, TOKEN};
use super::raw::{Request, call, open_session, open_session_by, until_there_is_room};

const QUICK: Duration = Duration::from_millis(200);

fn by_other_token(request: Request) -> Request {
    request.with("Authorization", &format!("Bearer {OTHER_TOKEN}"))
}

#[tokio::test]
async fn s69_a_session_belongs_to_the_token_that_started_it() {
    let mut host = Host::start().await;
    let session = open_session(&host).await;
    let held = Request::post(&host, &call(1, "hold")).within(&session).begin().await;
    assert_eq!(host.fate().await, Fate::Started);

    host.replace_token(Some(OTHER_TOKEN));
    let echo = Request::post(&host, &call(2, "echo")).within(&session);
    assert_eq!(echo.send().await.status, 401, "the old token");
    let stolen = by_other_token(echo).send().await;
    assert_eq!((stolen.status, stolen.error_code()), (404, -32600), "the new one: {stolen:?}");
    // The stream ends with its session, and so does the request behind it.
    assert!(!held.reply().await.body.contains("held"));
    assert_eq!(host.fate().await, Fate::Cancelled);

    let own = open_session_by(&host, by_other_token).await;
    let reply = by_other_token(Request::post(&host, &call(1, "echo")).within(&own)).send().await;
    assert!(reply.body.contains("\"text\":\"echo\""), "{reply:?}");
}

#[tokio::test]
async fn s69_sessions_of_a_replaced_token_end_by_themselves() {
    let mut host = Host::with(Bounds { absence: QUICK, ..Bounds::default() }).await;
    let session = open_session(&host).await;
    let _held = Request::post(&host, &call(1, "hold")).within(&session).begin().await;
    assert_eq!(host.fate().await, Fate::Started);
    host.replace_token(Some(OTHER_TOKEN));
    assert_eq!(host.fate().await, Fate::Cancelled);
}

#[tokio::test]
async fn nobody_is_admitted_while_there_is_no_token() {
    let host = Host::start().await;
    let session = open_session(&host).await;
    host.replace_token(None);
    let echo = Request::post(&host, &call(1, "echo")).within(&session);
    let reply = echo.send().await;
    assert_eq!((reply.status, reply.error_code()), (503, -32000), "{reply:?}");
    assert_eq!(Request::initialize(&host).without("Authorization").send().await.status, 503);
    host.replace_token(Some(TOKEN));
    assert_eq!(echo.send().await.status, 200);
}

#[tokio::test]
async fn f64_a_call_is_cancelled_once_its_client_is_gone_but_not_while_it_listens() {
    let mut host = Host::with(Bounds { absence: QUICK, ..Bounds::default() }).await;
    let [listening, gone] = [open_session(&host).await, open_session(&host).await];
    let mut stream = Request::new(&host, "GET /mcp HTTP/1.1").within(&listening).begin().await;
    stream.until("200 OK").await;
    for session in [&listening, &gone] {
        let connection = Request::post(&host, &call(1, "hold")).within(session).begin().await;
        assert_eq!(host.fate().await, Fate::Started);
        drop(connection);
    }
    assert_eq!(host.fate().await, Fate::Cancelled, "the client that is gone");
    host.release();
    assert_eq!(host.fate().await, Fate::Finished, "the client that listens");
    let over = Request::post(&host, &call(2, "echo")).within(&gone).send().await;
    assert_eq!(over.status, 404);
}

#[tokio::test]
async fn an_unused_session_ends() {
    let never = Duration::from_hours(1);
    let host = Host::with(Bounds { sessions: 1, absence: never, idleness: QUICK, ..Bounds::default() }).await;
    let idle = open_session(&host).await;
    // There is room for another one once it has ended.
    until_there_is_room(&host).await;
    assert_eq!(Request::post(&host, &call(1, "echo")).within(&idle).send().await.status, 404);
}

#[tokio::test]
async fn f64_a_sessionless_call_is_cancelled_when_its_client_disconnects() {
    let mut host = Host::start().await;
    let connection = Request::stateless_call(&host, "hold").begin().await;
    assert_eq!(host.fate().await, Fate::Started);
    drop(connection);
    assert_eq!(host.fate().await, Fate::Cancelled);
    assert!(Request::stateless_call(&host, "echo").send().await.body.contains("\"text\":\"echo\""));
}
