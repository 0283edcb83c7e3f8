//! The offline model behind the port.

use sortie_llm::{ModelEvent, ModelRequest, Models as _, RouteSetup, RouteTable, ToolChoice};
use sortie_protocol::{Message, Reply, ToolSpec};

/// Makes one call of an agent that may delegate, and returns the reply with what was streamed.
async fn ask(tool_choice: ToolChoice) -> (Reply, Vec<String>) {
    let table = RouteTable::new(RouteSetup::default()).unwrap();
    let choice = table.choose(None, None).unwrap().choice;
    let schema = serde_json::json!({"properties": {"description": {}, "prompt": {}}});
    let tools = [ToolSpec { name: "Task".to_owned(), description: String::new(), schema }];
    let messages = [Message::user("Where are authentication errors handled?")];
    let request = ModelRequest {
        model: &choice.id,
        system: "You are an agent.",
        tools: &tools,
        messages: &messages,
        tool_choice,
        max_output: None,
        deadline: None,
        idle: None,
        retries_made: 0,
    };
    let mut events = Vec::new();
    let mut observe = |event: ModelEvent<'_>| {
        events.push(match event {
            ModelEvent::Text(text) => text.to_owned(),
            ModelEvent::CallBegan { tool } => format!("<{tool}>"),
            _ => "?".to_owned(),
        });
    };
    let reply = table.open(&choice).unwrap().call(request, &mut observe).await.unwrap();
    (reply, events)
}

#[tokio::test]
async fn its_remark_and_its_calls_are_streamed() {
    let (reply, events) = ask(ToolChoice::Auto).await;
    assert_eq!(events, ["Searching from several angles.", "<Task>", "<Task>", "<Task>"]);
    assert_eq!(reply.calls().count(), 3);
}

#[tokio::test]
async fn without_calls_its_text_is_streamed_by_lines() {
    let (reply, events) = ask(ToolChoice::None).await;
    assert_eq!(reply.calls().count(), 0);
    assert!(events.len() > 1, "{events:?}");
    assert_eq!(events.concat(), reply.text());
}
