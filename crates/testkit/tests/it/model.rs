//! The model in memory: its replies, records and counts.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sortie_llm::{ErrorKind, Model, ModelError, ModelEvent, ModelRequest, Models, ToolChoice};
use sortie_protocol::{CallOutput, Message, ModelChoice, Part, Reply, StopReason, ToolCall, ToolOutput, ToolSpec};
use sortie_testkit::{Script, ScriptedModel, ScriptedModels, reply, when};
use tokio::time::Instant;

pub(crate) fn request(messages: &[Message]) -> ModelRequest<'_> {
    ModelRequest {
        model: "scripted",
        system: "You explore.",
        tools: &[],
        messages,
        tool_choice: ToolChoice::Auto,
        max_output: None,
        deadline: None,
        idle: None,
        retries_made: 0,
    }
}

/// Calls a model and records the events on the way.
pub(crate) async fn call(model: &ScriptedModel, messages: &[Message]) -> (Result<Reply, ModelError>, Vec<String>) {
    let mut events = Vec::new();
    let mut observe = |event: ModelEvent<'_>| {
        events.push(match event {
            ModelEvent::Sending => return,
            ModelEvent::Text(text) => format!("text {text:?}"),
            ModelEvent::Reasoning(text) => format!("reasoning {text:?}"),
            ModelEvent::CallBegan { tool } => format!("call {tool}"),
            ModelEvent::Used(usage) => format!("used {}", usage.total_tokens()),
            ModelEvent::Retrying { attempt, wait, error, .. } => {
                format!("retry {attempt} after {wait:?}: {}", error.kind.code())
            }
        });
    };
    let result = model.call(request(messages), &mut observe).await;
    (result, events)
}

fn assistant_call(id: &str) -> Part {
    Part::Call(ToolCall { id: id.into(), tool: "Read".to_owned(), arguments: "{}".to_owned() })
}

fn output(id: &str, text: &str) -> CallOutput {
    CallOutput { call: id.into(), output: ToolOutput::done(text, "") }
}

