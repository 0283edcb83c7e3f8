//! A [`ModelRequest`] as the body of a Chat Completions request.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};
use sortie_protocol::{CallOutput, Message, Part, ToolCall, ToolSpec};

use super::NAME;
use crate::route::Route;
use crate::wire::is_blank;
use crate::wire::replay::{ArgumentsObject, is_sendable, output_text, portable_name};
use crate::{ModelRequest, ToolChoice};

/// A failed output has no flag on this wire; its text says so.
const FAILURE: &str = "Error: ";

/// Where OpenAI itself and the servers that are compatible with it differ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    OpenAi,
    Compatible,
}

impl Dialect {
    pub(super) fn of(route: &Route) -> Self {
        if route.base_url.host() == "api.openai.com" { Self::OpenAi } else { Self::Compatible }
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
    /// `null` where a reply only has calls.
    content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<Cow<'a, str>>,
    /// The fields in which the server gave its reasoning, as they came.
    #[serde(flatten)]
    reasoning: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: CalledFunction<'a>,
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
            Message::Outputs { outputs } => messages.extend(outputs.iter().map(tool_message)),
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
    fn new(role: &'static str, content: Option<Cow<'a, str>>) -> Self {
        Self { role, content, tool_call_id: None, reasoning: Map::new(), tool_calls: Vec::new() }
    }
}

/// A message that is all text, or nothing where there is none.
fn said<'a>(role: &'static str, text: &'a str) -> Option<ChatMessage<'a>> {
    (!is_blank(text)).then(|| ChatMessage::new(role, Some(Cow::Borrowed(text))))
}

fn reply(parts: &[Part], dialect: Dialect) -> ChatMessage<'_> {
    let mut message = ChatMessage::new("assistant", None);
    let mut content = String::new();
    for part in parts {
        match part {
            Part::Text { text } => content.push_str(text),
            Part::Call(call) => message.tool_calls.push(called(call)),
            // OpenAI itself neither gives nor takes such fields.
            Part::Reasoning(reasoning) if reasoning.wire == NAME && dialect == Dialect::Compatible => {
                let fields = reasoning.item.as_object().into_iter().flatten();
                message.reasoning.extend(fields.map(|(key, value)| (key.clone(), value.clone())));
            }
            Part::Reasoning(_) => {}
        }
    }
    message.content = (!is_blank(&content)).then_some(Cow::Owned(content));
    message
}

fn called(call: &ToolCall) -> Call<'_> {
    let arguments = ArgumentsObject::of(&call.arguments).text();
    let function = CalledFunction { name: portable_name(&call.tool), arguments };
    Call { id: portable_name(&call.id.0), r#type: "function", function }
}

fn tool_message(output: &CallOutput) -> ChatMessage<'_> {
    let text = output_text(output);
    let unsaid_failure = output.output.failed && !text.starts_with(FAILURE);
    let content = if unsaid_failure { Cow::Owned(format!("{FAILURE}{text}")) } else { Cow::Borrowed(text) };
    ChatMessage { tool_call_id: Some(portable_name(&output.call.0)), ..ChatMessage::new("tool", Some(content)) }
}
