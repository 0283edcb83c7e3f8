//! Encoder of a [`ModelRequest`] as the body of a Responses request.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};
use sortie_protocol::{CallId, CallOutput, Message, Part, Reasoning, ToolSpec};

use super::MESSAGE;
use super::reasoner::Reasoner;
use crate::model_data::wire_kind::OPENAI_RESPONSES;
use crate::wire::attachment::{Carried, DataUrl, Media, carried};
use crate::wire::replay::{ArgumentsObject, is_sendable, portable_id, portable_name};
use crate::wire::{WireKind, failure_mark, is_blank};
use crate::{ModelRequest, ToolChoice};

/// Longest call id that is accepted; the provider's own are shorter, those of other wires perhaps not.
const MAX_ID: usize = 64;

#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    /// Strict schemas have no optional fields, but some tools do.
    strict: bool,
}

/// An element of the conversation. Only reasoning keeps the id that the server gave it: the server would look up other
/// ids, and it stores nothing.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: &'static str,
        content: [Content<'a>; 1],
        /// The server's other fields of its message, as received.
        #[serde(flatten)]
        opaque: Option<&'a Map<String, Value>>,
    },
    FunctionCall {
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: Cow<'a, str>,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: Output<'a>,
    },
    /// Reasoning, as received.
    #[serde(untagged)]
    Reasoning(&'a Value),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(Cow<'a, str>),
    Contents(Vec<Content<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    InputText { text: Cow<'a, str> },
    OutputText { text: &'a str },
    InputImage { image_url: DataUrl<'a> },
    InputFile { filename: &'a str, file_data: DataUrl<'a> },
}

pub(super) fn body<'a>(request: &ModelRequest<'a>, max_output: Option<u64>) -> Body<'a> {
    let reasoner = Reasoner::of(request.model);
    let mut input = Vec::with_capacity(request.messages.len());
    for message in request.messages {
        match message {
            Message::User { text } if is_blank(text) => {}
            Message::User { text } => {
                let content = [Content::InputText { text: Cow::Borrowed(text) }];
                input.push(Item::Message { role: "user", content, opaque: None });
            }
            Message::Assistant { parts } if is_sendable(parts) => input.extend(reply(parts, reasoner)),
            Message::Assistant { .. } => {}
            Message::Outputs { outputs } => input.extend(outputs.iter().map(call_output)),
        }
    }
    let no_calls = request.tool_choice == ToolChoice::None && !request.tools.is_empty();
    Body {
        model: request.model,
        stream: true,
        store: false,
        include: if reasoner == Reasoner::Sealing { &["reasoning.encrypted_content"] } else { &[] },
        max_output_tokens: max_output,
        tools: request.tools.iter().map(tool).collect(),
        tool_choice: no_calls.then_some("none"),
        instructions: Some(request.system).filter(|system| !is_blank(system)),
        input,
    }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    Tool {
        r#type: "function",
        name: &spec.name,
        description: &spec.description,
        parameters: &spec.schema,
        strict: false,
    }
}

/// Encodes the items of one reply in their order. Reasoning at the end is dropped, because the provider rejects it.
fn reply(parts: &[Part], reasoner: Reasoner) -> Vec<Item<'_>> {
    let mut items = Vec::with_capacity(parts.len());
    let mut of_next_message = None;
    for part in parts {
        let opaque = of_next_message.take();
        match part {
            Part::Text { text } if is_blank(text) => {}
            Part::Text { text } => {
                items.push(Item::Message { role: "assistant", content: [Content::OutputText { text }], opaque });
            }
            Part::Call(call) => items.push(Item::FunctionCall {
                call_id: taken_id(&call.id),
                name: portable_name(&call.tool),
                arguments: ArgumentsObject::of(&call.arguments).text(),
            }),
            Part::Reasoning(Reasoning { wire, item }) if wire == OPENAI_RESPONSES => match item.get(MESSAGE) {
                Some(fields) => of_next_message = fields.as_object(),
                None => items.extend(is_taken_back(item, reasoner).then_some(Item::Reasoning(item))),
            },
            Part::Reasoning(_) => {}
        }
    }
    let end = items.iter().rposition(|item| !matches!(item, Item::Reasoning(_))).map_or(0, |last| last + 1);
    items.truncate(end);
    items
}

/// True if a server that stores nothing can use a reasoning item: it must hold the reasoning, sealed or open, and not
/// only its id.
fn is_taken_back(item: &Value, reasoner: Reasoner) -> bool {
    let is_sealed = item["encrypted_content"].as_str().is_some_and(|sealed| !sealed.is_empty());
    let is_open = item["content"].as_array().is_some_and(|content| !content.is_empty());
    reasoner != Reasoner::Never && (is_sealed || is_open)
}

fn call_output(output: &CallOutput) -> Item<'_> {
    let Carried { text, files } = carried(output, WireKind::OpenAiResponses);
    let text = failure_mark::with_mark(text, &output.output);
    let output_field = if files.is_empty() {
        Output::Text(text)
    } else {
        let words = (!text.is_empty()).then_some(Content::InputText { text });
        Output::Contents(words.into_iter().chain(files.into_iter().map(attached)).collect())
    };
    Item::FunctionCallOutput { call_id: taken_id(&output.call), output: output_field }
}

fn attached(file: Media<'_>) -> Content<'_> {
    match file {
        Media::Image(image) => Content::InputImage { image_url: DataUrl(image) },
        Media::Document(document) => Content::InputFile { filename: &document.name, file_data: DataUrl(document) },
    }
}

fn taken_id(id: &CallId) -> Cow<'_, str> {
    portable_id(&id.0, |id| id.len() <= MAX_ID)
}
