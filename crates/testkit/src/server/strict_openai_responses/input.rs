//! Rejections of OpenAI Responses for a conversation: items, their ids, calls without outputs, reasoning on its own.

use serde_json::Value;

use super::content::{self, Side};
use super::{Checked, check_known, check_string, check_tool_name, empty_array, missing, wrong_type, wrong_value};
use crate::server::dialect::Rejection;
use crate::server::strict::{Object, repeated, signature};
use crate::server::strict_openai::check_length;

const LONGEST_ID: usize = 64;

pub(super) fn check(body: &Object, model_reasons: bool) -> Checked {
    let items = match body.get("input") {
        Some(Value::String(_)) => return Ok(()),
        Some(Value::Array(items)) => items,
        Some(other) => return Err(wrong_type("input", "one of an array of objects or string", other)),
        None => {
            let message = "One of \"input\" or \"previous_response_id\" or \"prompt\" or \"conversation_id\" must be \
                           provided.";
            return Err(Rejection::invalid(message).param("input").code("missing_required_parameter"));
        }
    };
    if items.is_empty() {
        return Err(empty_array("input"));
    }
    let is_kept = body.get("store").is_none_or(|store| store != false);
    for (index, item) in items.iter().enumerate() {
        check_item(&format!("input[{index}]"), item, is_kept)?;
    }
    check_reasoning_places(items, model_reasons)?;
    check_pairs(items)?;
    match repeated(items.iter().filter_map(|item| item["id"].as_str()).collect()) {
        Some(id) => {
            let message =
                format!("Duplicate item found with id {id}. Remove duplicate items from your input and try again.");
            Err(Rejection::invalid(message).param("input"))
        }
        None => Ok(()),
    }
}

fn check_item(place: &str, item: &Value, is_kept: bool) -> Checked {
    let Some(item) = item.as_object() else { return Err(wrong_type(place, "an object", item)) };
    match item.get("type").map(Value::as_str) {
        None | Some(Some("message")) => check_message(place, item),
        Some(Some("function_call")) => check_call(place, item),
        Some(Some("function_call_output")) => check_output(place, item),
        Some(Some("reasoning")) => check_reasoning(place, item, is_kept),
        Some(kind) => Err(wrong_value(
            place,
            kind.unwrap_or_default(),
            "'function_call', 'function_call_output', 'message', and 'reasoning'",
        )),
    }
}

fn check_message(place: &str, item: &Object) -> Checked {
    let side = match check_string(&format!("{place}.role"), item.get("role"))? {
        "user" | "system" | "developer" => Side::Input,
        "assistant" => Side::Output,
        role => {
            let known = "'assistant', 'system', 'developer', and 'user'";
            return Err(wrong_value(&format!("{place}.role"), role, known));
        }
    };
    check_known(place, item, &["type", "role", "content", "id", "status", "phase"])?;
    check_item_id(place, item, "msg")?;
    let place = format!("{place}.content");
    content::check(&place, item.get("content").ok_or_else(|| missing(&place))?, side)
}

fn check_call(place: &str, item: &Object) -> Checked {
    check_known(place, item, &["type", "id", "call_id", "name", "arguments", "status"])?;
    check_item_id(place, item, "fc")?;
    check_call_id(place, item)?;
    let name = format!("{place}.name");
    check_tool_name(&name, check_string(&name, item.get("name"))?)?;
    check_string(&format!("{place}.arguments"), item.get("arguments")).map(|_| ())
}

fn check_output(place: &str, item: &Object) -> Checked {
    check_known(place, item, &["type", "id", "call_id", "output", "status"])?;
    check_call_id(place, item)?;
    let place = format!("{place}.output");
    content::check(&place, item.get("output").ok_or_else(|| missing(&place))?, Side::Input)
}

