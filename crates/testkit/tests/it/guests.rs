//! Other programs at the server, and replies that wait for each other.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, ServerEvent, ServerOptions, reply, when};

use crate::client::{Client, Wire, anthropic_request, ask, openai_request, openai_responses_request};

/// Longer than any test takes.
const LONG: Duration = Duration::from_mins(1);

#[test]
fn a_guests_requests_are_not_checked_and_all_others_are() {
    let options = ServerOptions { guest: Some("guest".to_owned()), ..ServerOptions::default() };
    let server = ScriptedServer::start_with(Script::always(reply::text("here")), options).unwrap();
    let status = |model: &str| {
        let mut request = openai_request("x");
        request["model"] = json!(model);
        request["client_metadata"] = json!({});
        ask(&server, Wire::OpenAi, &request).status
    };
    assert_eq!((status("guest"), status("scripted")), (200, 400));
}

#[test]
fn a_call_can_name_a_tool_in_a_namespace() {
    let call = reply::calls([reply::call("mcp__sortie/Task", json!({})), reply::call("Read", json!({}))]);
    let server = ScriptedServer::start(Script::always(call)).unwrap();
    let answer = ask(&server, Wire::OpenAiResponses, &openai_responses_request("x")).json();
    let named =
        |index: usize| (answer["output"][index]["namespace"].as_str(), answer["output"][index]["name"].as_str());
    assert_eq!(named(0), (Some("mcp__sortie"), Some("Task")));
    assert_eq!(named(1), (None, Some("Read")));
}

#[test]
fn replies_of_a_meeting_leave_together() {
    let server = ScriptedServer::start(Script::always(reply::text("met").meets("all", 2, LONG))).unwrap();
    let mut first = Client::connect(&server);
    first.post_openai(&openai_request("one"));
    // The second finds the first there, whichever comes first.
    assert_eq!(ask(&server, Wire::Anthropic, &anthropic_request("two")).status, 200);
    assert_eq!(first.receive().status, 200);
}

#[test]
fn a_reply_that_waits_in_vain_is_an_error() {
    let alone = reply::text("met").meets("all", 2, Duration::from_millis(1));
    let server = ScriptedServer::start(Script::always(alone)).unwrap();
    for _ in 0..2 {
        // One after the other, they never meet.
        let answer = ask(&server, Wire::OpenAi, &openai_request("one"));
        assert_eq!(answer.status, 400);
        let expected = "meeting `all`: of 2 replies, 1 waited at once in 1 ms";
        assert_eq!(answer.json()["error"]["message"], expected);
    }
}

#[tokio::test]
async fn a_client_that_leaves_is_an_event() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&events);
    let watch = Box::new(move |event: ServerEvent<'_>| {
        seen.lock().unwrap().push(match event {
            ServerEvent::Arrived { .. } => "arrived",
            ServerEvent::Answered { .. } => "answered",
            ServerEvent::Abandoned { .. } => "abandoned",
        });
    });
    let options = ServerOptions { watch: Some(watch), ..ServerOptions::default() };
    let script = Script::new().on(when::prompt_contains("wait"), reply::never()).otherwise(reply::text("here"));
    let server = ScriptedServer::start_with(script, options).unwrap();
    let mut client = Client::connect(&server);
    client.post_openai(&openai_request("wait"));
    server.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    drop(client);
    server.traffic_reaches(|traffic| traffic.open_connections == 0).await;
    let answered = thread::spawn(move || ask(&server, Wire::OpenAi, &openai_request("x")).status);
    assert_eq!(answered.join().unwrap(), 200);
    let events = events.lock().unwrap().clone();
    assert_eq!(events[..3], ["arrived", "abandoned", "arrived"]);
}
