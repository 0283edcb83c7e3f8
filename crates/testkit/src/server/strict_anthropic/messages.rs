//! Rejections of Anthropic for messages: roles, blocks, and results without a call.

use serde_json::Value;

use super::{Checked, check_cache_mark, check_fields, files, invalid};
use crate::server::strict::{Object, is_identifier, is_tool_name, repeated, signature};

const LONGEST_CALLED_NAME: usize = 200;

pub(super) fn check(messages: &Value) -> Checked {
    let Some(messages) = messages.as_array() else { return invalid("messages: Input should be a valid array") };
    match messages.first().map(|message| &message["role"]) {
        None => return invalid("messages: at least one message is required"),
        Some(role) if role == "assistant" => return invalid("messages: first message must use the \"user\" role"),
        Some(_) => {}
    }
    for (index, message) in messages.iter().enumerate() {
        check_message(index, message, index + 1 == messages.len())?;
    }
    if repeated(messages.iter().flat_map(calls).collect()).is_some() {
        return invalid("messages: `tool_use` ids must be unique");
    }
    (0..messages.len()).try_for_each(|index| check_pairs(messages, index))
}

fn check_message(index: usize, message: &Value, is_last: bool) -> Checked {
    let place = format!("messages.{index}");
    let Some(message) = message.as_object() else { return invalid(format!("{place}: Input should be an object")) };
    check_fields(&place, message, &["role", "content"], &["role", "content"])?;
    let role = match message["role"].as_str() {
        Some(role @ ("user" | "assistant")) => role,
        Some("system") => {
            return invalid(
                "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, \
                 not \"system\" as an input message role.",
            );
        }
        _ => return invalid(format!("{place}.role: Input should be 'user' or 'assistant'")),
    };
    let blocks = match &message["content"] {
        Value::String(text) => return check_string(&place, role, text, is_last),
        Value::Array(blocks) => blocks,
        _ => return invalid(format!("{place}.content: Input should be a valid string or array")),
    };
    if blocks.is_empty() {
        return check_string(&place, role, "", is_last);
    }
    for (position, block) in blocks.iter().enumerate() {
        check_block(&format!("{place}.content.{position}"), role, block)?;
    }
    let ending = blocks.last().and_then(|block| block["text"].as_str()).unwrap_or_default();
    check_prefill(role, ending, is_last)
}

fn check_string(place: &str, role: &str, text: &str, is_last: bool) -> Checked {
    match (role, text.is_empty()) {
        ("user", true) => invalid(format!("{place}: user messages must have non-empty content")),
        (_, true) if !is_last => invalid(format!(
            "{place}: all messages must have non-empty content except for the optional final assistant message"
        )),
        _ => check_prefill(role, text, is_last),
    }
}

fn check_prefill(role: &str, ending: &str, is_last: bool) -> Checked {
    if role == "assistant" && is_last && ending.ends_with(char::is_whitespace) {
        return invalid("messages: final assistant content cannot end with trailing whitespace");
    }
    Ok(())
}

fn check_block(place: &str, role: &str, block: &Value) -> Checked {
    let Some(block) = block.as_object() else { return invalid(format!("{place}: Input should be an object")) };
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    let at = format!("{place}.{kind}");
    match (kind, role) {
        ("text", _) => check_text(&at, block)?,
        ("tool_use", "assistant") => check_tool_use(&at, block)?,
        ("tool_result", "user") => check_tool_result(&at, block)?,
        ("thinking", "assistant") => return check_thinking(place, &at, block),
        ("redacted_thinking", "assistant") => return check_fields(&at, block, &["type", "data"], &["data"]),
        ("image", "user") => files::check_image(&at, block)?,
        ("document", "user") => files::check_document(&at, block)?,
        ("tool_use" | "thinking" | "redacted_thinking", _) => {
            return invalid(format!("{place}: `{kind}` blocks can only be in `assistant` messages"));
        }
        ("tool_result" | "image" | "document", _) => {
            return invalid(format!("{place}: `{kind}` blocks can only be in `user` messages"));
        }
        _ => {
            return invalid(format!(
                "{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags: \
                 'document', 'image', 'redacted_thinking', 'text', 'thinking', 'tool_result', 'tool_use'"
            ));
        }
    }
    check_cache_mark(&at, block)
}

fn check_text(at: &str, block: &Object) -> Checked {
    check_fields(at, block, &["type", "text", "cache_control", "citations"], &["text"])?;
    match block["text"].as_str() {
        None => invalid(format!("{at}.text: Input should be a valid string")),
        Some("") => invalid("messages: text content blocks must be non-empty"),
        Some(text) if text.trim().is_empty() => {
            invalid("messages: text content blocks must contain non-whitespace text")
        }
        Some(_) => Ok(()),
    }
}

