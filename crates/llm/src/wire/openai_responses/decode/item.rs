//! One item of a response, from its beginning over its pieces to its end.

use serde_json::{Map, Value, json};
use sortie_protocol::{CallId, Part, Reasoning, ToolCall};

use super::super::MESSAGE;
use crate::ModelEvent;
use crate::model_data::wire_kind::OPENAI_RESPONSES;
use crate::wire::{Observe, Progress, progress_of};

/// Extra fields of a message that the server wants back.
const MESSAGE_FIELDS: [&str; 1] = ["phase"];

/// The text that a delta continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Refusal,
    Arguments,
    Reasoning,
}

pub(super) struct OutputItem {
    content: Content,
    finished: bool,
}

enum Content {
    Message {
        text: String,
        is_refusal: bool,
        opaque: Map<String, Value>,
    },
    Call {
        id: String,
        tool: String,
        arguments: String,
    },
    /// Reasoning in its final form; empty before.
    Reasoning(Map<String, Value>),
    /// An item type that was never requested.
    Unknown,
}

impl OutputItem {
    /// Opens an item. Text or arguments that it already has are read at its end.
    pub(super) fn begin(item: &Map<String, Value>, observe: Observe<'_>) -> Self {
        let content = match text(item, "type") {
            "message" => Content::Message { text: String::new(), is_refusal: false, opaque: Map::new() },
            "function_call" => {
                let tool = text(item, "name").to_owned();
                observe(ModelEvent::CallBegan { tool: &tool });
                Content::Call { id: text(item, "call_id").to_owned(), tool, arguments: String::new() }
            }
            "reasoning" => Content::Reasoning(Map::new()),
            _ => Content::Unknown,
        };
        Self { content, finished: false }
    }

    /// Returns the progress that the start of the item means.
    pub(super) fn progress(&self) -> Progress {
        match self.content {
            Content::Call { .. } | Content::Reasoning(_) => Progress::Content,
            Content::Message { .. } | Content::Unknown => Progress::Quiet,
        }
    }

    /// Appends a piece; `None` if it does not belong there.
    pub(super) fn extend(&mut self, kind: Kind, piece: &str, observe: Observe<'_>) -> Option<Progress> {
        match (&mut self.content, kind) {
            _ if self.finished => return None,
            (Content::Message { text, is_refusal, .. }, Kind::Text | Kind::Refusal) => {
                observe(ModelEvent::Text(piece));
                text.push_str(piece);
                *is_refusal |= kind == Kind::Refusal;
            }
            (Content::Call { arguments, .. }, Kind::Arguments) => arguments.push_str(piece),
            (Content::Reasoning(_), Kind::Reasoning) => observe(ModelEvent::Reasoning(piece)),
            (Content::Unknown, _) => return Some(Progress::Quiet),
            _ => return None,
        }
        Some(progress_of(piece))
    }

    /// Ends the item with its final content from the server. Text that came in no delta is shown now.
    pub(super) fn complete(self, item: Map<String, Value>, observe: Observe<'_>) -> Self {
        let content = match self.content {
            Content::Message { text: so_far, is_refusal: has_refused, .. } => {
                let (whole, refuses) = message_text(&item);
                if let Some(rest) = whole.strip_prefix(&so_far).filter(|rest| !rest.is_empty()) {
                    observe(ModelEvent::Text(rest));
                }
                let opaque = MESSAGE_FIELDS
                    .into_iter()
                    .filter_map(|key| Some((key.to_owned(), item.get(key).filter(|value| !value.is_null())?.clone())))
                    .collect();
                Content::Message { text: longer(whole, so_far), is_refusal: has_refused || refuses, opaque }
            }
            Content::Call { id, tool, arguments } => Content::Call {
                id: longer(text(&item, "call_id").to_owned(), id),
                tool: longer(text(&item, "name").to_owned(), tool),
                arguments: longer(text(&item, "arguments").to_owned(), arguments),
            },
            Content::Reasoning(_) => Content::Reasoning(item),
            Content::Unknown => Content::Unknown,
        };
        Self { content, finished: true }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.content, Content::Message { is_refusal: true, .. })
    }

    /// True while reasoning is open; its text may stay hidden.
    pub(super) fn is_open_reasoning(&self) -> bool {
        !self.finished && matches!(self.content, Content::Reasoning(_))
    }

    pub(super) fn is_half_call(&self) -> bool {
        !self.finished && matches!(self.content, Content::Call { .. })
    }

    /// Returns the item's parts for the history. Unfinished reasoning is dropped, because no server would accept it
    /// back.
    pub(super) fn into_parts(self) -> Vec<Part> {
        let opaque = |item| Part::Reasoning(Reasoning { wire: OPENAI_RESPONSES.to_owned(), item });
        match self.content {
            Content::Message { text, opaque: fields, .. } => {
                let said = (!fields.is_empty() && !text.is_empty()).then(|| opaque(json!({ MESSAGE: fields })));
                said.into_iter().chain([Part::Text { text }]).collect()
            }
            Content::Call { id, tool, arguments } => {
                vec![Part::Call(ToolCall { id: CallId(id), tool, arguments })]
            }
            Content::Reasoning(item) if self.finished => vec![opaque(Value::Object(item))],
            Content::Reasoning(_) | Content::Unknown => Vec::new(),
        }
    }
}

/// Returns the text of a whole message, and whether it is a refusal.
fn message_text(item: &Map<String, Value>) -> (String, bool) {
    let contents = item.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let piece = |content: &Value| content["text"].as_str().or(content["refusal"].as_str()).map(str::to_owned);
    let is_refusal = contents.iter().any(|content| content["type"] == "refusal");
    (contents.iter().filter_map(piece).collect(), is_refusal)
}

/// Returns the final text, unless the pieces so far are longer.
fn longer(whole: String, so_far: String) -> String {
    if whole.len() < so_far.len() { so_far } else { whole }
}

fn text<'a>(item: &'a Map<String, Value>, key: &str) -> &'a str {
    item.get(key).and_then(Value::as_str).unwrap_or_default()
}
