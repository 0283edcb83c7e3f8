//! End of the server: pending replies are sent, streams and connections end.

use std::time::Duration;

use sortie_mcp::http::Bounds;
use tokio::net::TcpStream;

use super::host::{AT_MOST, Fate, Host};
use super::raw::{Request, call, open_session};

#[tokio::test]
async fn a_pending_reply_is_still_sent_before_the_end() {
    let mut host = Host::with(Bounds { farewell: AT_MOST, ..Bounds::default() }).await;
    let session = open_session(&host).await;
    let mut listening = Request::new(&host, "GET /mcp HTTP/1.1").within(&session).begin().await;
    listening.until("200 OK").await;
    let held = Request::post(&host, &call(1, "hold")).within(&session).begin().await;
    assert_eq!(host.fate().await, Fate::Started);
    let _silent = TcpStream::connect(host.address).await.unwrap();

    host.stop.cancel();
    host.release();
    assert!(held.reply().await.body.contains("held"));
    listening.reply().await;
    tokio::time::timeout(AT_MOST, &mut host.served).await.expect("it does not end").unwrap();
    assert!(TcpStream::connect(host.address).await.is_err(), "somebody still listens");
}

#[tokio::test]
async fn connections_that_do_not_end_in_time_are_cut() {
    let mut host = Host::with(Bounds { farewell: Duration::from_millis(100), ..Bounds::default() }).await;
    let session = open_session(&host).await;
    let held = Request::post(&host, &call(1, "hold")).within(&session).begin().await;
    assert_eq!(host.fate().await, Fate::Started);
    host.stop.cancel();
    assert!(!held.reply().await.body.contains("held"));
    tokio::time::timeout(AT_MOST, &mut host.served).await.expect("it does not end").unwrap();
    assert_eq!(host.fate().await, Fate::Cancelled);
}

#[tokio::test]
async fn nobody_new_is_admitted_while_the_server_ends() {
    let mut host = Host::with(Bounds { farewell: AT_MOST, ..Bounds::default() }).await;
    let session = open_session(&host).await;
    let held = Request::post(&host, &call(1, "hold")).within(&session).begin().await;
    assert_eq!(host.fate().await, Fate::Started);
    // A connection made earlier, and used only now.
    let mut early = Request::new(&host, "GET /elsewhere HTTP/1.1").with("Connection", "keep-alive").begin().await;
    early.until("\"id\":null").await;

    host.stop.cancel();
    let late = Request::post(&host, &call(2, "echo")).within(&session);
    let reply = late.on(early).await.reply().await;
    assert_eq!((reply.status, reply.error_code()), (503, -32000), "{reply:?}");
    host.release();
    assert!(held.reply().await.body.contains("held"));
}

#[tokio::test]
async fn a_sessionless_call_that_does_not_end_in_time_gets_an_error() {
    let mut host = Host::with(Bounds { farewell: Duration::from_millis(100), ..Bounds::default() }).await;
    let held = Request::stateless_call(&host, "hold").begin().await;
    assert_eq!(host.fate().await, Fate::Started);
    host.stop.cancel();
    let reply = held.reply().await;
    assert_eq!((reply.status, reply.error_code()), (500, -32603), "{reply:?}");
    assert_eq!(host.fate().await, Fate::Cancelled);
}
