//! Shared samples for the tests of this crate: routes, tools, and a history with everything in it.

use std::collections::BTreeMap;

use serde_json::json;
use serde_json::value::RawValue;
use sortie_llm::wire::for_kind;
use sortie_llm::{ModelRequest, RateLimits, Route, Secret, ToolChoice, WireKind};
use sortie_protocol::{Attachment, CallOutput, Message, Part, Reasoning, ToolCall, ToolOutput, ToolSpec};

pub(crate) const SYSTEM: &str = "You explore.";

pub(crate) fn route(wire: WireKind, base_url: &str) -> Route {
    Route {
        name: "main".to_owned(),
        wire,
        base_url: base_url.parse().unwrap(),
        api_key: Some(Secret::new("sk-test-key")),
        model: "some-model".to_owned(),
        window: None,
        max_output: None,
        rate_limits: RateLimits::default(),
    }
}

pub(crate) fn tools() -> Vec<ToolSpec> {
    let spec = |name: &str, key: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("{name}s."),
        schema: json!({ "type": "object", "properties": { key: { "type": "string" } }, "required": [key] }),
    };
    vec![spec("Read", "path"), spec("Grep", "pattern")]
}

pub(crate) fn request<'a>(tools: &'a [ToolSpec], messages: &'a [Message]) -> ModelRequest<'a> {
    ModelRequest {
        model: "some-model",
        system: SYSTEM,
        tools,
        messages,
        tool_choice: ToolChoice::Auto,
        max_output: None,
        deadline: None,
        idle: None,
        retries_made: 0,
    }
}

pub(crate) fn text(text: &str) -> Part {
    Part::Text { text: text.to_owned() }
}

pub(crate) fn call(id: &str, tool: &str, arguments: &str) -> Part {
    Part::Call(ToolCall { id: id.into(), tool: tool.to_owned(), arguments: arguments.to_owned() })
}

/// Reasoning of a wire, with the signature that the scripted server would have given it.
pub(crate) fn thinking(wire: WireKind) -> Part {
    let item = match wire {
        WireKind::Anthropic => {
            json!({ "type": "thinking", "thinking": "Hm. Größe?", "signature": "c2lnbmVk46d02cd225beb602" })
        }
        WireKind::OpenAiChat => json!({ "reasoning_content": "Hm. Größe?" }),
        WireKind::OpenAiResponses => json!({
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{ "type": "summary_text", "text": "Hm. Größe?" }],
            "encrypted_content": "c2lnbmVk46d02cd225beb602",
        }),
        WireKind::Gemini => json!({ "text": "Hm. Größe?", "thought": true }),
    };
    Part::Reasoning(Reasoning { wire: wire.to_string(), item })
}

/// A file that a tool returned.
pub(crate) fn attachment(name: &str, media_type: &str, base64: &str) -> Attachment {
    Attachment { name: name.to_owned(), media_type: media_type.to_owned(), data: base64.into() }
}

pub(crate) fn reply(parts: Vec<Part>) -> Message {
    Message::Assistant { parts }
}

pub(crate) fn outputs(outputs: Vec<(&str, ToolOutput)>) -> Message {
    let bound = |(id, output): (&str, ToolOutput)| CallOutput { call: id.into(), output };
    Message::Outputs { outputs: outputs.into_iter().map(bound).collect() }
}

/// Five turns: reasoning of every wire, parallel calls, files, a failure, malformed arguments, an unknown tool, an
/// empty output, an empty reply, a late message.
pub(crate) fn everything() -> Vec<Message> {
    let everyones_thinking = || WireKind::ALL.map(thinking);
    let parts = |more: Vec<Part>| everyones_thinking().into_iter().chain(more).collect();
    let files = vec![
        attachment("logo.png", "image/png", "iVBORw0KGgo="),
        attachment("paper.pdf", "application/pdf", "JVBERi0xLjcK"),
        attachment("film.mp4", "video/mp4", "AAAAGGZ0eXA="),
    ];
    vec![
        Message::user("Where is it?"),
        reply(parts(vec![
            text("Two looks."),
            call("call_1", "Read", r#"{"path":"a.rs"}"#),
            call("call_2", "Grep", r#"{"pattern": "size"}"#),
        ])),
        outputs(vec![
            ("call_1", ToolOutput::done("1\tfn size() {}", "1 line").with_attachments(files)),
            ("call_2", ToolOutput::failure("no such directory")),
        ]),
        reply(vec![text(""), call("functions.Read:3", "Read", r#"{"path": "b"#)]),
        outputs(vec![("functions.Read:3", ToolOutput::failure("Error: arguments are not a JSON object"))]),
        reply(vec![call("call_4", "dance now", "")]),
        outputs(vec![("call_4", ToolOutput::done("", "nothing"))]),
        reply(everyones_thinking().into()),
        Message::user("Go on."),
        reply(vec![text("It is in a.rs.")]),
        Message::user("Thank you. And its test?"),
    ]
}

/// The fields of a request body, each with the exact bytes of its elements; one element for a field that is not a list.
pub(crate) fn elements(route: &Route, request: &ModelRequest<'_>) -> BTreeMap<String, Vec<String>> {
    let encoded = for_kind(route.wire).encode(route, request).unwrap();
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(&encoded.body).unwrap();
    let split = |value: Box<RawValue>| match serde_json::from_str::<Vec<Box<RawValue>>>(value.get()) {
        Ok(elements) => elements.iter().map(|element| element.get().to_owned()).collect(),
        Err(_) => vec![value.get().to_owned()],
    };
    fields.into_iter().map(|(key, value)| (key, split(value))).collect()
}