#[tokio::test]
async fn a_reply_streams_its_parts_and_is_then_returned_whole() {
    let model = ScriptedModel::new(Script::always(
        reply::reasoning("hm")
            .text("Both.")
            .calls([reply::call("Read", json!({ "path": "a" })), reply::raw_call("Grep", "{")]),
    ));
    let (reply, events) = call(&model, &[Message::user("Look.")]).await;
    let reply = reply.unwrap();
    assert_eq!(events, [r#"reasoning "hm""#, r#"text "Both.""#, "call Read", "call Grep"]);
    assert_eq!((reply.text().as_str(), reply.stop, reply.model.as_str()), ("Both.", StopReason::Calls, "scripted"));
    let calls: Vec<String> =
        reply.calls().map(|call| format!("{} {} {}", call.id, call.tool, call.arguments)).collect();
    assert_eq!(calls, [r#"call_0_1 Read {"path":"a"}"#, "call_0_2 Grep {"]);
    assert_eq!((reply.usage.turns, reply.usage.input_tokens), (1, 5), "a quarter of `You explore.` and `Look.`");
}

#[tokio::test]
async fn a_call_can_name_tasks_mentioned_in_the_request() {
    let arguments = json!({"task_ids": ["<task 2>", "<task 1>", "<task 3>"]});
    let model = ScriptedModel::new(Script::always(reply::calls([reply::call("TaskOutput", arguments)])));
    let told = "agent-short, agent-bbbbbbbbbbbb, agent-aaaaaaaaaaaa and agent-bbbbbbbbbbbb";
    let (reply, _) = call(&model, &[Message::user(told)]).await;
    let reply = reply.unwrap();
    let arguments: Vec<&str> = reply.calls().map(|call| call.arguments.as_str()).collect();
    assert_eq!(arguments, [r#"{"task_ids":["agent-aaaaaaaaaaaa","agent-bbbbbbbbbbbb","<task 3>"]}"#]);
}

#[tokio::test]
async fn one_rule_can_serve_many_agents() {
    let calls = [reply::call("SendMessage", json!({"to": "<last task>", "message": "I am <me>."}))];
    let model = ScriptedModel::new(Script::always(reply::text("<me> is here, turn <turn>.").calls(calls)));
    let told = "w07 knows agent-bbbbbbbbbbbb, agent-aaaaaaaaaaaa and agent-bbbbbbbbbbbb";
    let (reply, _) = call(&model, &[Message::user(told)]).await;
    let reply = reply.unwrap();
    assert_eq!(reply.text(), "w07 is here, turn 0.");
    let arguments: Vec<&str> = reply.calls().map(|call| call.arguments.as_str()).collect();
    assert_eq!(arguments, [r#"{"to":"agent-bbbbbbbbbbbb","message":"I am w07."}"#]);
}

#[tokio::test]
async fn a_request_renders_as_one_line_per_part() {
    let model = ScriptedModel::new(Script::always(reply::text("ok")));
    let failed = CallOutput { call: "call_0_2".into(), output: ToolOutput::failure("no such file") };
    let messages = [
        Message::user("Look\nhere."),
        Message::Assistant {
            parts: vec![Part::Text { text: "So.".to_owned() }, assistant_call("call_0_1"), assistant_call("call_0_2")],
        },
        Message::Outputs { outputs: vec![output("call_0_1", "1\tfn"), failed] },
    ];
    let spec = |name: &str| ToolSpec { name: name.to_owned(), description: String::new(), schema: json!({}) };
    let tools = [spec("Read"), spec("Grep")];
    let request = ModelRequest { tools: &tools, tool_choice: ToolChoice::None, ..request(&messages) };
    model.call(request, &mut |_| {}).await.unwrap();
    let [seen] = model.seen().try_into().unwrap();
    expect![[r#"
        model: scripted
        system: "You explore."
        tools: Read Grep (choice: none)
        user: "Look\nhere."
        assistant: "So."
        call call_0_1: Read {}
        call call_0_2: Read {}
        output call_0_1: "1\tfn"
        output call_0_2 failed: "no such file"
    "#]]
    .assert_eq(&seen.to_string());
    assert_eq!(seen.messages, messages);
}

#[tokio::test(start_paused = true)]
async fn a_delay_passes_on_the_clock_of_the_test() {
    let model = ScriptedModel::new(Script::always(reply::text("late").after_ms(60_000)));
    let start = Instant::now();
    call(&model, &[Message::user("Wait.")]).await.0.unwrap();
    assert_eq!(start.elapsed(), Duration::from_mins(1));
}

#[tokio::test]
async fn a_gate_holds_replies_until_it_releases_them() {
    let model = Arc::new(ScriptedModel::new(Script::always(reply::text("through").held_by("door"))));
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let model = Arc::clone(&model);
            tokio::spawn(async move { call(&model, &[Message::user("Knock.")]).await.0.map(|reply| reply.text()) })
        })
        .collect();
    model.traffic_reaches(|traffic| traffic.in_flight == 3).await;
    model.gate("door").release(1);
    let traffic = model.traffic_reaches(|traffic| traffic.in_flight < 3).await;
    assert_eq!((traffic.in_flight, traffic.max_in_flight), (2, 3));
    model.gate("door").open();
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok("through".to_owned()));
    }
    assert_eq!((model.traffic().in_flight, model.traffic().abandoned), (0, 0));
}

#[tokio::test]
async fn an_aborted_call_counts_as_abandoned() {
    let model = Arc::new(ScriptedModel::new(Script::always(reply::never())));
    let running = {
        let model = Arc::clone(&model);
        tokio::spawn(async move { call(&model, &[Message::user("Hello?")]).await.0 })
    };
    model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    running.abort();
    let traffic = model.traffic_reaches(|traffic| traffic.in_flight == 0).await;
    assert_eq!((traffic.calls, traffic.abandoned), (1, 1));
}

#[tokio::test]
async fn a_history_that_no_provider_accepts_is_rejected() {
    let called = || Message::Assistant { parts: vec![assistant_call("a"), assistant_call("b")] };
    let answered = || Message::Outputs { outputs: vec![output("a", ""), output("b", "")] };
    let said = || Message::Assistant { parts: vec![Part::Text { text: "Yes.".to_owned() }] };
    let user = || Message::user("Go.");
    for (name, messages, accepted) in [
        ("nothing", vec![], false),
        ("a reply first", vec![said(), user()], false),
        ("all paired", vec![user(), called(), answered(), said(), user()], true),
        ("no outputs", vec![user(), called()], false),
        ("a message before the outputs", vec![user(), called(), user(), answered()], false),
        ("outputs of nothing", vec![user(), answered()], false),
        ("outputs twice", vec![user(), called(), answered(), answered()], false),
        ("an output missing", vec![user(), called(), Message::Outputs { outputs: vec![output("a", "")] }], false),
        (
            "outputs in another order",
            vec![user(), called(), Message::Outputs { outputs: vec![output("b", ""), output("a", "")] }],
            false,
        ),
        (
            "one id twice",
            vec![
                user(),
                Message::Assistant { parts: vec![assistant_call("a"), assistant_call("a")] },
                Message::Outputs { outputs: vec![output("a", ""), output("a", "")] },
            ],
            false,
        ),
    ] {
        let model = ScriptedModel::new(Script::always(reply::text("ok")));
        let kind = call(&model, &messages).await.0.map(|reply| reply.text()).map_err(|error| error.kind);
        assert_eq!(kind, if accepted { Ok("ok".to_owned()) } else { Err(ErrorKind::BadRequest) }, "{name}");
    }
}

#[tokio::test]
async fn a_function_can_answer_without_recording() {
    let model = ScriptedModel::answering(|request| reply::text(format!("{} messages", request.messages.len())))
        .without_recording();
    let (reply, _) = call(&model, &[Message::user("a"), Message::user("b")]).await;
    assert_eq!(reply.unwrap().text(), "2 messages");
    assert_eq!((model.seen().len(), model.traffic().calls), (0, 1));
}

#[tokio::test]
async fn a_request_without_a_matching_rule_fails_and_says_so() {
    let model = ScriptedModel::new(Script::new().on(when::turn(1), reply::text("never")));
    let error = call(&model, &[Message::user("Who?")]).await.0.unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadRequest);
    assert!(error.message.contains("Who?"), "{error}");
}

#[test]
fn every_known_name_leads_to_the_scripted_model() {
    let models = ScriptedModels::new(Script::new()).also_known_as("large");
    let choice = |id: &str| ModelChoice { route: "main".to_owned(), id: id.to_owned() };
    let chosen = |asked, inherited: Option<&ModelChoice>| models.choose(asked, inherited).unwrap().choice;
    assert_eq!(chosen(None, None), choice("scripted"));
    assert_eq!(chosen(None, Some(&choice("large"))), choice("large"));
    assert_eq!(chosen(Some("main"), Some(&choice("large"))), choice("scripted"));
    assert_eq!(chosen(Some("large"), None), choice("large"));
    assert!(models.choose(Some("huge"), None).unwrap_err().to_string().contains("`huge`"));
    assert!(models.open(&choice("large")).is_ok());
}
