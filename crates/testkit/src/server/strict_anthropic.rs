//! Rejections of Anthropic Messages: headers, fields, tools and tool choice; messages are in `messages`.
//!
//! The wording follows the provider's own, so that a person who reads a failing test can search for it.

mod files;
mod messages;

use serde_json::Value;

use super::RecordedRequest;
use super::dialect::Rejection;
use super::strict::{Object, bearer, is_of_old_draft, is_tool_name, repeated, unknown_field};

type Checked = Result<(), Rejection>;

/// Versions of the API that the provider serves.
const VERSIONS: &[&str] = &["2023-06-01", WITHOUT_SAMPLING];
/// The version that removed the sampling parameters.
const WITHOUT_SAMPLING: &str = "2026-10-21";
const SAMPLING: &[&str] = &["temperature", "top_k", "top_p"];
const TOP_LEVEL: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "thinking",
    "temperature",
    "top_k",
    "top_p",
    "stop_sequences",
    "metadata",
    "service_tier",
    "cache_control",
    "container",
    "context_management",
    "diagnostics",
    "inference_geo",
    "mcp_servers",
    "output_config",
    "speed",
];
const TOOL: &[&str] = &[
    "name",
    "description",
    "input_schema",
    "type",
    "cache_control",
    "strict",
    "defer_loading",
    "allowed_callers",
    "eager_input_streaming",
    "input_examples",
];
const MAX_CACHE_MARKS: usize = 4;
const LONGEST_TOOL_NAME: usize = 128;

pub(super) fn check_headers(request: &RecordedRequest, key: Option<&str>) -> Checked {
    if let Some(key) = key {
        let unauthorized = |message: &str| Err(Rejection::new(401, "authentication_error", message));
        match request.header("x-api-key").or_else(|| bearer(request.header("authorization"))) {
            None => return unauthorized("x-api-key header is required"),
            Some(given) if given != key => return unauthorized("invalid x-api-key"),
            Some(_) => {}
        }
    }
    match request.header("anthropic-version") {
        Some(version) if VERSIONS.contains(&version) => Ok(()),
        Some(version) => invalid(format!("anthropic-version: \"{version}\" is not a valid version")),
        None => invalid("anthropic-version: header is required"),
    }
}

pub(super) fn check_body(request: &RecordedRequest) -> Checked {
    let Some(body) = request.body.as_object() else {
        return invalid("The request body is not valid JSON: expected an object");
    };
    check_fields("", body, TOP_LEVEL, &["model", "max_tokens", "messages"])?;
    if request.header("anthropic-version") == Some(WITHOUT_SAMPLING)
        && let Some(field) = SAMPLING.iter().find(|field| body.contains_key(**field))
    {
        return invalid(format!("{field}: Extra inputs are not permitted"));
    }
    if !body["model"].is_string() {
        return invalid("model: Input should be a valid string");
    }
    if !body["max_tokens"].is_u64() {
        return invalid("max_tokens: Input should be a valid integer greater than or equal to 0");
    }
    if body.get("stream").is_some_and(|stream| !stream.is_boolean()) {
        return invalid("stream: Input should be a valid boolean");
    }
    check_system(body.get("system"))?;
    check_tools(body.get("tools"))?;
    check_tool_choice(body)?;
    messages::check(&body["messages"])?;
    check_cache_marks(body)
}

fn check_system(system: Option<&Value>) -> Checked {
    match system {
        None | Some(Value::String(_)) => Ok(()),
        Some(Value::Array(blocks)) => blocks.iter().enumerate().try_for_each(|(index, block)| {
            let place = format!("system.{index}");
            let Some(block) = block.as_object() else { return invalid(format!("{place}: Input should be an object")) };
            check_fields(&place, block, &["type", "text", "cache_control", "citations"], &["type", "text"])?;
            match (block["type"].as_str(), block["text"].as_str()) {
                (Some("text"), Some("")) => invalid("system: text content blocks must be non-empty"),
                (Some("text"), Some(_)) => check_cache_mark(&place, block),
                _ => invalid(format!("{place}: Input should be a text block")),
            }
        }),
        Some(_) => invalid("system: Input should be a valid string or array"),
    }
}

fn check_tools(tools: Option<&Value>) -> Checked {
    let Some(tools) = tools else { return Ok(()) };
    let Some(tools) = tools.as_array() else { return invalid("tools: Input should be a valid array") };
    for (index, tool) in tools.iter().enumerate() {
        let Some(tool) = tool.as_object() else {
            return invalid(format!("tools.{index}: Input should be an object"));
        };
        check_tool(&format!("tools.{index}.custom"), tool)?;
    }
    match repeated(tools.iter().filter_map(|tool| tool["name"].as_str()).collect()) {
        Some(_) => invalid("tools: Tool names must be unique."),
        None => Ok(()),
    }
}

