//! Encoder of a [`ModelRequest`] as the body of an Anthropic request.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;
use sortie_protocol::{Attachment, CallOutput, Message, Part, ToolSpec};

use crate::model_data::wire_kind::{ANTHROPIC, ANTHROPIC_MAX_OUTPUT};
use crate::wire::attachment::{Carried, Media, carried};
use crate::wire::replay::{ArgumentsObject, is_identifier, is_sendable, portable_id, portable_name};
use crate::wire::{WireKind, is_blank};
use crate::{ModelRequest, ToolChoice};

#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Tagged>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Tagged>,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

#[derive(Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Tagged>,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: ArgumentsObject<'a>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: ResultContent<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Tagged>,
    },
    /// Thinking, as received.
    #[serde(untagged)]
    Opaque(&'a Value),
}

/// A tool's output: text, or blocks if it includes files.
#[derive(Serialize)]
#[serde(untagged)]
enum ResultContent<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

/// The bytes of an image or a document.
#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

/// An object with only a type.
#[derive(Clone, Copy, Serialize)]
struct Tagged {
    r#type: &'static str,
}

const CACHE_MARK: Tagged = Tagged { r#type: "ephemeral" };

/// Builds the body with its cache marks. One is after tools and system, which sibling tasks share, and one on each of
/// the last two user turns. The older of these is where the previous request ended, however many blocks ago.
pub(super) fn body<'a>(request: &ModelRequest<'a>, max_output: Option<u64>) -> Body<'a> {
    let system: Vec<Block<'a>> = text_block(request.system, Some(CACHE_MARK)).into_iter().collect();
    let mut tools: Vec<Tool<'a>> = request.tools.iter().map(tool).collect();
    if system.is_empty()
        && let Some(last) = tools.last_mut()
    {
        last.cache_control = Some(CACHE_MARK);
    }
    let no_calls = request.tool_choice == ToolChoice::None && !tools.is_empty();
    let mut messages: Vec<Turn<'a>> = request.messages.iter().filter_map(turn).collect();
    for turn in messages.iter_mut().rev().filter(|turn| turn.role == Role::User).take(2) {
        mark(turn);
    }
    Body {
        model: request.model,
        max_tokens: max_output.unwrap_or(ANTHROPIC_MAX_OUTPUT),
        stream: true,
        tools,
        tool_choice: no_calls.then_some(Tagged { r#type: "none" }),
        system,
        messages,
    }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    Tool { name: &spec.name, description: &spec.description, input_schema: &spec.schema, cache_control: None }
}

/// Encodes one message, or none if it has no content: the API rejects empty content.
fn turn(message: &Message) -> Option<Turn<'_>> {
    let (role, content): (_, Vec<_>) = match message {
        Message::User { text } => (Role::User, text_block(text, None).into_iter().collect()),
        Message::Assistant { parts } if is_sendable(parts) => {
            (Role::Assistant, parts.iter().filter_map(reply_block).collect())
        }
        Message::Assistant { .. } => return None,
        Message::Outputs { outputs } => (Role::User, outputs.iter().map(tool_result).collect()),
    };
    (!content.is_empty()).then_some(Turn { role, content })
}

fn text_block(text: &str, cache_control: Option<Tagged>) -> Option<Block<'_>> {
    (!is_blank(text)).then_some(Block::Text { text: Cow::Borrowed(text), cache_control })
}

fn reply_block(part: &Part) -> Option<Block<'_>> {
    match part {
        Part::Text { text } => text_block(text, None),
        Part::Reasoning(reasoning) if reasoning.wire == ANTHROPIC => Some(Block::Opaque(&reasoning.item)),
        Part::Reasoning(_) => None,
        Part::Call(call) => Some(Block::ToolUse {
            id: portable_id(&call.id.0, is_identifier),
            name: portable_name(&call.tool),
            input: ArgumentsObject::of(&call.arguments),
        }),
    }
}

fn tool_result(output: &CallOutput) -> Block<'_> {
    Block::ToolResult {
        tool_use_id: portable_id(&output.call.0, is_identifier),
        content: result_content(carried(output, WireKind::Anthropic)),
        is_error: output.output.failed,
        cache_control: None,
    }
}

fn result_content(Carried { text, files }: Carried<'_>) -> ResultContent<'_> {
    if files.is_empty() {
        return ResultContent::Text(text);
    }
    let words = (!text.is_empty()).then_some(Block::Text { text, cache_control: None });
    let files = files.into_iter().map(|file| match file {
        Media::Image(image) => Block::Image { source: source(image) },
        Media::Document(document) => Block::Document { source: source(document), title: title(&document.name) },
    });
    ResultContent::Blocks(words.into_iter().chain(files).collect())
}

/// Returns a document's title if it is short enough for the API; the output's text also names the document.
fn title(name: &str) -> Option<&str> {
    const LONGEST: usize = 500;
    Some(name).filter(|name| !is_blank(name) && name.chars().count() <= LONGEST)
}

fn source(attachment: &Attachment) -> Source<'_> {
    Source { r#type: "base64", media_type: &attachment.media_type, data: &attachment.data }
}

fn mark(turn: &mut Turn<'_>) {
    if let Some(Block::Text { cache_control, .. } | Block::ToolResult { cache_control, .. }) = turn.content.last_mut() {
        *cache_control = Some(CACHE_MARK);
    }
}
