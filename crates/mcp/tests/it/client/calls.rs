//! Calls of servers' tools, and the gate's decisions about them.

use expect_test::expect;
use serde_json::json;
use sortie_engine::Permissions;
use sortie_protocol::{GrantLayer, Mode, Status};
use sortie_testkit::{Script, reply, when};

use super::world::{World, appears, logs, one_after_the_other, server, server_with};

#[tokio::test]
async fn a_servers_tools_are_offered_and_called() {
    let script = one_after_the_other([
        reply::call("mcp__t__echo", json!({ "text": "hello" })),
        reply::call("mcp__t__dotted_name", json!({ "text": "by another name" })),
        reply::call("mcp__t__fail", json!({})),
        reply::call("mcp__t__refuse", json!({})),
        reply::raw_call("mcp__t__echo", "[1]"),
    ]);
    let world = World::new(vec![server("t", "sound")], script);
    let outcome = world.run().await;
    assert_eq!((outcome.status, &outcome.notices[..]), (Status::Completed, &[][..]));
    expect![[r#"
        mcp__t__echo
        mcp__t__fail
        mcp__t__refuse
        mcp__t__die
        mcp__t__hang
        mcp__t__long
        mcp__t__flood
        mcp__t__change
        mcp__t__environment
        mcp__t__dotted_name"#]]
    .assert_eq(&world.offered().join("\n"));
    let told: Vec<String> =
        world.outputs().iter().map(|output| format!("{} {}", output.failed, output.for_model)).collect();
    expect![[r#"
        false hello
        false by another name
        true it did not work
        true mcp_error: the MCP server `t` refused the call: `text` is missing (code -32602)
        true mcp__t__echo was not run: its arguments are not a JSON object"#]]
    .assert_eq(&told.join("\n"));
    world.close().await;
}

#[tokio::test]
async fn a_servers_hint_allows_nothing_and_the_refusal_names_the_missing_rule() {
    let call = || one_after_the_other([reply::call("mcp__t__echo", json!({ "text": "hello" }))]);
    let layer = |allow: &[&str]| Permissions {
        layers: vec![GrantLayer {
            mode: Some(Mode::Default),
            allow: allow.iter().map(|rule| (*rule).to_owned()).collect(),
            ..GrantLayer::new("the user's settings")
        }],
        ..Permissions::unrestricted()
    };
    let world = World::permitted(vec![server("t", "sound")], call(), layer(&[]));
    world.run().await;
    expect![[r#"mcp__t__echo was not run: nobody can be asked here, and it needs approval; `mcp__t__echo` under [permissions] allow, or --allow 'mcp__t__echo', would allow it"#]]
        .assert_eq(&world.outputs()[0].for_model);
    world.close().await;
    let world = World::permitted(vec![server("t", "sound")], call(), layer(&["mcp__t"]));
    world.run().await;
    assert_eq!(world.outputs()[0].for_model, "hello");
    world.close().await;
}

#[tokio::test]
async fn a_long_output_is_cut_and_kept_whole_in_a_file() {
    let world = World::new(vec![server("t", "sound")], one_after_the_other([reply::call("mcp__t__long", json!({}))]));
    world.run().await;
    let told = world.outputs().remove(0).for_model;
    let (shown, mark) = told.rsplit_once("\n[").unwrap();
    assert_eq!(shown.len(), 30_000);
    let path = mark.strip_prefix("cut after 30000 of 160000 bytes; the whole text is in ").unwrap();
    assert_eq!(std::fs::read_to_string(path.trim_end_matches(']')).unwrap().len(), 160_000);
    world.close().await;
}

#[tokio::test]
async fn stopping_a_task_stops_its_call_and_notifies_the_server() {
    let marks = tempfile::tempdir().unwrap();
    let more = json!({ "env": { "MARKS": marks.path() } });
    let script = one_after_the_other([reply::call("mcp__t__hang", json!({}))]);
    let world = World::new(vec![server_with("t", "sound", &more)], script);
    let running = world.start().await;
    appears(marks.path().join("hangs")).await;
    running.stop();
    assert_eq!(running.outcome().await.unwrap().status, Status::Cancelled);
    appears(marks.path().join("cancelled")).await;
    world.close().await;
}

#[tokio::test]
async fn a_server_gets_only_its_own_variables_and_its_stderr_is_in_a_file() {
    let more = json!({ "env": { "KEY": "${SECRET_KEY}", "PLACE": "${NOWHERE:-here}" } });
    let script = one_after_the_other([reply::call("mcp__t__environment", json!({}))]);
    let world = World::new(vec![server_with("t", "noisy", &more)], script);
    world.run().await;
    let told = world.outputs().remove(0).for_model;
    let own: Vec<&str> = told.lines().filter(|line| !line.contains("LLVM_PROFILE")).collect();
    let expected =
        ["KEY=key-from-outside", "PATH=/usr/bin:/bin", "PLACE=here", "SORTIE_LEVEL=1", "SORTIE_TEST_MCP_SERVER=noisy"];
    assert_eq!(own, expected);
    world.close().await;
    let log = std::fs::read_to_string(logs(&world.home).join("t.log")).unwrap();
    assert!(log.starts_with("a line about nothing\n"), "{log}");
}

#[tokio::test]
async fn a_tool_that_changed_under_a_task_is_callable_only_by_a_new_task() {
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("mcp__t__change", json!({}))]))
        .on(when::turn(1), reply::calls([reply::call("mcp__t__echo", json!({ "text": "secret" }))]))
        .on(when::turn(2), reply::text("Done."));
    let world = World::new(vec![server("t", "sound")], script);
    world.run().await;
    let changed = &world.outputs()[1];
    assert!(changed.failed && changed.for_model.starts_with("mcp_changed: `mcp__t__echo` is no longer"), "{changed:?}");
    assert!(!world.offered().contains(&"mcp__t__late".to_owned()), "what a task is offered does not change under it");
    world.run().await;
    assert!(world.offered().contains(&"mcp__t__late".to_owned()));
    assert_eq!(world.outputs()[1].for_model, "secret");
    world.close().await;
}
