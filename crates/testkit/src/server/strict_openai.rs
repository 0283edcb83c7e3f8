//! Rejections of OpenAI Chat Completions: key, fields, tools and tool choice; messages are in `messages`.
//!
//! The wording follows the provider's own, so that a person who reads a failing test can search for it. The provider's
//! other wire has the same messages for the same mistakes.

mod messages;

use serde_json::Value;

use super::RecordedRequest;
use super::dialect::Rejection;
use super::strict::{Object, bearer, is_identifier, is_of_old_draft, unknown_field};

pub(super) type Checked = Result<(), Rejection>;

const TOP_LEVEL: &[&str] = &[
    "model",
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "n",
    "stop",
    "seed",
    "user",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "metadata",
    "modalities",
    "prediction",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "service_tier",
    "store",
    "verbosity",
    "web_search_options",
];
const LONGEST_TOOL_NAME: usize = 64;
const LONGEST_CALL_ID: usize = 40;

pub(super) fn check_headers(request: &RecordedRequest, key: Option<&str>) -> Checked {
    let Some(key) = key else { return Ok(()) };
    let unauthorized = |message: &str| Rejection::new(401, "invalid_request_error", message);
    match bearer(request.header("authorization")) {
        Some(given) if given == key => Ok(()),
        Some(_) => Err(unauthorized("Incorrect API key provided.").code("invalid_api_key")),
        None => Err(unauthorized(
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer \
             auth (i.e. Authorization: Bearer YOUR_KEY).",
        )),
    }
}

pub(super) fn check_body(body: &Value) -> Checked {
    let Some(body) = body.as_object() else {
        return Err(Rejection::invalid("We could not parse the JSON body of your request: an object was expected."));
    };
    if let Some(field) = unknown_field(body, TOP_LEVEL) {
        return Err(Rejection::invalid(format!("Unrecognized request argument supplied: {field}")));
    }
    check_string("model", body.get("model"))?;
    check_stream(body)?;
    if body.contains_key("max_tokens") && body.contains_key("max_completion_tokens") {
        return Err(Rejection::invalid(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        )
        .code("invalid_parameter_combination"));
    }
    check_tools(body.get("tools"))?;
    check_served_with_tools(body)?;
    check_tool_choice(body)?;
    messages::check(body.get("messages"))
}

fn check_stream(body: &Object) -> Checked {
    if body.get("stream").is_some_and(|stream| !stream.is_boolean() && !stream.is_null()) {
        return Err(wrong_type("stream", "a boolean", &body["stream"]));
    }
    let Some(options) = body.get("stream_options").filter(|options| !options.is_null()) else { return Ok(()) };
    if body.get("stream").is_none_or(|stream| stream != true) {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(Rejection::invalid(message).param("stream_options"));
    }
    let Some(options) = options.as_object() else { return Err(wrong_type("stream_options", "an object", options)) };
    check_known("stream_options", options, &["include_usage", "include_obfuscation"])
}

fn check_tools(tools: Option<&Value>) -> Checked {
    let Some(tools) = tools else { return Ok(()) };
    let Some(tools) = tools.as_array() else { return Err(wrong_type("tools", "an array of objects", tools)) };
    if tools.is_empty() {
        return Err(empty_array("tools"));
    }
    tools.iter().enumerate().try_for_each(|(index, tool)| check_tool(&format!("tools[{index}]"), tool))
}

/// From gpt-5.5 on, reasoning models accept tools only on the provider's other wire.
fn check_served_with_tools(body: &Object) -> Checked {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let reasons = body.get("reasoning_effort").is_none_or(|effort| effort != "none");
    if !body.contains_key("tools") || !reasons || version(model).is_none_or(|version| version < (5, 5)) {
        return Ok(());
    }
    let message = format!(
        "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. To use function \
         tools, use /v1/responses or set reasoning_effort to 'none'."
    );
    Err(Rejection::invalid(message).param("reasoning_effort"))
}

