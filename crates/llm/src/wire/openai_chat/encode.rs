//! Encoder of a [`ModelRequest`] as the body of a Chat Completions request.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use sortie_protocol::{CallId, CallOutput, Message, Part, ToolCall, ToolSpec};

use super::opaque;
use crate::model_data::wire_kind::OPENAI_CHAT;
use crate::route::Route;
use crate::wire::attachment::carried;
use crate::wire::replay::{ArgumentsObject, is_sendable, portable_id, portable_name};
use crate::wire::{WireKind, failure_mark, is_blank};
use crate::{ModelRequest, ToolChoice};

/// Longest call id that OpenAI accepts. Compatible servers accept their own ids of any length.
const MAX_OPENAI_ID: usize = 40;

/// Differences between OpenAI itself and compatible servers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// OpenAI, its regional hosts, and its models on Azure.
    OpenAi,
    Compatible,
}

impl Dialect {
    pub(super) fn of(route: &Route) -> Self {
        const DOMAINS: [&str; 4] =
            [".api.openai.com", ".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"];
        let host = route.base_url.host();
        let is_openai = host == "api.openai.com" || DOMAINS.iter().any(|domain| host.ends_with(domain));
        if is_openai { Self::OpenAi } else { Self::Compatible }
    }

    fn id(self, id: &CallId) -> Cow<'_, str> {
        portable_id(&id.0, |id| self == Self::Compatible || id.len() <= MAX_OPENAI_ID)
    }
}

#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    messages: Vec<ChatMessage<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    /// `null` if a reply has only calls.
    content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<Cow<'a, str>>,
    /// The server's reasoning fields, as received.
    #[serde(flatten)]
    opaque: BTreeMap<&'a str, &'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    /// Thinking as received, and the text after it.
    Items(Vec<Value>),
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: CalledFunction<'a>,
    /// The server's other fields of the call, as received.
    #[serde(flatten)]
    opaque: Option<&'a Map<String, Value>>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

pub(super) fn body<'a>(request: &ModelRequest<'a>, dialect: Dialect, max_output: Option<u64>) -> Body<'a> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    messages.extend(said("system", request.system));
    for message in request.messages {
        match message {
            Message::User { text } => messages.extend(said("user", text)),
            Message::Assistant { parts } if is_sendable(parts) => messages.push(reply(parts, dialect)),
            Message::Assistant { .. } => {}
            Message::Outputs { outputs } => {
                messages.extend(outputs.iter().map(|output| tool_message(output, dialect)));
            }
        }
    }
    let no_calls = request.tool_choice == ToolChoice::None && !request.tools.is_empty();
    Body {
        model: request.model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_tokens: max_output.filter(|_| dialect == Dialect::Compatible),
        max_completion_tokens: max_output.filter(|_| dialect == Dialect::OpenAi),
        tools: request.tools.iter().map(tool).collect(),
        tool_choice: no_calls.then_some("none"),
        messages,
    }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let function = Function { name: &spec.name, description: &spec.description, parameters: &spec.schema };
    Tool { r#type: "function", function }
}

impl<'a> ChatMessage<'a> {
    fn new(role: &'static str, content: Option<Content<'a>>) -> Self {
        Self { role, content, tool_call_id: None, opaque: BTreeMap::new(), tool_calls: Vec::new() }
    }
}

/// Makes a text-only message, or none if the text is empty.
fn said<'a>(role: &'static str, text: &'a str) -> Option<ChatMessage<'a>> {
    (!is_blank(text)).then(|| ChatMessage::new(role, Some(Content::Text(Cow::Borrowed(text)))))
}

fn reply(parts: &[Part], dialect: Dialect) -> ChatMessage<'_> {
    let mut message = ChatMessage::new("assistant", None);
    let (mut text, mut items, mut of_next_call) = (String::new(), Vec::new(), None);
    for part in parts {
        match part {
            Part::Text { text: more } => text.push_str(more),
            Part::Call(call) => message.tool_calls.push(called(call, of_next_call.take(), dialect)),
            // OpenAI itself neither sends nor accepts such fields.
            Part::Reasoning(reasoning) if reasoning.wire == OPENAI_CHAT && dialect == Dialect::Compatible => {
                for (key, value) in reasoning.item.as_object().into_iter().flatten() {
                    match (key.as_str(), value) {
                        (opaque::CALL, Value::Object(fields)) => of_next_call = Some(fields),
                        (opaque::CONTENT, Value::Array(thinking)) => items.extend(thinking.iter().cloned()),
                        (field, value) => drop(message.opaque.insert(field, value)),
                    }
                }
            }
            Part::Reasoning(_) => {}
        }
    }
    message.content = content(text, items);
    message
}

fn content<'a>(text: String, mut items: Vec<Value>) -> Option<Content<'a>> {
    match (is_blank(&text), items.is_empty()) {
        (true, true) => None,
        (false, true) => Some(Content::Text(Cow::Owned(text))),
        (blank, false) => {
            items.extend((!blank).then(|| json!({ "type": "text", "text": text })));
            Some(Content::Items(items))
        }
    }
}

fn called<'a>(call: &'a ToolCall, opaque: Option<&'a Map<String, Value>>, dialect: Dialect) -> Call<'a> {
    let arguments = ArgumentsObject::of(&call.arguments).text();
    let function = CalledFunction { name: portable_name(&call.tool), arguments };
    Call { id: dialect.id(&call.id), r#type: "function", function, opaque }
}

fn tool_message(output: &CallOutput, dialect: Dialect) -> ChatMessage<'_> {
    // A tool message is text on this wire: `carried` describes every attachment in words.
    let text = failure_mark::with_mark(carried(output, WireKind::OpenAiChat).text, &output.output);
    let message = ChatMessage::new("tool", Some(Content::Text(text)));
    ChatMessage { tool_call_id: Some(dialect.id(&output.call)), ..message }
}
