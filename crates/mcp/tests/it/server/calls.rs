//! Listing and calling, errors, progress and cancellation.

use rmcp::service::ServiceError;
use serde_json::json;
use sortie_journal::TaskState;
use sortie_protocol::Status;
use sortie_testkit::{Script, reply, when};

use crate::office::{World, answer, brief, text};

#[tokio::test]
async fn task_and_its_companions_are_offered_with_true_hints() {
    let host = World::new(Script::new()).connect().await;
    let tools = host.client.list_all_tools().await.unwrap();
    let hints: Vec<String> = tools
        .iter()
        .map(|tool| {
            let hints = tool.annotations.as_ref().unwrap();
            format!("{}: read-only {:?}, destructive {:?}", tool.name, hints.read_only_hint, hints.destructive_hint)
        })
        .collect();
    expect_test::expect![[r#"
        Task: read-only Some(false), destructive Some(true)
        Explore: read-only Some(true), destructive None
        SubagentOutput: read-only Some(true), destructive None
        SubagentStop: read-only Some(false), destructive Some(true)
        SubagentMessage: read-only Some(false), destructive Some(true)
        SubagentList: read-only Some(true), destructive None"#]]
    .assert_eq(&hints.join("\n"));
    let with_schema: Vec<&str> =
        tools.iter().filter(|tool| tool.output_schema.is_some()).map(|tool| tool.name.as_ref()).collect();
    assert_eq!(with_schema, ["Task"]);
}

#[tokio::test]
async fn a_contract_without_companions_offers_its_tool_alone() {
    for contract in ["envelope", "result", "delegate", "child"] {
        let world = World::in_contract(contract, Script::new());
        let tools = world.connect().await.client.list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, [sortie_contract::contract(contract).unwrap().tool_name()], "{contract}");
    }
}

#[tokio::test]
async fn a_call_is_answered_as_text_and_as_an_object() {
    let host = World::new(Script::always(reply::text("It is in auth.rs."))).connect().await;
    let result = host.call("Task", brief("Where is it?")).await.unwrap();
    assert_eq!(result.is_error, Some(false));
    assert!(text(&result).contains("It is in auth.rs."), "{result:?}");
    let object = result.structured_content.unwrap();
    assert_eq!((&object["status"], &object["text"]), (&json!("completed"), &json!("It is in auth.rs.")));
}

#[tokio::test]
async fn a_task_that_cannot_start_is_a_tool_error_in_the_contracts_words() {
    let host = World::new(Script::new()).connect().await;
    for (arguments, words) in [
        (json!({"description": "x"}), "prompt"),
        (json!({"description": "x", "prompt": "y", "subagent_type": "nobody"}), "nobody"),
        (json!({"description": "x", "prompt": "y", "resume": "agent-aaaaaaaaaaaa"}), "agent-aaaaaaaaaaaa"),
    ] {
        let result = host.call("Task", arguments).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert!(text(&result).contains(words), "{result:?}");
        assert_eq!(result.structured_content.unwrap()["status"], "rejected");
    }
}

#[tokio::test]
async fn a_failed_task_is_an_error_if_the_contract_says_so() {
    let failing = || Script::always(reply::status(400));
    let result = World::new(failing()).connect().await.call("Task", brief("x")).await.unwrap();
    assert_eq!((result.is_error, &result.structured_content.unwrap()["status"]), (Some(true), &json!("failed")));
    let contract = sortie_contract::contract("envelope").unwrap();
    let world = World::in_contract("envelope", failing());
    let result = world.connect().await.call(contract.tool_name(), brief("x")).await.unwrap();
    assert_eq!(result.structured_content.unwrap()["status"], "error");
}

#[tokio::test]
async fn an_unknown_tool_is_a_request_error_that_lists_the_tools() {
    let host = World::new(Script::new()).connect().await;
    let Err(ServiceError::McpError(error)) = host.call("Bash", json!({})).await else { panic!("an error") };
    assert_eq!(error.code, rmcp::model::ErrorCode::INVALID_PARAMS);
    assert!(error.message.contains("`Bash`") && error.message.contains("SubagentList"), "{error:?}");
}

#[tokio::test]
async fn a_waiting_host_receives_progress() {
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("LS", json!({"path": "."}))]))
        .otherwise(reply::text("done").held_by("gate"));
    let world = World::new(script);
    let host = world.connect().await;
    let call = host.begin("Task", brief("Look around")).await;
    let told = host.told(|line| line.contains("turn 2, 1 call,")).await;
    assert_eq!(told[0], "starting");
    assert!(!told.iter().any(|line| line.contains("waiting for a slot")), "nothing waits: {told:?}");
    assert!(told.last().unwrap().contains(" explore running"), "{told:?}");
    world.model.gate("gate").open();
    assert_eq!(answer(call).await.is_error, Some(false));
}

#[tokio::test]
async fn a_call_that_is_cancelled_stops_the_whole_tree() {
    let delegate = reply::calls([reply::call("Task", json!({"description": "x", "prompt": "inner work"}))]);
    let script = Script::new().on(when::prompt_contains("inner work"), reply::never()).otherwise(delegate);
    let world = World::new(script);
    let host = world.connect().await;
    let outer = json!({"description": "x", "prompt": "outer work", "subagent_type": "general-purpose"});
    let call = host.begin("Task", outer).await;
    // The outer one waits for the inner one, whose reply never ends.
    world.model.traffic_reaches(|traffic| traffic.calls == 2 && traffic.in_flight == 1).await;
    call.cancel(Some("enough".to_owned())).await.unwrap();
    world.model.traffic_reaches(|traffic| traffic.in_flight == 0).await;
    let tasks = world.all_ended(2).await;
    assert!(tasks.iter().all(|task| task.state == TaskState::Ended(Status::Cancelled)), "{tasks:?}");
    // The session continues.
    assert_eq!(host.client.list_all_tools().await.unwrap().len(), 6);
}
