//! Rejections of OpenAI for messages: roles, content, and tool messages that answer no call.
//!
//! A few fields are accepted that the provider rejects: other servers of this wire send reasoning in them and want it
//! back. Without these fields no test could show that they are sent back.

use serde_json::Value;

use super::{
    Checked, check_call_id, check_known, check_string, check_tool_name, empty_array, missing, wrong_type, wrong_value,
};
use crate::server::dialect::Rejection;
use crate::server::strict::{Object, repeated};

/// Reasoning of an assistant message, under the names used by vLLM and `OpenRouter`.
const OPAQUE: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];
/// The signature of a call by Gemini.
const OPAQUE_OF_CALL: &str = "extra_content";

pub(super) fn check(messages: Option<&Value>) -> Checked {
    let messages = messages.ok_or_else(|| missing("messages"))?;
    let Some(messages) = messages.as_array() else {
        return Err(wrong_type("messages", "an array of objects", messages));
    };
    if messages.is_empty() {
        return Err(empty_array("messages"));
    }
    messages.iter().enumerate().try_for_each(|(index, message)| check_message(index, message))?;
    check_pairs(messages)
}

fn check_message(index: usize, message: &Value) -> Checked {
    let place = format!("messages[{index}]");
    let Some(message) = message.as_object() else { return Err(wrong_type(&place, "an object", message)) };
    match check_string(&format!("{place}.role"), message.get("role"))? {
        "system" | "developer" | "user" => {
            check_known(&place, message, &["role", "content", "name"])?;
            check_content(&place, message)
        }
        "tool" => {
            check_known(&place, message, &["role", "content", "tool_call_id"])?;
            check_call_id(&format!("{place}.tool_call_id"), message.get("tool_call_id"))?;
            check_content(&place, message)
        }
        "assistant" => check_assistant(&place, message),
        role => Err(wrong_value(
            &format!("{place}.role"),
            role,
            "'system', 'assistant', 'user', 'function', 'tool', and 'developer'",
        )),
    }
}

fn check_content(place: &str, message: &Object) -> Checked {
    let place = format!("{place}.content");
    match message.get("content") {
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) if parts.is_empty() => Err(empty_array(&place)),
        Some(Value::Array(parts)) => parts.iter().enumerate().try_for_each(|(index, part)| {
            let place = format!("{place}[{index}]");
            let Some(part) = part.as_object() else { return Err(wrong_type(&place, "an object", part)) };
            match check_string(&format!("{place}.type"), part.get("type"))? {
                "text" => {
                    check_known(&place, part, &["type", "text"])?;
                    check_string(&format!("{place}.text"), part.get("text")).map(|_| ())
                }
                "image_url" => check_known(&place, part, &["type", "image_url"]),
                // From Mistral, which sends its reasoning as content.
                "thinking" if message["role"] == "assistant" => Ok(()),
                kind => Err(wrong_value(&format!("{place}.type"), kind, "'text' and 'image_url'")),
            }
        }),
        None | Some(Value::Null) => {
            let message = "Invalid value for 'content': expected a string, got null.";
            Err(Rejection::invalid(message).param(place))
        }
        Some(other) => Err(wrong_type(&place, "one of a string or array of objects", other)),
    }
}

fn check_assistant(place: &str, message: &Object) -> Checked {
    check_known(place, message, &[&["role", "content", "name", "refusal", "tool_calls"], &OPAQUE[..]].concat())?;
    let Some(calls) = message.get("tool_calls") else { return check_content(place, message) };
    if message.get("content").is_some_and(|content| !content.is_null()) {
        check_content(place, message)?;
    }
    let place = format!("{place}.tool_calls");
    let Some(calls) = calls.as_array() else { return Err(wrong_type(&place, "an array of objects", calls)) };
    if calls.is_empty() {
        return Err(empty_array(&place));
    }
    for (index, call) in calls.iter().enumerate() {
        check_call(&format!("{place}[{index}]"), call)?;
    }
    match repeated(calls.iter().filter_map(|call| call["id"].as_str()).collect()) {
        Some(id) => Err(Rejection::invalid(format!("Duplicate tool call id '{id}' in '{place}'.")).param(place)),
        None => Ok(()),
    }
}

fn check_call(place: &str, call: &Value) -> Checked {
    let Some(call) = call.as_object() else { return Err(wrong_type(place, "an object", call)) };
    check_known(place, call, &["id", "type", "function", OPAQUE_OF_CALL])?;
    check_call_id(&format!("{place}.id"), call.get("id"))?;
    match check_string(&format!("{place}.type"), call.get("type"))? {
        "function" => {}
        kind => return Err(wrong_value(&format!("{place}.type"), kind, "'function'")),
    }
    let place = format!("{place}.function");
    let Some(function) = call.get("function").and_then(Value::as_object) else { return Err(missing(&place)) };
    check_known(&place, function, &["name", "arguments"])?;
    let name = format!("{place}.name");
    check_tool_name(&name, check_string(&name, function.get("name"))?)?;
    check_string(&format!("{place}.arguments"), function.get("arguments")).map(|_| ())
}

/// Each call must be answered by a tool message before any other message, and every tool message must answer a call.
fn check_pairs(messages: &[Value]) -> Checked {
    let mut unanswered: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let Some(found) = unanswered.iter().position(|call| *call == id) else { return Err(stray(index)) };
            unanswered.remove(found);
            continue;
        }
        if !unanswered.is_empty() {
            return Err(unanswered_calls(&unanswered));
        }
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        unanswered = calls.iter().filter_map(|call| call["id"].as_str()).collect();
    }
    if unanswered.is_empty() { Ok(()) } else { Err(unanswered_calls(&unanswered)) }
}

fn stray(index: usize) -> Rejection {
    let message =
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
    Rejection::invalid(message).param(format!("messages.[{index}].role"))
}

fn unanswered_calls(ids: &[&str]) -> Rejection {
    let message = format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. \
         The following tool_call_ids did not have response messages: {}",
        ids.join(", ")
    );
    Rejection::invalid(message).param("messages")
}