fn check_reasoning(place: &str, item: &Object, is_kept: bool) -> Checked {
    check_known(place, item, &["type", "id", "summary", "content", "encrypted_content", "status"])?;
    let id = check_string(&format!("{place}.id"), item.get("id"))?;
    check_item_id(place, item, "rs")?;
    let at = format!("{place}.summary");
    let summary = item.get("summary").ok_or_else(|| missing(&at))?;
    let Some(summary) = summary.as_array() else { return Err(wrong_type(&at, "an array of objects", summary)) };
    for (index, part) in summary.iter().enumerate() {
        let at = format!("{at}[{index}]");
        let Some(part) = part.as_object() else { return Err(wrong_type(&at, "an object", part)) };
        check_known(&at, part, &["type", "text"])?;
        check_string(&format!("{at}.text"), part.get("text"))?;
    }
    let text: String = summary.iter().filter_map(|part| part["text"].as_str()).collect();
    match item.get("encrypted_content").and_then(Value::as_str) {
        Some(sealed) if sealed == signature(&text) => Ok(()),
        Some(sealed) => {
            let message = format!(
                "The encrypted content {sealed} could not be verified. Reason: Encrypted content could not be decrypted \
                 or parsed."
            );
            Err(Rejection::invalid(message).code("invalid_encrypted_content"))
        }
        None if is_kept || item.get("content").and_then(Value::as_array).is_some_and(|open| !open.is_empty()) => Ok(()),
        None => {
            let message = format!(
                "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with \
                 `store` set to true, or remove this item from your input."
            );
            Err(Rejection { status: 404, ..Rejection::invalid(message).param("input") })
        }
    }
}

/// Checks the server's own id of an item, if it is sent back.
fn check_item_id(place: &str, item: &Object, prefix: &str) -> Checked {
    let Some(id) = item.get("id").filter(|id| !id.is_null()) else { return Ok(()) };
    let place = format!("{place}.id");
    let id = check_string(&place, Some(id))?;
    check_length(&place, id, LONGEST_ID)?;
    if id.starts_with(prefix) {
        return Ok(());
    }
    let message = format!("Invalid '{place}': '{id}'. Expected an ID that begins with '{prefix}'.");
    Err(Rejection::invalid(message).param(place).code("invalid_value"))
}

fn check_call_id(place: &str, item: &Object) -> Checked {
    let place = format!("{place}.call_id");
    match check_string(&place, item.get("call_id"))? {
        "" => Err(missing(&place)),
        id => check_length(&place, id, LONGEST_ID),
    }
}

/// Reasoning is accepted only by reasoning models, and directly before the items that it led to.
fn check_reasoning_places(items: &[Value], model_reasons: bool) -> Checked {
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item["type"] == "reasoning") {
        if !model_reasons {
            let message = "Reasoning input items can only be provided to a reasoning or computer use model. Remove \
                           reasoning items from your input and try again.";
            return Err(Rejection::invalid(message).param("input"));
        }
        let next = items[index..].iter().find(|item| item["type"] != "reasoning");
        if !next.is_some_and(|next| next["role"] == "assistant" || next["type"] == "function_call") {
            let id = item["id"].as_str().unwrap_or_default();
            let message = format!("Item '{id}' of type 'reasoning' was provided without its required following item.");
            return Err(Rejection::invalid(message).param("input"));
        }
    }
    Ok(())
}

/// Each call must have its output somewhere after it, and each output its call.
fn check_pairs(items: &[Value]) -> Checked {
    let mut unanswered: Vec<&str> = Vec::new();
    for item in items {
        let id = item["call_id"].as_str().unwrap_or_default();
        if item["type"] == "function_call" {
            unanswered.push(id);
        } else if item["type"] == "function_call_output" {
            let Some(found) = unanswered.iter().position(|call| *call == id) else {
                let message = format!("No tool call found for function call output with call_id {id}.");
                return Err(Rejection::invalid(message).param("input"));
            };
            unanswered.remove(found);
        }
    }
    match unanswered.first() {
        Some(id) => Err(Rejection::invalid(format!("No tool output found for function call {id}.")).param("input")),
        None => Ok(()),
    }
}
