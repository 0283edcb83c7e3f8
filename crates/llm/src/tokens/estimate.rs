//! Estimates of tokens before any provider has counted them. They are high, because limits are checked against them.
//!
//! No tokeniser is used; each model has its own. A caller that learns a provider's count corrects the estimate with it.

use sortie_protocol::{Attachment, Message, Part, ToolOutput, ToolSpec};

use crate::ModelRequest;
use crate::wire::attachment_tokens;

/// Prose has about four bytes per token, code and JSON about three.
const BYTES_PER_TOKEN: f64 = 3.5;

/// Overhead of a message and of a tool, on top of their text.
const MESSAGE_BYTES: usize = 16;
const TOOL_BYTES: usize = 48;

/// Estimates a whole request.
pub(crate) fn request_tokens(request: &ModelRequest<'_>) -> u64 {
    let messages = request.messages.iter().map(message_tokens);
    prefix_tokens(request.system, request.tools) + messages.sum::<u64>()
}

/// Estimates the text of a request. Reasoning and files are left out, because each provider counts them in its own way,
/// or not at all.
pub(crate) fn word_tokens(request: &ModelRequest<'_>) -> u64 {
    let words = |message: &Message| match message {
        Message::User { text } => text.len(),
        Message::Assistant { parts } => parts.iter().map(word_bytes).sum(),
        Message::Outputs { outputs } => outputs.iter().map(|output| output.output.for_model.len()).sum(),
    };
    prefix_tokens(request.system, request.tools) + tokens(request.messages.iter().map(words).sum())
}

/// Estimates the prefix of a request that is unchanged from turn to turn.
pub fn prefix_tokens(system: &str, tools: &[ToolSpec]) -> u64 {
    let described =
        |tool: &ToolSpec| tool.name.len() + tool.description.len() + tool.schema.to_string().len() + TOOL_BYTES;
    tokens(system.len() + tools.iter().map(described).sum::<usize>())
}

/// Estimates one message of the conversation.
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

/// Size of a part of a reply, which is read again with the next request.
pub fn part_bytes(part: &Part) -> usize {
    match part {
        Part::Text { text } => text.len(),
        Part::Reasoning(reasoning) => reasoning.item.to_string().len(),
        Part::Call(call) => call.tool.len() + call.arguments.len(),
    }
}

/// Size of a part's text. Reasoning counts as none, because a sealed text is longer than the reasoning.
fn word_bytes(part: &Part) -> usize {
    if matches!(part, Part::Reasoning(_)) { 0 } else { part_bytes(part) }
}

/// Estimates a tool's output, its files included.
pub fn output_tokens(output: &ToolOutput) -> u64 {
    let (bytes, files) = output_size(output);
    tokens(bytes) + files
}

fn output_size(output: &ToolOutput) -> (usize, u64) {
    let files: usize = output.attachments.iter().map(|file: &Attachment| attachment_tokens(file)).sum();
    (output.for_model.len() + MESSAGE_BYTES, files as u64)
}

/// Number of bytes that this many tokens have at least.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "an estimate")]
pub fn bytes(tokens: u64) -> usize {
    (tokens as f64 * BYTES_PER_TOKEN) as usize
}

/// Estimates the tokens of this many bytes of text.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "an estimate")]
pub fn tokens(bytes: usize) -> u64 {
    (bytes as f64 / BYTES_PER_TOKEN).ceil() as u64
}
