//! The conversation of one task, as plain data. Wire formats are derived from it and never shape it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, CallOutput, Usage};

/// One element of a task's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Text of the requester: the brief first, later messages after it.
    User { text: String },
    /// One reply of the model, its parts in order of arrival.
    Assistant { parts: Vec<Part> },
    /// The outputs of all calls of the previous reply, in call order: exactly one for each.
    Outputs { outputs: Vec<CallOutput> },
}

/// A piece of a model's reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    Text { text: String },
    Reasoning(Reasoning),
    Call(ToolCall),
}

/// Reasoning as the provider gave it: opaque, stored and replayed unchanged, to the same wire only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The wire that produced it; no other wire accepts it.
    pub wire: String,
    pub item: Value,
}

/// A model's request to run a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub tool: String,
    /// The arguments exactly as the model wrote them: usually a JSON object, not always valid JSON.
    pub arguments: String,
}

impl ToolCall {
    /// The tool with its most telling argument: `Grep "login"`, `LS src`. Both as the model wrote them: neither
    /// shortened nor safe for a terminal.
    pub fn in_brief(&self) -> String {
        let Self { tool, arguments, .. } = self;
        match telling_argument(arguments) {
            Some(("file_path" | "path", argument)) => format!("{tool} {argument}"),
            Some((_, argument)) => format!("{tool} \"{argument}\""),
            None => tool.clone(),
        }
    }
}

fn telling_argument(arguments: &str) -> Option<(&'static str, String)> {
    let Ok(Value::Object(mut arguments)) = serde_json::from_str(arguments) else { return None };
    ["pattern", "file_path", "command", "description", "query", "url", "path"].into_iter().find_map(|name| {
        match arguments.shift_remove(name) {
            Some(Value::String(text)) => Some((name, text)),
            _ => None,
        }
    })
}

/// A model's complete answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub parts: Vec<Part>,
    pub stop: StopReason,
    pub usage: Usage,
    /// True if part of the usage is an estimate, because the provider's figures were missing or too low.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub usage_doubted: bool,
    /// True if the provider's figures look too high. They count all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub usage_high: bool,
    /// Id of the model that answered, according to the provider.
    pub model: String,
}

/// Reason why a model stopped writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    End,
    /// It wants tool calls run.
    Calls,
    /// It hit the cap on its output.
    Length,
    /// The provider withheld the answer.
    Refusal,
    /// It was done, and says that it has no answer. Only the built-in model `offline` can tell.
    NoAnswer,
}

impl Message {
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }
}

impl Reply {
    /// The text parts, joined in order.
    pub fn text(&self) -> String {
        text_of(&self.parts)
    }

    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        calls_of(&self.parts)
    }
}

impl Message {
    /// The text in a model's message; empty for all other messages.
    pub fn assistant_text(&self) -> String {
        match self {
            Self::Assistant { parts } => text_of(parts),
            Self::User { .. } | Self::Outputs { .. } => String::new(),
        }
    }
}

fn text_of(parts: &[Part]) -> String {
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::Reasoning(_) | Part::Call(_) => None,
        })
        .collect()
}

fn calls_of(parts: &[Part]) -> impl Iterator<Item = &ToolCall> {
    parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call),
        Part::Text { .. } | Part::Reasoning(_) => None,
    })
}
