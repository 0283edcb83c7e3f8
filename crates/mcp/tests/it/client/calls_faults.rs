//! Calls of tools of misbehaving servers: nobody waits for ever, and every failure is reported.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_protocol::Status;
use sortie_testkit::{Script, reply, when};

use super::world::{World, appears, one_after_the_other, server, server_with};

fn told(world: &World) -> Vec<String> {
    world.outputs().into_iter().map(|output| output.for_model).collect()
}

fn echo(text: &str) -> Value {
    json!({ "text": text })
}

#[tokio::test]
async fn a_call_does_not_wait_for_ever_for_a_list_of_tools() {
    let script = one_after_the_other([
        reply::call("mcp__t__change", json!({})),
        reply::call("mcp__t__echo", echo("never listed")),
        reply::call("mcp__t__echo", echo("started again")),
    ]);
    let forgetful = server_with("t", "forgetful", &json!({ "start_timeout_seconds": 3, "call_timeout_seconds": 1 }));
    let world = World::new(vec![forgetful], script);
    world.run().await;
    let late = "mcp_timeout: the MCP server `t` was not ready within 3 s (`start_timeout_seconds`)";
    assert_eq!(told(&world), ["changed", late, "started again"]);
    world.close().await;
}

#[tokio::test]
async fn a_server_too_busy_to_list_its_tools_is_not_ended_under_others() {
    let marks = tempfile::tempdir().unwrap();
    let more = json!({ "env": { "MARKS": marks.path() }, "start_timeout_seconds": 3, "call_timeout_seconds": 600 });
    // The hanging call is under way when the next task asks for the tools.
    let script = Script::new()
        .on(when::turn(0).prompt_contains("hang"), reply::calls([reply::call("mcp__t__hang", json!({}))]))
        .on(when::turn(0).prompt_contains("other tools"), reply::calls([reply::call("mcp__t__change", json!({}))]))
        .otherwise(reply::text("Done."));
    let world = World::new(vec![server_with("t", "forgetful", &more)], script);
    let hanging = world.start_with("hang").await;
    appears(marks.path().join("hangs")).await;
    world.start_with("other tools").await.outcome().await.unwrap();
    let notice = world.run().await.notices.remove(0);
    assert!(notice.contains("mcp_timeout: the MCP server `t` was not ready within 3 s"), "{notice}");
    world.run().await;
    assert!(
        world.offered().contains(&"mcp__t__late".to_owned()),
        "the server is still the same one: {:?}",
        world.offered()
    );
    hanging.stop();
    assert_eq!(hanging.outcome().await.unwrap().status, Status::Cancelled);
    world.close().await;
}

#[tokio::test]
async fn a_task_that_is_stopped_while_tools_are_listed_hides_no_change_from_others() {
    let marks = tempfile::tempdir().unwrap();
    let forgetful = server_with("t", "forgetful", &json!({ "env": { "MARKS": marks.path() } }));
    let script = one_after_the_other([
        reply::call("mcp__t__change", json!({})),
        reply::call("mcp__t__echo", echo("never listed")),
    ]);
    let world = World::new(vec![forgetful], script);
    let running = world.start().await;
    appears(marks.path().join("forgotten")).await;
    running.stop();
    assert_eq!(running.outcome().await.unwrap().status, Status::Cancelled);
    appears(marks.path().join("cancelled")).await;
    world.run().await;
    assert!(world.offered().contains(&"mcp__t__late".to_owned()), "{:?}", world.offered());
    world.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_read_blocks_no_call_and_is_restarted() {
    let script = one_after_the_other([
        reply::call("mcp__t__deafen", json!({})),
        // More than a pipe holds.
        reply::call("mcp__t__echo", echo(&"x".repeat(300_000))),
        reply::call("mcp__t__echo", echo("alive")),
    ]);
    let deaf = server_with("t", "odd", &json!({ "call_timeout_seconds": 1 }));
    let world = World::new(vec![deaf], script);
    world.run().await;
    let unread = "mcp_timeout: the MCP server `t` sent nothing for 1 s (`call_timeout_seconds`); whether the call had \
                  its effect is not known";
    assert_eq!(told(&world), ["what?", unread, "alive"]);
    world.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_read_while_it_works_for_others_is_not_ended_under_them() {
    let marks = tempfile::tempdir().unwrap();
    let more = json!({ "env": { "MARKS": marks.path() }, "call_timeout_seconds": 2 });
    let script = Script::new()
        .on(when::turn(0).prompt_contains("toil"), reply::calls([reply::call("mcp__t__toil", json!({}))]))
        // More than a pipe holds.
        .on(
            when::turn(0).prompt_contains("much"),
            reply::calls([reply::call("mcp__t__echo", echo(&"x".repeat(300_000)))]),
        )
        .otherwise(reply::text("Done."));
    let world = World::new(vec![server_with("t", "curious", &more)], script);
    let toiling = world.start_with("toil").await;
    appears(marks.path().join("toils")).await;
    world.start_with("much").await.outcome().await.unwrap();
    assert!(told(&world)[0].starts_with("mcp_timeout: the MCP server `t` sent nothing for 2 s"), "{:?}", told(&world));
    // The next caller would start it anew.
    assert_eq!(world.run().await.notices, Vec::<String>::new());
    std::fs::write(marks.path().join("go"), "").unwrap();
    toiling.outcome().await.unwrap();
    assert_eq!(told(&world), ["toiled"]);
    world.close().await;
}

#[tokio::test]
async fn a_call_with_progress_is_waited_for() {
    let script = one_after_the_other([reply::call("mcp__t__plod", json!({}))]);
    let world = World::new(vec![server_with("t", "odd", &json!({ "call_timeout_seconds": 2 }))], script);
    world.run().await;
    assert_eq!(told(&world), ["there"]);
    world.close().await;
}

#[tokio::test]
async fn oddities_affect_nothing_else() {
    let script = one_after_the_other([
        reply::call("mcp__t__mixed", json!({})),
        reply::call("mcp__t__other", json!({})),
        reply::call("mcp__t__echo", echo("hello")),
    ]);
    let world = World::new(vec![server("t", "odd")], script);
    let outcome = world.run().await;
    expect![[r#"
        the MCP server `t` has tools that cannot be read and are left out: `bare`
        the MCP server `t` has a tool without a name, which is left out"#]]
    .assert_eq(&outcome.notices.join("\n"));
    let offered = ["echo", "mixed", "other", "plod", "deafen", "either"].map(|name| format!("mcp__t__{name}"));
    assert_eq!(world.offered(), offered);
    expect![[r#"
        [unreadable content of kind "video"]
        beside it
        mcp_error: the MCP server `t` answered with something that is not a tool result; whether the call had its effect is not known
        hello"#]]
    .assert_eq(&told(&world).join("\n"));
    world.close().await;
}

#[tokio::test]
async fn a_server_that_declares_no_tools_is_not_asked_for_them() {
    let world = World::new(vec![server("t", "toolless")], Script::always(reply::text("Done.")));
    let outcome = world.run().await;
    assert_eq!(outcome.notices, ["the MCP server `t` has no tools"]);
    assert_eq!(world.offered(), Vec::<String>::new());
    world.close().await;
}
