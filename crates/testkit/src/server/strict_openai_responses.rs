//! Rejections of OpenAI Responses: fields, tools, tool choice, options; the conversation is in `input`.
//!
//! The wording follows the provider's own, so that a person who reads a failing test can search for it. Requests that
//! refer to earlier responses are not served.

mod content;
mod input;

use serde_json::Value;

use super::dialect::Rejection;
use super::strict::{Object, unknown_field};
use super::strict_openai::{
    Checked, check_known, check_schema, check_string, check_tool_name, empty_array, missing, wrong_type, wrong_value,
};

const TOP_LEVEL: &[&str] = &[
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];
const INCLUDABLE: &[&str] = &[
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    SEALED_REASONING,
    "message.output_text.logprobs",
];
const SEALED_REASONING: &str = "reasoning.encrypted_content";
const SMALLEST_CAP: u64 = 16;

pub(super) fn check_body(body: &Value) -> Checked {
    let Some(body) = body.as_object() else {
        return Err(Rejection::invalid("We could not parse the JSON body of your request: an object was expected."));
    };
    if let Some(field) = unknown_field(body, TOP_LEVEL) {
        let message = format!("Unknown parameter: '{field}'.");
        return Err(Rejection::invalid(message).param(field).code("unknown_parameter"));
    }
    let model = check_string("model", body.get("model"))?;
    for flag in ["stream", "store", "parallel_tool_calls"] {
        if let Some(value) = body.get(flag).filter(|value| !value.is_boolean() && !value.is_null()) {
            return Err(wrong_type(flag, "a boolean", value));
        }
    }
    if let Some(instructions) = body.get("instructions").filter(|text| !text.is_string() && !text.is_null()) {
        return Err(wrong_type("instructions", "a string", instructions));
    }
    check_cap(body.get("max_output_tokens"))?;
    check_include(body.get("include"), model)?;
    check_tools(body.get("tools"))?;
    check_tool_choice(body)?;
    input::check(body, reasons(model))
}

/// True if a model reasons. Ids that are not OpenAI's own are trusted.
fn reasons(model: &str) -> bool {
    let is_older = ["gpt-3", "gpt-4", "chatgpt-"].iter().any(|family| model.starts_with(family));
    let only_chats = model.starts_with("gpt-5") && model.contains("-chat");
    !is_older && !only_chats
}

fn check_cap(cap: Option<&Value>) -> Checked {
    match cap.filter(|cap| !cap.is_null()).map(|cap| (cap, cap.as_u64())) {
        None | Some((_, Some(SMALLEST_CAP..))) => Ok(()),
        Some((cap, Some(_))) => {
            let message = format!(
                "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= {SMALLEST_CAP}, but got \
                 {cap} instead."
            );
            Err(Rejection::invalid(message).param("max_output_tokens").code("integer_below_min_value"))
        }
        Some((cap, None)) => Err(wrong_type("max_output_tokens", "an integer", cap)),
    }
}

fn check_include(include: Option<&Value>, model: &str) -> Checked {
    let Some(include) = include.filter(|include| !include.is_null()) else { return Ok(()) };
    let Some(wishes) = include.as_array() else { return Err(wrong_type("include", "an array of strings", include)) };
    for (index, wish) in wishes.iter().enumerate() {
        let place = format!("include[{index}]");
        let word = check_string(&place, Some(wish))?;
        if !INCLUDABLE.contains(&word) {
            return Err(wrong_value(&place, word, &format!("'{}'", INCLUDABLE.join("', '"))));
        }
        if word == SEALED_REASONING && !reasons(model) {
            return Err(Rejection::invalid("Encrypted content is not supported with this model.").param("include"));
        }
    }
    Ok(())
}

fn check_tools(tools: Option<&Value>) -> Checked {
    let Some(tools) = tools else { return Ok(()) };
    let Some(tools) = tools.as_array() else { return Err(wrong_type("tools", "an array of objects", tools)) };
    tools.iter().enumerate().try_for_each(|(index, tool)| check_tool(&format!("tools[{index}]"), tool))
}

fn check_tool(place: &str, tool: &Value) -> Checked {
    let Some(tool) = tool.as_object() else { return Err(wrong_type(place, "an object", tool)) };
    match tool.get("type").and_then(Value::as_str) {
        Some("function") => {}
        Some(kind) => return Err(wrong_value(&format!("{place}.type"), kind, "'function'")),
        None => return Err(missing(&format!("{place}.type"))),
    }
    let name = format!("{place}.name");
    check_tool_name(&name, check_string(&name, tool.get("name"))?)?;
    check_known(place, tool, &["type", "name", "description", "parameters", "strict"])?;
    if let Some(strict) = tool.get("strict").filter(|strict| !strict.is_boolean() && !strict.is_null()) {
        return Err(wrong_type(&format!("{place}.strict"), "a boolean", strict));
    }
    check_schema(place, tool)
}

fn check_tool_choice(body: &Object) -> Checked {
    let Some(choice) = body.get("tool_choice") else { return Ok(()) };
    let has_tools = body.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty());
    match choice {
        Value::String(word) if word != "auto" && !has_tools => {
            let message = format!("Tool choice '{word}' must be specified with 'tools' parameter.");
            Err(Rejection::invalid(message).param("tool_choice"))
        }
        Value::String(word) if matches!(word.as_str(), "none" | "auto" | "required") => Ok(()),
        Value::String(word) => Err(wrong_value("tool_choice", word, "'none', 'auto', and 'required'")),
        Value::Object(named) => {
            check_string("tool_choice.name", named.get("name"))?;
            check_known("tool_choice", named, &["type", "name"])
        }
        other => Err(wrong_type("tool_choice", "one of 'none', 'auto', 'required' or an object", other)),
    }
}
