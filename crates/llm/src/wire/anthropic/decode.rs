//! Decoder of an Anthropic event stream into a [`Reply`].

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use sortie_protocol::{CallId, Part, Reasoning, Reply, StopReason, ToolCall, Usage};

use crate::model_data::wire_kind::ANTHROPIC;
use crate::wire::assemble::assemble;
use crate::wire::usage_counts::count;
use crate::wire::{Decoder, Observe, Progress, cut, fault_or_garbage, garbage, progress_of};
use crate::{ErrorKind, ModelError, ModelEvent};

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StreamEvent {
    MessageStart {
        message: StartedMessage,
    },
    ContentBlockStart {
        index: u64,
        content_block: Map<String, Value>,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        delta: EndDelta,
        #[serde(default)]
        usage: Value,
    },
    MessageStop,
    Error,
    /// Pings, and future event types.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct StartedMessage {
    #[serde(default)]
    model: String,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct EndDelta {
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    Arguments { partial_json: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(other)]
    Other,
}

struct Block {
    content: Content,
    finished: bool,
}

enum Content {
    Text(String),
    Call {
        id: String,
        tool: String,
        /// Initial input of the block: `{}`, except on servers that send all arguments at once.
        input: Value,
        arguments: String,
    },
    /// Thinking, kept field by field as received.
    Opaque(Map<String, Value>),
    /// A block type that was never requested.
    Unknown,
}

#[derive(Default)]
pub(super) struct AnthropicDecoder {
    model: String,
    blocks: BTreeMap<u64, Block>,
    usage: Usage,
    stop_reason: Option<String>,
    ended: bool,
}

impl Decoder for AnthropicDecoder {
    fn feed(&mut self, data: &str, observe: Observe<'_>) -> Result<Progress, ModelError> {
        let progress = self.take(data, observe)?;
        Ok(if progress == Progress::Quiet && self.is_thinking() { Progress::Reasoning } else { progress })
    }

    fn finish(&mut self) -> Result<Reply, ModelError> {
        if !self.ended {
            return Err(cut());
        }
        let stop = self.stop()?;
        let parts = std::mem::take(&mut self.blocks).into_values().filter_map(|block| part(block.content)).collect();
        Ok(assemble(parts, stop, self.usage, std::mem::take(&mut self.model)))
    }

    fn usage(&self) -> Usage {
        self.usage
    }
}

impl AnthropicDecoder {
    fn take(&mut self, data: &str, observe: Observe<'_>) -> Result<Progress, ModelError> {
        match serde_json::from_str(data).map_err(|error| fault_or_garbage(error, data))? {
            StreamEvent::MessageStart { message } => {
                self.model = message.model;
                count_usage(&mut self.usage, &message.usage);
                Ok(Progress::Quiet)
            }
            StreamEvent::ContentBlockStart { index, content_block } => {
                let (content, progress) = begin(content_block, observe);
                match self.blocks.insert(index, Block { content, finished: false }) {
                    Some(_) => Err(garbage("a block that began twice", data)),
                    None => Ok(progress),
                }
            }
            StreamEvent::ContentBlockDelta { index, delta } => match self.blocks.get_mut(&index) {
                Some(block) if !block.finished => {
                    extend(&mut block.content, delta, observe).ok_or_else(|| garbage("a delta of another kind", data))
                }
                _ => Err(garbage("a delta outside its block", data)),
            },
            StreamEvent::ContentBlockStop { index } => {
                let block = self.blocks.get_mut(&index).ok_or_else(|| garbage("an end without a block", data))?;
                block.finished = true;
                Ok(Progress::Quiet)
            }
            StreamEvent::MessageDelta { delta, usage } => {
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
                count_usage(&mut self.usage, &usage);
                Ok(Progress::Quiet)
            }
            StreamEvent::MessageStop => {
                self.ended = true;
                Ok(Progress::Done)
            }
            StreamEvent::Error => Err(fault_or_garbage("an error without a message", data)),
            StreamEvent::Other => Ok(Progress::Quiet),
        }
    }

    /// True while a block of thinking is open; its text may stay hidden.
    fn is_thinking(&self) -> bool {
        self.blocks.values().any(|block| !block.finished && matches!(block.content, Content::Opaque(_)))
    }

    /// Returns the stop reason, or an error if the message is incomplete.
    fn stop(&self) -> Result<StopReason, ModelError> {
        let stop = match self.stop_reason.as_deref() {
            Some("end_turn" | "stop_sequence") => StopReason::End,
            Some("tool_use") => StopReason::Calls,
            // A pause is a cap too: the provider's own on one turn. Only the provider's own tools lead to one, and they
            // are never requested, so nothing here resumes the turn.
            Some("max_tokens" | "pause_turn") => return Ok(StopReason::Length),
            Some("refusal") => return Ok(StopReason::Refusal),
            Some("model_context_window_exceeded") => {
                let message =
                    "the conversation no longer fits the model's context window; start a new one with less in it";
                return Err(ModelError::new(ErrorKind::ContextLength, message));
            }
            // A future stop reason, or none: then the message must be complete by itself.
            _ if self.blocks.values().all(|block| block.finished) => StopReason::End,
            _ => return Err(ModelError::new(ErrorKind::Garbage, "the provider ended its message inside a block")),
        };
        let half_call = |block: &Block| !block.finished && matches!(block.content, Content::Call { .. });
        if self.blocks.values().any(half_call) {
            return Err(ModelError::new(ErrorKind::Garbage, "the provider ended its message inside a tool call"));
        }
        Ok(stop)
    }
}

/// Reads the figures that are present; later ones are totals, not additions.
pub(super) fn count_usage(usage: &mut Usage, said: &Value) {
    for (field, key) in [
        (&mut usage.input_tokens, "input_tokens"),
        (&mut usage.output_tokens, "output_tokens"),
        (&mut usage.cache_read_tokens, "cache_read_input_tokens"),
        (&mut usage.cache_write_tokens, "cache_creation_input_tokens"),
    ] {
        if let Some(tokens) = count(said, &[key]) {
            *field = tokens;
        }
    }
}

/// Opens a block. Some servers already send all of it here.
fn begin(mut block: Map<String, Value>, observe: Observe<'_>) -> (Content, Progress) {
    let mut text = |key: &str| match block.get_mut(key).map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    match text("type").as_str() {
        "text" => {
            let text = text("text");
            if !text.is_empty() {
                observe(ModelEvent::Text(&text));
            }
            let progress = progress_of(&text);
            (Content::Text(text), progress)
        }
        "tool_use" => {
            let (id, tool) = (text("id"), text("name"));
            observe(ModelEvent::CallBegan { tool: &tool });
            let input = block.get_mut("input").map(Value::take).unwrap_or_default();
            (Content::Call { id, tool, input, arguments: String::new() }, Progress::Content)
        }
        kind @ ("thinking" | "redacted_thinking") => {
            block.insert("type".to_owned(), kind.into());
            (Content::Opaque(block), Progress::Content)
        }
        _ => (Content::Unknown, Progress::Quiet),
    }
}

/// Adds a delta to its block; `None` if it does not belong there.
fn extend(content: &mut Content, delta: Delta, observe: Observe<'_>) -> Option<Progress> {
    match (content, delta) {
        (Content::Text(text), Delta::Text { text: more }) => {
            observe(ModelEvent::Text(&more));
            text.push_str(&more);
            Some(progress_of(&more))
        }
        (Content::Call { arguments, .. }, Delta::Arguments { partial_json }) => {
            arguments.push_str(&partial_json);
            Some(progress_of(&partial_json))
        }
        (Content::Opaque(item), Delta::Thinking { thinking }) => {
            observe(ModelEvent::Reasoning(&thinking));
            append(item, "thinking", &thinking);
            Some(progress_of(&thinking))
        }
        (Content::Opaque(item), Delta::Signature { signature }) => {
            append(item, "signature", &signature);
            Some(progress_of(&signature))
        }
        (_, Delta::Other) | (Content::Unknown, _) => Some(Progress::Quiet),
        _ => None,
    }
}

fn append(item: &mut Map<String, Value>, key: &str, more: &str) {
    match item.get_mut(key) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            item.insert(key.to_owned(), more.into());
        }
    }
}

fn part(content: Content) -> Option<Part> {
    match content {
        Content::Text(text) => Some(Part::Text { text }),
        Content::Call { id, tool, input, arguments } => {
            let sent_at_once = arguments.is_empty() && input.as_object().is_some_and(|input| !input.is_empty());
            let arguments = if sent_at_once { input.to_string() } else { arguments };
            Some(Part::Call(ToolCall { id: CallId(id), tool, arguments }))
        }
        Content::Opaque(item) => {
            Some(Part::Reasoning(Reasoning { wire: ANTHROPIC.to_owned(), item: Value::Object(item) }))
        }
        Content::Unknown => None,
    }
}
