//! A server starts once for all who want it, however long each of them waits.

use std::path::Path;
use std::time::Duration;

use futures_util::future::{join, select};
use serde_json::json;
use sortie_agents::ServerDefinition;
use sortie_engine::RemoteTools as _;
use sortie_mcp::Connections;
use sortie_testkit::{Script, reply, when};

use super::faults::is_running;
use super::gathering::{gathered, home};
use super::world::{World, appears, ground, server_with};

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

#[tokio::test]
async fn a_server_that_ends_at_an_unknown_request_is_started_again_with_the_handshake() {
    let (home, marks) = (home(), tempfile::tempdir().unwrap());
    let connections = Connections::new([marking("strict", marks.path(), 60)], ground(&home));
    let found = gathered(&connections, Vec::new(), |_| true).await;
    assert_eq!(found.missing, Vec::<String>::new());
    assert!(found.names.contains(&"mcp__t__echo".to_owned()));
    assert_eq!(started(marks.path()), 2);
    connections.close().await;
}

#[tokio::test]
async fn a_server_of_the_newest_revision_alone_is_used_and_its_changes_are_noticed() {
    let marks = tempfile::tempdir().unwrap();
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("mcp__t__echo", json!({ "text": "as new" }))]))
        .on(when::turn(1), reply::calls([reply::call("mcp__t__change", json!({}))]))
        .otherwise(reply::text("Done."));
    let world = World::new(vec![marking("modern", marks.path(), 60)], script);
    let asked = async {
        let outcome = world.run().await;
        assert_eq!(outcome.notices, Vec::<String>::new());
    };
    join(asked, appears(marks.path().join("listens"))).await;
    let outputs: Vec<String> = world.outputs().into_iter().map(|output| output.for_model).collect();
    assert_eq!(outputs, ["as new", "changed"]);
    world.run().await;
    assert!(world.offered().contains(&"mcp__t__late".to_owned()), "{:?}", world.offered());
    world.close().await;
}
