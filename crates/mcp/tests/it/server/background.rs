//! Background tasks, the companion tools, and a host that is gone.

use serde_json::json;
use sortie_journal::TaskState;
use sortie_protocol::Status;
use sortie_testkit::{Script, reply, when};

use crate::office::{Host, World, answer, brief, text};

/// Starts a task in the background and returns its id.
async fn launch(host: &Host, prompt: &str) -> String {
    let mut arguments = brief(prompt);
    arguments["run_in_background"] = json!(true);
    let result = host.call("Task", arguments).await.unwrap();
    let object = result.structured_content.clone().unwrap();
    assert_eq!(object["status"], "running", "{result:?}");
    assert!(!text(&result).contains("delivered"), "nothing is delivered to a host: {result:?}");
    object["task_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_launch_is_answered_at_once_and_task_output_waits_for_the_report() {
    let world = World::new(Script::always(reply::text("found it").held_by("gate")));
    let host = world.connect().await;
    let task = launch(&host, "look").await;
    let digest = host.call("SubagentOutput", json!({"task_id": task, "block": false})).await.unwrap();
    assert!(text(&digest).contains("call SubagentOutput again"), "{digest:?}");
    world.model.gate("gate").open();
    let report = host.call("SubagentOutput", json!({"task_id": task})).await.unwrap();
    assert!(text(&report).contains("found it") && text(&report).contains("completed"), "{report:?}");
    let listed = host.call("SubagentList", json!({})).await.unwrap();
    assert!(text(&listed).contains(&task), "{listed:?}");
}

#[tokio::test]
async fn a_host_that_waits_for_a_report_receives_progress() {
    let world = World::new(Script::always(reply::text("found it").held_by("gate")));
    let host = world.connect().await;
    let task = launch(&host, "look").await;
    let call = host.begin("SubagentOutput", json!({"task_id": task})).await;
    let told = host.told(|line| line.contains("turn 1")).await;
    // The first line is of the call that started it.
    let (first, told) = told.split_first().unwrap();
    assert_eq!(first, "starting");
    assert!(told.iter().all(|line| line.contains(&task) && line.contains(" explore running")), "{told:?}");
    world.model.gate("gate").open();
    assert!(text(&answer(call).await).contains("found it"));
}

#[tokio::test]
async fn task_stop_ends_a_task_and_says_so() {
    let world = World::new(Script::always(reply::never()));
    let host = world.connect().await;
    let task = launch(&host, "look").await;
    let stopped = host.call("SubagentStop", json!({"task_id": task})).await.unwrap();
    assert!(text(&stopped).contains("cancelled"), "{stopped:?}");
}

#[tokio::test]
async fn a_message_reaches_a_working_task_and_resumes_an_ended_one() {
    let script = Script::new()
        .on(when::last_contains("also b.rs"), reply::text("b.rs, too"))
        .on(when::turn(0), reply::calls([reply::call("LS", json!({"path": "."}))]).held_by("first"))
        .otherwise(reply::text("nothing else"));
    let world = World::new(script);
    let host = world.connect().await;
    let task = launch(&host, "look").await;
    world.model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    let sent = host.call("SubagentMessage", json!({"to": task, "message": "also b.rs"})).await.unwrap();
    assert!(text(&sent).contains("delivered"), "{sent:?}");
    world.model.gate("first").open();
    let report = host.call("SubagentOutput", json!({"task_id": task})).await.unwrap();
    assert!(text(&report).contains("b.rs, too"), "{report:?}");
    let told = format!("{:?}", world.model.seen().last().unwrap().messages);
    assert!(told.contains("not a person's approval"), "a host is not a person: {told}");

    let sent = host.call("SubagentMessage", json!({"to": task, "message": "and now?"})).await.unwrap();
    assert!(text(&sent).contains("resumes") && text(&sent).contains("SubagentOutput"), "{sent:?}");
    let report = host.call("SubagentOutput", json!({"task_id": task})).await.unwrap();
    assert!(text(&report).contains("nothing else"), "{report:?}");
}

#[tokio::test]
async fn an_unknown_task_is_named_in_the_error() {
    let host = World::new(Script::new()).connect().await;
    for tool in ["SubagentOutput", "SubagentStop"] {
        let result = host.call(tool, json!({"task_id": "agent-aaaaaaaaaaaa"})).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert!(text(&result).contains("agent-aaaaaaaaaaaa"), "{result:?}");
    }
}

#[tokio::test]
async fn a_lost_host_interrupts_only_the_tasks_that_it_waited_for() {
    let script = Script::new()
        .on(when::prompt_contains("waited for"), reply::never())
        .otherwise(reply::text("done").held_by("gate"));
    let world = World::new(script);
    let host = world.connect().await;
    let apart = launch(&host, "by itself").await;
    let _call = host.begin("Task", brief("waited for")).await;
    world.model.traffic_reaches(|traffic| traffic.in_flight == 2).await;
    let Host { client, session, .. } = host;
    client.cancel().await.unwrap();
    session.await.unwrap();
    world.model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    assert!(!world.office.is_idle());
    world.model.gate("gate").open();
    world.office.idle().await;
    for task in world.all_ended(1).await {
        let is_apart = task.task_id.to_string() == apart;
        let wanted = if is_apart { TaskState::Ended(Status::Completed) } else { TaskState::Interrupted };
        assert_eq!(task.state, wanted, "{task:?}");
    }
}
