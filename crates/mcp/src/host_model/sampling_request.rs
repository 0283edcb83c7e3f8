//! The request to a model, in the format of sampling.
//!
//! Like a wire it looks at each element alone. Reasoning stays with the wire that made it, and sampling has none.
#![expect(deprecated, reason = "see `host_model`")]

use rmcp::model::{
    ContentBlock, CreateMessageRequestParams, JsonObject, Role, SamplingMessage, SamplingMessageContentBlock, Tool,
    ToolChoice as HostToolChoice, ToolResultContent,
};
use serde_json::{Value, json};
use sortie_llm::{ModelRequest, ToolChoice};
use sortie_protocol::{Attachment, CallOutput, Message, Part, ToolCall, ToolSpec};

/// Cap on the answer, which sampling requires.
pub(super) const OUTPUT_CAP: u64 = 16_000;

pub(super) fn question(request: &ModelRequest<'_>) -> CreateMessageRequestParams {
    let cap = request.max_output.map_or(OUTPUT_CAP, |cap| cap.min(OUTPUT_CAP));
    let messages = request.messages.iter().filter_map(message).collect();
    let asked = CreateMessageRequestParams::new(messages, u32::try_from(cap).unwrap_or(u32::MAX))
        .with_system_prompt(request.system);
    if request.tools.is_empty() {
        return asked;
    }
    let choice = match request.tool_choice {
        ToolChoice::Auto => HostToolChoice::auto(),
        ToolChoice::None => HostToolChoice::none(),
    };
    asked.with_tools(request.tools.iter().map(tool).collect()).with_tool_choice(choice)
}

fn tool(spec: &ToolSpec) -> Tool {
    Tool::new(spec.name.clone(), spec.description.clone(), spec.schema.as_object().cloned().unwrap_or_default())
}

/// Encodes a message; `None` for a reply of reasoning alone, which has nothing to send. Not every host accepts a list
/// of one.
fn message(message: &Message) -> Option<SamplingMessage> {
    let (role, mut blocks): (Role, Vec<SamplingMessageContentBlock>) = match message {
        Message::User { text } => (Role::User, vec![SamplingMessageContentBlock::text(text)]),
        Message::Assistant { parts } => (Role::Assistant, parts.iter().filter_map(part).collect()),
        Message::Outputs { outputs } => (Role::User, outputs.iter().map(output).collect()),
    };
    match blocks.len() {
        0 => None,
        1 => Some(SamplingMessage::new(role, blocks.remove(0))),
        _ => Some(SamplingMessage::new_multiple(role, blocks)),
    }
}

fn part(part: &Part) -> Option<SamplingMessageContentBlock> {
    match part {
        Part::Text { text } if text.trim().is_empty() => None,
        Part::Text { text } => Some(SamplingMessageContentBlock::text(text)),
        Part::Call(call) => Some(SamplingMessageContentBlock::tool_use(&call.id.0, &call.tool, input(call))),
        Part::Reasoning(_) => None,
    }
}

/// Returns arguments as an object, the only form that sampling accepts.
fn input(call: &ToolCall) -> JsonObject {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(input)) => input,
        _ if call.arguments.trim().is_empty() => JsonObject::new(),
        _ => JsonObject::from_iter([("malformed_arguments".to_owned(), json!(call.arguments))]),
    }
}

fn output(CallOutput { call, output }: &CallOutput) -> SamplingMessageContentBlock {
    let text = if output.for_model.trim().is_empty() { "(no output)" } else { &output.for_model };
    let files = output.attachments.iter().map(attachment);
    let content = std::iter::once(ContentBlock::text(text)).chain(files).collect();
    SamplingMessageContentBlock::ToolResult(if output.failed {
        ToolResultContent::error(&call.0, content)
    } else {
        ToolResultContent::new(&call.0, content)
    })
}

fn attachment(Attachment { name, media_type, data }: &Attachment) -> ContentBlock {
    if media_type.starts_with("image/") {
        return ContentBlock::image(data.as_ref(), media_type);
    }
    ContentBlock::text(format!("[{name} ({media_type}) was left out: a host's model takes no such files]"))
}
