//! Items, the elements of this wire's conversations and replies.

use serde_json::{Value, json};
use sortie_protocol::{Part, StopReason, ToolCall};

use crate::script::Asked;
use crate::server::dialect::Answer;
use crate::server::strict::signature;

/// Encodes the items of a reply. Consecutive texts are one message, as a model writes it.
pub(super) fn output_items(answer: &Answer<'_>) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    for part in &answer.reply.parts {
        let place = items.len();
        let id = |prefix: &str| format!("{prefix}_{}_{place}", answer.serial);
        let item = match part {
            Part::Text { text } => match items.last_mut().filter(|item| item["type"] == "message") {
                Some(message) => {
                    let so_far = message["content"][0]["text"].as_str().unwrap_or_default();
                    message["content"][0]["text"] = Value::from(format!("{so_far}{text}"));
                    continue;
                }
                None => message(&id("msg"), text),
            },
            Part::Reasoning(reasoning) => sealed(&id("rs"), reasoning.item.as_str().unwrap_or_default()),
            Part::Call(call) => function_call(&id("fc"), call),
        };
        items.push(item);
    }
    if let Some(last) =
        items.last_mut().filter(|item| answer.reply.stop == StopReason::Length && item["status"].is_string())
    {
        last["status"] = Value::from("incomplete");
    }
    items
}

fn function_call(id: &str, call: &ToolCall) -> Value {
    let (namespace, name) = match call.tool.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, call.tool.as_str()),
    };
    let mut item = json!({
        "id": id,
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": name,
        "arguments": call.arguments,
    });
    if let Some(namespace) = namespace {
        item["namespace"] = Value::from(namespace);
    }
    item
}

fn message(id: &str, text: &str) -> Value {
    let content = json!({ "type": "output_text", "text": text, "annotations": [] });
    json!({ "id": id, "type": "message", "status": "completed", "role": "assistant", "content": [content] })
}

fn sealed(id: &str, text: &str) -> Value {
    let summary = json!({ "type": "summary_text", "text": text });
    json!({ "id": id, "type": "reasoning", "summary": [summary], "encrypted_content": signature(text) })
}

/// Returns an item in its initial form, before its pieces.
pub(super) fn begun(item: &Value) -> Value {
    let mut begun = item.clone();
    match item["type"].as_str() {
        Some("message") => begun["content"] = json!([]),
        Some("function_call") => begun["arguments"] = json!(""),
        // Sealed content is complete only at the end.
        _ => return json!({ "id": item["id"], "type": "reasoning", "summary": [], "encrypted_content": "" }),
    }
    begun["status"] = Value::from("in_progress");
    begun
}

/// Reads a request as far as possible.
pub(super) fn asked(body: &Value) -> Asked<'_> {
    let items = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_output = |item: &&Value| item["type"] == "function_call_output";
    let is_system = |item: &&Value| item["role"] == "system" || item["role"] == "developer";
    let plain: Vec<&str> = body["input"].as_str().into_iter().collect();
    // The outputs of one turn are several items here; to a script they are one.
    let outputs = items.iter().rev().take_while(is_output).count();
    let last = items[items.len().saturating_sub(outputs.max(1))..].iter().flat_map(texts);
    let prompt = items.iter().find(|item| item["role"] == "user").map(texts).unwrap_or_default();
    let instructions = body["instructions"].as_str().into_iter();
    Asked {
        model: body["model"].as_str().unwrap_or_default(),
        system: instructions.chain(items.iter().filter(is_system).flat_map(texts)).collect(),
        prompt: if plain.is_empty() { prompt } else { plain.clone() },
        last: plain.iter().copied().chain(last).collect(),
        turn: turns(items),
    }
}

/// Counts the replies in the conversation: a reply is an unbroken run of items from the model.
fn turns(items: &[Value]) -> u32 {
    let mut turns = 0;
    let mut in_reply = false;
    for item in items {
        let is_written = is_written(item);
        turns += u32::from(is_written && !in_reply);
        in_reply = is_written;
    }
    turns
}

/// True if the model wrote an item.
fn is_written(item: &Value) -> bool {
    item["role"] == "assistant" || item["type"] == "function_call" || item["type"] == "reasoning"
}

/// Returns the texts of a message or of an output, as a string or parts.
fn texts(item: &Value) -> Vec<&str> {
    let field = if item["type"] == "function_call_output" { "output" } else { "content" };
    match &item[field] {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => Vec::new(),
    }
}
