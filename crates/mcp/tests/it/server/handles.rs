//! The Tasks extension: a handle at once, the answer later.

use rmcp::model::{CallToolResponse, CancelTaskParams, ClientCapabilities, GetTaskParams, TaskPayload, TaskStatus};
use sortie_testkit::{Script, reply};

use crate::office::{Host, World, brief, params};

async fn handle(host: &Host, prompt: &str) -> String {
    match host.client.call_tool_once(params("Task", brief(prompt))).await.unwrap() {
        CallToolResponse::Task(handle) => handle.task.task_id,
        other => panic!("not a handle: {other:?}"),
    }
}

fn knowing_tasks() -> ClientCapabilities {
    ClientCapabilities::builder().enable_tasks().build()
}

#[tokio::test]
async fn a_call_returns_a_handle_at_once_and_its_answer_later() {
    let world = World::new(Script::always(reply::text("found it").held_by("gate")));
    let host = world.connect_newest(knowing_tasks()).await;
    let task = handle(&host, "look").await;
    let working = host.client.get_task(GetTaskParams::new(task.clone())).await.unwrap().task;
    assert_eq!(working.status(), TaskStatus::Working);
    world.model.gate("gate").open();
    world.office.idle().await;
    let done = host.client.get_task(GetTaskParams::new(task)).await.unwrap().task;
    let TaskPayload::Completed { result } = done.payload else { panic!("{done:?}") };
    assert_eq!(result["structuredContent"]["text"], "found it");
    assert_eq!(result["isError"], false);
}

#[tokio::test]
async fn a_handle_can_be_cancelled() {
    let world = World::new(Script::always(reply::never()));
    let host = world.connect_newest(knowing_tasks()).await;
    let task = handle(&host, "look").await;
    host.client.cancel_task(CancelTaskParams::new(task.clone())).await.unwrap();
    world.office.idle().await;
    let ended = host.client.get_task(GetTaskParams::new(task)).await.unwrap().task;
    assert_eq!(ended.status(), TaskStatus::Cancelled);
}

#[tokio::test]
async fn a_call_that_cannot_start_gets_an_answer_and_no_handle() {
    let host = World::new(Script::new()).connect_with(knowing_tasks()).await;
    let result = host.call("Task", serde_json::json!({"description": "x"})).await.unwrap();
    assert_eq!(result.is_error, Some(true));
}

#[tokio::test]
async fn an_unknown_handle_is_a_request_error() {
    let host = World::new(Script::new()).connect_with(knowing_tasks()).await;
    for id in ["agent-aaaaaaaaaaaa", "nonsense"] {
        let error = host.client.get_task(GetTaskParams::new(id)).await.unwrap_err();
        assert!(error.to_string().contains(id), "{error}");
    }
}

#[tokio::test]
async fn a_host_of_an_earlier_revision_always_gets_an_answer() {
    let world = World::new(Script::always(reply::text("found it")));
    let host = world.connect_with(knowing_tasks()).await;
    let answer = host.call("Task", brief("look")).await.unwrap();
    assert_eq!(answer.structured_content.unwrap()["text"], "found it");
}