fn check_tool_use(at: &str, block: &Object) -> Checked {
    let known = ["type", "id", "name", "input", "cache_control", "caller"];
    check_fields(at, block, &known, &["id", "name", "input"])?;
    if !block["id"].as_str().is_some_and(|id| !id.is_empty() && is_identifier(id)) {
        return invalid(format!("{at}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"));
    }
    if !block["name"].as_str().is_some_and(|name| is_tool_name(name, LONGEST_CALLED_NAME)) {
        return invalid(format!("{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,200}}$'"));
    }
    if !block["input"].is_object() {
        return invalid(format!("{at}.input: Input should be a valid dictionary"));
    }
    Ok(())
}

fn check_tool_result(at: &str, block: &Object) -> Checked {
    let known = ["type", "tool_use_id", "content", "is_error", "cache_control"];
    check_fields(at, block, &known, &["tool_use_id"])?;
    if !block["tool_use_id"].is_string() {
        return invalid(format!("{at}.tool_use_id: Input should be a valid string"));
    }
    if block.get("is_error").is_some_and(|failed| !failed.is_boolean()) {
        return invalid(format!("{at}.is_error: Input should be a valid boolean"));
    }
    let is_text = |part: &Value| part["type"] == "text";
    let parts = block.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if block.get("is_error").is_some_and(|failed| failed == true) && !parts.iter().all(is_text) {
        return invalid(format!("{at}: all content must be type `text` if `is_error` is true"));
    }
    match block.get("content") {
        None | Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) => parts.iter().enumerate().try_for_each(|(index, part)| {
            let place = format!("{at}.content.{index}");
            match part.as_object() {
                Some(part) if part.get("type").is_some_and(|kind| kind == "text") => check_text(&place, part),
                Some(part) if part.get("type").is_some_and(|kind| kind == "image") => files::check_image(&place, part),
                Some(part) if part.get("type").is_some_and(|kind| kind == "document") => {
                    files::check_document(&place, part)
                }
                _ => invalid(format!("{place}: Input should be a text, image or document block")),
            }
        }),
        Some(_) => invalid(format!("{at}.content: Input should be a valid string or array")),
    }
}

fn check_thinking(place: &str, at: &str, block: &Object) -> Checked {
    check_fields(at, block, &["type", "thinking", "signature"], &["thinking", "signature"])?;
    let genuine = block["thinking"].as_str().is_some_and(|text| block["signature"] == signature(text));
    if genuine { Ok(()) } else { invalid(format!("{place}: Invalid `signature` in `thinking` block")) }
}

/// Checks the results in one message against the calls in the message before it, and vice versa.
fn check_pairs(messages: &[Value], index: usize) -> Checked {
    let called = calls(&messages[index]);
    let answered = messages.get(index + 1).map(leading_results).unwrap_or_default();
    let missing: Vec<&str> = called.iter().filter(|id| !answered.contains(*id)).copied().collect();
    if !missing.is_empty() {
        return invalid(format!(
            "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
             `tool_use` block must have a corresponding `tool_result` block in the next message.",
            missing.join(", ")
        ));
    }
    let before = index.checked_sub(1).map(|before| calls(&messages[before])).unwrap_or_default();
    let results = results(&messages[index]);
    if let Some(stray) = results.iter().find(|id| !before.contains(*id)) {
        return invalid(format!(
            "messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {stray}. Each `tool_result` \
             block must have a corresponding `tool_use` block in the previous message."
        ));
    }
    match repeated(results) {
        Some(id) => invalid(format!(
            "messages.{index}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
        )),
        None => Ok(()),
    }
}

fn blocks(message: &Value) -> &[Value] {
    message["content"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn calls(message: &Value) -> Vec<&str> {
    blocks(message)
        .iter()
        .filter(|block| block["type"] == "tool_use")
        .filter_map(|block| block["id"].as_str())
        .collect()
}

fn results(message: &Value) -> Vec<&str> {
    blocks(message).iter().filter_map(result_id).collect()
}

/// Results answer calls only if nothing precedes them.
fn leading_results(message: &Value) -> Vec<&str> {
    blocks(message).iter().map_while(result_id).collect()
}

fn result_id(block: &Value) -> Option<&str> {
    if block["type"] == "tool_result" { block["tool_use_id"].as_str() } else { None }
}
