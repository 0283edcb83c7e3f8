//! A server starts once for all who want it, however long each of them waits.

use std::path::Path;
use std::time::Duration;

use futures_util::future::{join, select};
use serde_json::json;
use sortie_agents::ServerDefinition;
use sortie_engine::RemoteTools as _;
use sortie_mcp::Connections;

use super::faults::is_running;
use super::gathering::{gathered, home};
use super::world::{ground, server_with};

fn marking(role: &str, marks: &Path, seconds: u64) -> ServerDefinition {
    server_with("t", role, &json!({ "env": { "MARKS": marks }, "start_timeout_seconds": seconds }))
}

/// Number of servers started.
fn started(marks: &Path) -> usize {
    let names = std::fs::read_dir(marks).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("started-")).count()
}

/// Waits until one has started.
async fn one_starts(marks: &Path) {
    while started(marks) == 0 {
        // Sleeps on purpose: another process does not announce that it has written a file.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn callers_during_a_start_share_it_and_it_fails_once() {
    let (home, marks) = (home(), tempfile::tempdir().unwrap());
    let connections = Connections::new([marking("mute", marks.path(), 1)], ground(&home));
    let ask = async || gathered(&connections, Vec::new(), |_| true).await.missing;
    let later = async {
        one_starts(marks.path()).await;
        ask().await
    };
    let (first, later) = join(ask(), later).await;
    let late =
        "its tools are missing: mcp_timeout: the MCP server `t` was not ready within 1 s (`start_timeout_seconds`)";
    assert_eq!((&first[..], &later[..]), (&[late.to_owned()][..], &[late.to_owned()][..]));
    let last = ask().await;
    assert!(last[0].contains("`t` was not ready within 1 s; it is tried again in "), "{last:?}");
    assert_eq!(started(marks.path()), 1);
    connections.close().await;
}

#[tokio::test]
async fn a_caller_that_stops_waiting_does_not_end_a_start() {
    let (home, marks) = (home(), tempfile::tempdir().unwrap());
    let connections = Connections::new([marking("patient", marks.path(), 60)], ground(&home));
    let ask = async || gathered(&connections, Vec::new(), |_| true).await;
    let (impatient, start) = (Box::pin(ask()), Box::pin(one_starts(marks.path())));
    drop(select(impatient, start).await);
    std::fs::write(marks.path().join("go"), "").unwrap();
    let found = ask().await;
    assert_eq!(found.missing, Vec::<String>::new());
    assert!(found.names.contains(&"mcp__t__echo".to_owned()));
    assert_eq!(started(marks.path()), 1);
    connections.close().await;
}

#[tokio::test]
async fn closing_does_not_wait_for_a_start_and_ends_it() {
    let (home, marks) = (home(), tempfile::tempdir().unwrap());
    let connections = Connections::new([marking("mute", marks.path(), 600)], ground(&home));
    let end = async {
        one_starts(marks.path()).await;
        connections.close().await;
    };
    let (found, ()) = join(gathered(&connections, Vec::new(), |_| true), end).await;
    assert!(found.missing[0].ends_with("`t` is not started: the program is ending"), "{:?}", found.missing);
    let mark = marks.path().to_string_lossy().into_owned();
    while is_running(&mark) {
        tokio::task::yield_now().await;
    }
}
