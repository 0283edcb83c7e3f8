//! Failures of servers: reported in time, with a code, and blocking nobody.

use std::process::Command;

use expect_test::expect;
use serde_json::json;
use sortie_protocol::Status;
use sortie_testkit::{Script, reply};

use super::world::{World, one_after_the_other, server, server_with};

#[tokio::test]
async fn a_server_without_a_handshake_is_dropped_in_time_and_then_at_once() {
    let mute = server_with("quiet", "mute", &json!({ "start_timeout_seconds": 1 }));
    let world = World::new(vec![mute, server("t", "sound")], Script::always(reply::text("Done.")));
    let outcome = world.run().await;
    assert_eq!(outcome.status, Status::Completed);
    expect![
        "its tools are missing: mcp_timeout: the MCP server `quiet` was not ready within 1 s (`start_timeout_seconds`)"
    ]
    .assert_eq(&outcome.notices.join("\n"));
    assert!(world.offered().contains(&"mcp__t__echo".to_owned()), "others are there all the same");
    // It is paused for a while: the next task does not wait for it.
    let notice = world.run().await.notices.remove(0);
    assert!(
        notice.contains("mcp_unreachable: the MCP server `quiet` was not ready within 1 s; it is tried again in"),
        "{notice}"
    );
    world.close().await;
}

#[tokio::test]
async fn a_server_that_cannot_start_is_reported_with_its_own_words() {
    let missing =
        sortie_agents::ServerDefinition::read("gone", &json!({ "command": "/nowhere/at/all" })).unwrap().server;
    let keyless = server_with("keyless", "sound", &json!({ "env": { "KEY": "${NOBODY_SET_THIS}" } }));
    let world = World::new(vec![server("b", "broken"), missing, keyless], Script::always(reply::text("Done.")));
    let outcome = world.run().await;
    assert_eq!(outcome.status, Status::Completed);
    expect![[r#"
        its tools are missing: mcp_unreachable: the MCP server `b` did not answer as one: it closed the connection (exit code 4); it said: no licence found
        its tools are missing: mcp_unusable: the MCP server `gone` cannot be started: /nowhere/at/all cannot be run: No such file or directory (os error 2)
        its tools are missing: mcp_unusable: the MCP server `keyless` cannot be started: the variable NOBODY_SET_THIS, which it needs, is not set"#]]
    .assert_eq(&outcome.notices.join("\n"));
    world.close().await;
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_reported_and_restarted_for_the_next() {
    let script = one_after_the_other([
        reply::call("mcp__t__die", json!({})),
        reply::call("mcp__t__echo", json!({ "text": "alive" })),
        reply::call("mcp__t__die", json!({})),
        reply::call("mcp__t__echo", json!({ "text": "never" })),
    ]);
    let world = World::new(vec![server("t", "sound")], script);
    world.run().await;
    let told: Vec<String> = world.outputs().into_iter().map(|output| output.for_model).collect();
    let died = "mcp_unreachable: the MCP server `t` has ended (exit code 3); it said: out of memory; whether the call had its effect is not known";
    assert_eq!(told[..3], [died.to_owned(), "alive".to_owned(), died.to_owned()]);
    // The second time within a short while it is not.
    assert!(told[3].contains("it is tried again in "), "{}", told[3]);
    world.close().await;
}

#[tokio::test]
async fn a_call_without_an_answer_ends_in_time() {
    let script = one_after_the_other([reply::call("mcp__t__hang", json!({}))]);
    let world = World::new(vec![server_with("t", "sound", &json!({ "call_timeout_seconds": 1 }))], script);
    world.run().await;
    let told: Vec<String> = world.outputs().into_iter().map(|output| output.for_model).collect();
    let late = "mcp_timeout: the MCP server `t` sent nothing for 1 s (`call_timeout_seconds`); whether the call had its effect is not known";
    assert_eq!(told, [late]);
    world.close().await;
}

#[tokio::test]
async fn an_endless_message_is_cut_off() {
    let script = one_after_the_other([
        reply::call("mcp__t__flood", json!({})),
        reply::call("mcp__t__echo", json!({ "text": "alive" })),
    ]);
    let world = World::new(vec![server("t", "sound")], script);
    world.run().await;
    let told: Vec<String> = world.outputs().into_iter().map(|output| output.for_model).collect();
    let flooded = "mcp_unreachable: the MCP server `t` has ended (it sent a message of more than 16 MiB); whether the call had its effect is not known";
    assert_eq!(told, [flooded, "alive"]);
    world.close().await;
}

#[tokio::test]
async fn noise_between_messages_is_skipped() {
    let script = one_after_the_other([reply::call("mcp__t__echo", json!({ "text": "hello" }))]);
    let world = World::new(vec![server("t", "noisy")], script);
    world.run().await;
    assert_eq!(world.outputs()[0].for_model, "hello");
    world.close().await;
}

#[tokio::test]
async fn a_message_that_is_nested_too_deeply_arrives_without_its_depths() {
    let script = one_after_the_other([
        reply::call("mcp__t__dig", json!({})),
        reply::call("mcp__t__mine", json!({})),
        reply::call("mcp__t__echo", json!({ "text": "alive" })),
    ]);
    let world = World::new(vec![server("t", "deep")], script);
    let outcome = world.run().await;
    assert_eq!(outcome.notices, [""; 0], "its tools are there");
    let told: Vec<String> = world.outputs().into_iter().map(|output| output.for_model).collect();
    for deep in &told[..2] {
        assert!(deep.contains("(left out: nested too deeply)"), "{deep}");
    }
    assert_eq!(told[2], "alive");
    world.close().await;
}

#[tokio::test]
async fn a_server_that_asks_a_lot_is_answered_and_its_own_answer_arrives() {
    let script = one_after_the_other([reply::call("mcp__t__ask", json!({}))]);
    let world = World::new(vec![server("t", "curious")], script);
    world.run().await;
    assert_eq!(world.outputs()[0].for_model, "asked");
    world.close().await;
}

#[tokio::test]
async fn a_server_that_asks_endlessly_is_restarted_for_the_next_call() {
    let script = one_after_the_other([
        reply::call("mcp__t__pester", json!({})),
        reply::call("mcp__t__echo", json!({ "text": "alive" })),
    ]);
    let world = World::new(vec![server_with("t", "curious", &json!({ "call_timeout_seconds": 1 }))], script);
    world.run().await;
    let told: Vec<String> = world.outputs().into_iter().map(|output| output.for_model).collect();
    assert!(told[0].starts_with("mcp_timeout: the MCP server `t` sent nothing for 1 s"), "{}", told[0]);
    assert_eq!(told[1], "alive");
    world.close().await;
}

/// True if a process has this in its environment.
pub(super) fn is_running(mark: &str) -> bool {
    let found = Command::new("grep").args(["-lsa", mark]).args(environments()).output().unwrap();
    !found.stdout.is_empty()
}

fn environments() -> Vec<std::path::PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("environ"));
    processes.filter(|path| path.exists()).collect()
}

#[tokio::test]
async fn closed_servers_end_and_are_not_restarted() {
    let mark = format!("mark-{}", std::process::id());
    let more = json!({ "env": { "MARK": mark } });
    let world = World::new(vec![server_with("t", "sound", &more)], Script::always(reply::text("Done.")));
    assert_eq!(world.run().await.notices, Vec::<String>::new());
    assert!(is_running(&mark));
    world.close().await;
    assert!(!is_running(&mark));
    let outcome = world.run().await;
    assert!(outcome.notices[0].ends_with("is not started: the program is ending"), "{:?}", outcome.notices);
}