/// Returns the version in an id like `gpt-5.6-sol`.
fn version(model: &str) -> Option<(u32, u32)> {
    let version = model.strip_prefix("gpt-")?.split('-').next()?;
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn check_tool(place: &str, tool: &Value) -> Checked {
    let Some(tool) = tool.as_object() else { return Err(wrong_type(place, "an object", tool)) };
    check_known(place, tool, &["type", "function"])?;
    match tool.get("type").and_then(Value::as_str) {
        Some("function") => {}
        Some(kind) => return Err(wrong_value(&format!("{place}.type"), kind, "'function'")),
        None => return Err(missing(&format!("{place}.type"))),
    }
    let place = format!("{place}.function");
    let Some(function) = tool.get("function") else { return Err(missing(&place)) };
    let Some(function) = function.as_object() else { return Err(wrong_type(&place, "an object", function)) };
    check_known(&place, function, &["name", "description", "parameters", "strict"])?;
    let name = format!("{place}.name");
    check_tool_name(&name, check_string(&name, function.get("name"))?)?;
    check_schema(&place, function)
}

pub(super) fn check_tool_name(place: &str, name: &str) -> Checked {
    check_length(place, name, LONGEST_TOOL_NAME)?;
    if name.is_empty() || !is_identifier(name) {
        let message = format!(
            "Invalid '{place}': string does not match pattern. Expected a string that matches the pattern \
             '^[a-zA-Z0-9_-]+$'."
        );
        return Err(Rejection::invalid(message).param(place).code("invalid_value"));
    }
    Ok(())
}

fn check_call_id(place: &str, id: Option<&Value>) -> Checked {
    check_length(place, check_string(place, id)?, LONGEST_CALL_ID)
}

pub(super) fn check_length(place: &str, text: &str, longest: usize) -> Checked {
    if text.len() <= longest {
        return Ok(());
    }
    let message = format!(
        "Invalid '{place}': string too long. Expected a string with maximum length {longest}, but got a string with \
         length {} instead.",
        text.len()
    );
    Err(Rejection::invalid(message).param(place).code("string_above_max_length"))
}

/// A function may lack parameters; if it has some, they must be an object.
pub(super) fn check_schema(place: &str, function: &Object) -> Checked {
    let Some(schema) = function.get("parameters") else { return Ok(()) };
    let kind = schema.get("type").and_then(Value::as_str);
    let why = if kind != Some("object") {
        format!("schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{}\"'.", kind.unwrap_or("None"))
    } else if ["oneOf", "anyOf", "allOf", "enum", "not"].iter().any(|key| schema.get(key).is_some()) {
        "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.".to_owned()
    } else if is_of_old_draft(schema) {
        "True is not of type 'array'.".to_owned()
    } else {
        return Ok(());
    };
    let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
    let message = format!("Invalid schema for function '{name}': {why}");
    Err(Rejection::invalid(message).param(format!("{place}.parameters")).code("invalid_function_parameters"))
}

fn check_tool_choice(body: &Object) -> Checked {
    let Some(choice) = body.get("tool_choice") else { return Ok(()) };
    if !body.contains_key("tools") {
        let message = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
        return Err(Rejection::invalid(message).param("tool_choice"));
    }
    match choice {
        Value::String(word) if matches!(word.as_str(), "none" | "auto" | "required") => Ok(()),
        Value::String(word) => Err(wrong_value("tool_choice", word, "'none', 'auto', and 'required'")),
        Value::Object(named) => {
            check_known("tool_choice", named, &["type", "function"])?;
            let name = choice.pointer("/function/name");
            check_string("tool_choice.function.name", name).map(|_| ())
        }
        other => Err(wrong_type("tool_choice", "one of 'none', 'auto', 'required' or an object", other)),
    }
}

/// Rejects fields unknown to the provider.
pub(super) fn check_known(place: &str, object: &Object, known: &[&str]) -> Checked {
    match unknown_field(object, known) {
        Some(field) => {
            let param = format!("{place}.{field}");
            Err(Rejection::invalid(format!("Unknown parameter: '{param}'.")).param(param).code("unknown_parameter"))
        }
        None => Ok(()),
    }
}

pub(super) fn check_string<'a>(place: &str, value: Option<&'a Value>) -> Result<&'a str, Rejection> {
    let value = value.ok_or_else(|| missing(place))?;
    value.as_str().ok_or_else(|| wrong_type(place, "a string", value))
}

pub(super) fn missing(place: &str) -> Rejection {
    let message = format!("Missing required parameter: '{place}'.");
    Rejection::invalid(message).param(place).code("missing_required_parameter")
}

pub(super) fn wrong_type(place: &str, expected: &str, got: &Value) -> Rejection {
    let got = match got {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let message = format!("Invalid type for '{place}': expected {expected}, but got {got} instead.");
    Rejection::invalid(message).param(place).code("invalid_type")
}

pub(super) fn wrong_value(place: &str, got: &str, supported: &str) -> Rejection {
    let message = format!("Invalid value: '{got}'. Supported values are: {supported}.");
    Rejection::invalid(message).param(place).code("invalid_value")
}

pub(super) fn empty_array(place: &str) -> Rejection {
    let message = format!(
        "Invalid '{place}': empty array. Expected an array with minimum length 1, but got an empty array instead."
    );
    Rejection::invalid(message).param(place).code("empty_array")
}
