//! Estimates of tokens before any provider has counted them, on the high side: limits are checked against them.
//!
//! No tokeniser is used; that is the model's own. A caller who learns what a provider counted corrects the estimate by
//! it.

use sortie_protocol::{Attachment, Message, Part, ToolOutput, ToolSpec};

use crate::ModelRequest;
use crate::wire::attachment_tokens;

/// Prose has some four bytes a token, code and JSON some three.
const BYTES_PER_TOKEN: f64 = 3.5;

/// What a message, and a tool, costs beside its words.
const MESSAGE_BYTES: usize = 16;
const TOOL_BYTES: usize = 48;

/// A whole request.
pub(crate) fn request_tokens(request: &ModelRequest<'_>) -> u64 {
    let messages = request.messages.iter().map(message_tokens);
    prefix_tokens(request.system, request.tools) + messages.sum::<u64>()
}

/// The words of a request alone. What reasoning and files have besides, each provider counts in its own way, or not at
/// all.
pub(crate) fn word_tokens(request: &ModelRequest<'_>) -> u64 {
    let words = |message: &Message| match message {
        Message::User { text } => text.len(),
        Message::Assistant { parts } => parts.iter().map(word_bytes).sum(),
        Message::Outputs { outputs } => outputs.iter().map(|output| output.output.for_model.len()).sum(),
    };
    prefix_tokens(request.system, request.tools) + tokens(request.messages.iter().map(words).sum())
}

/// The part of a request that stays the same from turn to turn.
pub fn prefix_tokens(system: &str, tools: &[ToolSpec]) -> u64 {
    let described =
        |tool: &ToolSpec| tool.name.len() + tool.description.len() + tool.schema.to_string().len() + TOOL_BYTES;
    tokens(system.len() + tools.iter().map(described).sum::<usize>())
}

/// One message of the conversation.
pub fn message_tokens(message: &Message) -> u64 {
    let (bytes, files) = match message {
        Message::User { text } => (text.len(), 0),
        Message::Assistant { parts } => (parts.iter().map(part_bytes).sum(), 0),
        Message::Outputs { outputs } => {
            let sizes = outputs.iter().map(|output| output_size(&output.output));
            sizes.fold((0, 0), |(bytes, files), (more, others)| (bytes + more, files + others))
        }
    };
    tokens(bytes + MESSAGE_BYTES) + files
}

/// What a model has written in a reply, and is read again with the next request.
pub fn part_bytes(part: &Part) -> usize {
    match part {
        Part::Text { text } => text.len(),
        Part::Reasoning(reasoning) => reasoning.item.to_string().len(),
        Part::Call(call) => call.tool.len() + call.arguments.len(),
    }
}

/// The same without reasoning, which may be sealed, and longer than it is.
fn word_bytes(part: &Part) -> usize {
    if matches!(part, Part::Reasoning(_)) { 0 } else { part_bytes(part) }
}

/// What a tool returned, its files included.
pub fn output_tokens(output: &ToolOutput) -> u64 {
    let (bytes, files) = output_size(output);
    tokens(bytes) + files
}

fn output_size(output: &ToolOutput) -> (usize, u64) {
    let files: usize = output.attachments.iter().map(|file: &Attachment| attachment_tokens(file)).sum();
    (output.for_model.len() + MESSAGE_BYTES, files as u64)
}

/// How many bytes of text so many tokens have at least.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "an estimate")]
pub fn bytes(tokens: u64) -> usize {
    (tokens as f64 * BYTES_PER_TOKEN) as usize
}

/// So many bytes of text.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "an estimate")]
pub fn tokens(bytes: usize) -> u64 {
    (bytes as f64 / BYTES_PER_TOKEN).ceil() as u64
}