fn check_tool(place: &str, tool: &Object) -> Checked {
    check_fields(place, tool, TOOL, &["name", "input_schema"])?;
    if tool.get("type").is_some_and(|kind| kind != "custom") {
        return invalid(format!("{place}.type: only custom tools are served here, got {}", tool["type"]));
    }
    if !tool["name"].as_str().is_some_and(|name| is_tool_name(name, LONGEST_TOOL_NAME)) {
        return invalid(format!("{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"));
    }
    if tool.get("description").is_some_and(|text| !text.is_string()) {
        return invalid(format!("{place}.description: Input should be a valid string"));
    }
    match tool["input_schema"].as_object().map(|schema| schema.get("type")) {
        None => return invalid(format!("{place}.input_schema: Input should be a valid dictionary")),
        Some(None) => return invalid(format!("{place}.input_schema.type: Field required")),
        Some(Some(kind)) if kind != "object" => {
            return invalid(format!("{place}.input_schema.type: Input should be 'object'"));
        }
        Some(Some(_)) => {}
    }
    check_schema(&format!("{place}.input_schema"), &tool["input_schema"])?;
    check_cache_mark(place, tool)
}

/// Rejects a schema with a choice at its top level, or of an old draft.
fn check_schema(place: &str, schema: &Value) -> Checked {
    if ["oneOf", "allOf", "anyOf"].iter().any(|key| schema.get(key).is_some()) {
        return invalid(format!("{place}: input_schema does not support oneOf, allOf, or anyOf at the top level"));
    }
    if is_of_old_draft(schema) {
        return invalid(format!("{place}: JSON schema is invalid. It must match JSON Schema draft 2020-12"));
    }
    Ok(())
}

fn check_tool_choice(body: &Object) -> Checked {
    let Some(choice) = body.get("tool_choice") else { return Ok(()) };
    let Some(choice) = choice.as_object() else { return invalid("tool_choice: Input should be an object") };
    let (known, required): (&[&str], &[&str]) = match choice.get("type").and_then(Value::as_str) {
        Some("auto" | "any") => (&["type", "disable_parallel_tool_use"], &[]),
        Some("tool") => (&["type", "name", "disable_parallel_tool_use"], &["name"]),
        Some("none") => (&["type"], &[]),
        None => return invalid("tool_choice.type: Field required"),
        Some(kind) => {
            return invalid(format!(
                "tool_choice: Input tag '{kind}' found using 'type' does not match any of the expected tags: \
                 'auto', 'any', 'tool', 'none'"
            ));
        }
    };
    check_fields("tool_choice", choice, known, required)?;
    if body.get("tools").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        return invalid("tool_choice may only be specified while providing tools.");
    }
    Ok(())
}

fn check_cache_marks(body: &Object) -> Checked {
    let marked = |list: Option<&Value>| {
        let list = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().filter(|item| item.get("cache_control").is_some_and(Value::is_object)).count()
    };
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let in_messages: usize = messages.iter().map(|message| marked(message.get("content"))).sum();
    let found = marked(body.get("tools")) + marked(body.get("system")) + in_messages;
    if found > MAX_CACHE_MARKS {
        return invalid(format!("A maximum of 4 blocks with cache_control may be provided. Found {found}."));
    }
    Ok(())
}

fn check_cache_mark(place: &str, block: &Object) -> Checked {
    let mark = match block.get("cache_control") {
        None | Some(Value::Null) => return Ok(()),
        Some(mark) => mark.as_object(),
    };
    let place = format!("{place}.cache_control");
    let Some(mark) = mark else { return invalid(format!("{place}: Input should be an object")) };
    check_fields(&place, mark, &["type", "ttl"], &["type"])?;
    if mark["type"] != "ephemeral" {
        return invalid(format!("{place}.type: Input should be 'ephemeral'"));
    }
    match mark.get("ttl").map(Value::as_str) {
        None | Some(Some("5m" | "1h")) => Ok(()),
        Some(_) => invalid(format!("{place}.ttl: Input should be '5m' or '1h'")),
    }
}

/// Rejects unknown fields and missing required ones. `place` is empty at the top.
fn check_fields(place: &str, object: &Object, known: &[&str], required: &[&str]) -> Checked {
    let at = |field: &str| if place.is_empty() { field.to_owned() } else { format!("{place}.{field}") };
    if let Some(field) = required.iter().find(|field| !object.contains_key(**field)) {
        return invalid(format!("{}: Field required", at(field)));
    }
    match unknown_field(object, known) {
        Some(field) => invalid(format!("{}: Extra inputs are not permitted", at(field))),
        None => Ok(()),
    }
}

fn invalid(message: impl Into<String>) -> Checked {
    Err(Rejection::invalid(message))
}
