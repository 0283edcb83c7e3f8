//! Rejections of Google Gemini: key, fields, tools and tool choice; the conversation is in `contents`.
//!
//! The wording follows the provider's own, so that a person who reads a failing test can search for it.

mod contents;
mod part;
mod spelling;

use serde_json::Value;

use super::RecordedRequest;
use super::dialect::Rejection;
use super::strict::{self, Object, repeated, unknown_field};

type Checked = Result<(), Rejection>;

const TOP_LEVEL: &[&str] = &[
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "continuationToken",
    "serviceTier",
    "store",
];
const GENERATION_CONFIG: &[&str] = &[
    "candidateCount",
    "frequencyPenalty",
    "logprobs",
    "maxOutputTokens",
    "mediaResolution",
    "presencePenalty",
    "responseJsonSchema",
    "responseLogprobs",
    "responseMimeType",
    "responseModalities",
    "responseSchema",
    "seed",
    "stopSequences",
    "temperature",
    "thinkingConfig",
    "topK",
    "topP",
];
const FUNCTION: &[&str] =
    &["name", "description", "behavior", "parameters", "parametersJsonSchema", "response", "responseJsonSchema"];
/// The part of JSON schema that `parameters` accepts; `parametersJsonSchema` accepts all of it.
const SCHEMA: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "pattern",
    "example",
    "default",
    "anyOf",
    "properties",
    "propertyOrdering",
    "required",
];
const MODES: &[&str] = &["AUTO", "ANY", "NONE", "VALIDATED"];
const LONGEST_NAME: usize = 64;

pub(super) fn check_headers(request: &RecordedRequest, key: Option<&str>) -> Checked {
    let Some(key) = key else { return Ok(()) };
    let query = request.target.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let in_query = query.split('&').find_map(|pair| pair.strip_prefix("key="));
    match request.header("x-goog-api-key").or(in_query) {
        Some(given) if given == key => Ok(()),
        Some(_) => Err(invalid("API key not valid. Please pass a valid API key.").code("API_KEY_INVALID")),
        None => Err(Rejection::new(
            403,
            "PERMISSION_DENIED",
            "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or \
             other form of API consumer identity to call this API.",
        )),
    }
}

/// Checks a body. A model that `signs` requires its calls back unchanged: numbered and signed.
pub(super) fn check_body(body: &Value, signs: bool) -> Checked {
    let body = spelling::in_camel_case(body);
    let Some(body) = body.as_object() else {
        return Err(invalid("Invalid JSON payload received. Expected an object."));
    };
    check_known("", body, TOP_LEVEL)?;
    if let Some(instruction) = body.get("systemInstruction") {
        check_instruction(instruction)?;
    }
    if let Some(config) = body.get("generationConfig") {
        check_generation_config(config)?;
    }
    let has_functions = check_tools(body.get("tools"))?;
    check_tool_config(body.get("toolConfig"), has_functions)?;
    contents::check(body.get("contents"), signs)
}

fn check_instruction(instruction: &Value) -> Checked {
    let place = "system_instruction";
    let instruction = object(place, instruction)?;
    check_known(place, instruction, &["role", "parts"])?;
    let parts = array(&format!("{place}.parts"), instruction.get("parts"))?;
    if parts.is_empty() || !parts.iter().all(|part| part["text"].as_str().is_some_and(|text| !text.is_empty())) {
        return Err(invalid(format!("* GenerateContentRequest.{place}.parts: must have text")));
    }
    Ok(())
}

fn check_generation_config(config: &Value) -> Checked {
    let place = "generation_config";
    let config = object(place, config)?;
    check_known(place, config, GENERATION_CONFIG)?;
    if config.get("maxOutputTokens").is_some_and(|cap| cap.as_u64().is_none_or(|cap| cap == 0)) {
        return Err(invalid("* GenerateContentRequest.generation_config.max_output_tokens: must be positive."));
    }
    let Some(thinking) = config.get("thinkingConfig") else { return Ok(()) };
    let place = format!("{place}.thinking_config");
    check_known(&place, object(&place, thinking)?, &["includeThoughts", "thinkingBudget", "thinkingLevel"])
}

/// True if there is a function to call.
fn check_tools(tools: Option<&Value>) -> Result<bool, Rejection> {
    let Some(tools) = tools else { return Ok(false) };
    let mut names = Vec::new();
    for (index, tool) in array("tools", Some(tools))?.iter().enumerate() {
        let place = format!("tools[{index}]");
        let tool = object(&place, tool)?;
        check_known(&place, tool, &["functionDeclarations", "googleSearch", "codeExecution", "urlContext"])?;
        let place = format!("{place}.function_declarations");
        for (index, function) in array(&place, tool.get("functionDeclarations"))?.iter().enumerate() {
            names.push(check_function(&format!("{place}[{index}]"), function)?);
        }
    }
    let has_functions = !names.is_empty();
    match repeated(names) {
        Some(name) => Err(invalid(format!("Duplicate function declaration found: {name}"))),
        None => Ok(has_functions),
    }
}

fn check_function<'a>(place: &str, function: &'a Value) -> Result<&'a str, Rejection> {
    let function = object(place, function)?;
    check_known(place, function, FUNCTION)?;
    let name = check_name(place, function.get("name"))?;
    match (function.get("parameters"), function.get("parametersJsonSchema")) {
        (Some(_), Some(_)) => Err(invalid(format!(
            "* GenerateContentRequest.{place}: only one of parameters and parameters_json_schema may be set"
        ))),
        (Some(schema), None) => check_schema(&format!("{place}.parameters"), schema).map(|()| name),
        (None, Some(schema)) if schema["type"] != "object" => Err(invalid(format!(
            "* GenerateContentRequest.{place}.parameters_json_schema: schema must describe an object"
        ))),
        (None, _) => Ok(name),
    }
}

fn check_schema(place: &str, schema: &Value) -> Checked {
    check_known(place, object(place, schema)?, SCHEMA)?;
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.into_iter().try_for_each(|(name, schema)| check_schema(&format!("{place}.properties[{name}]"), schema))
}

fn check_tool_config(config: Option<&Value>, has_functions: bool) -> Checked {
    let Some(config) = config else { return Ok(()) };
    let place = "tool_config";
    let config = object(place, config)?;
    check_known(place, config, &["functionCallingConfig", "retrievalConfig"])?;
    let Some(calling) = config.get("functionCallingConfig") else { return Ok(()) };
    let place = "tool_config.function_calling_config";
    check_known(place, object(place, calling)?, &["mode", "allowedFunctionNames"])?;
    if let Some(mode) = calling.get("mode").filter(|mode| !mode.as_str().is_some_and(|mode| MODES.contains(&mode))) {
        return Err(invalid(format!("Invalid value at '{place}.mode' (type.googleapis.com/Mode), {mode}")));
    }
    if !has_functions {
        return Err(invalid("Function calling config is set without function_declarations."));
    }
    Ok(())
}

fn check_name<'a>(place: &str, name: Option<&'a Value>) -> Result<&'a str, Rejection> {
    let name = name.and_then(Value::as_str).unwrap_or_default();
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    if begins_well && name.len() <= LONGEST_NAME && name.chars().all(is_allowed) {
        return Ok(name);
    }
    Err(invalid(format!(
        "* GenerateContentRequest.{place}.name: Invalid function name. Must start with a letter or an underscore. Must \
         be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of \
         {LONGEST_NAME}."
    )))
}

/// Returns the signature of a part, which must come back on that part, unchanged.
pub(super) fn signature(part: &Value) -> String {
    let call = &part["functionCall"];
    strict::signature(&format!("{}{}{}", part["text"], call["name"], call["args"]))
}

/// Rejects fields unknown to the provider. `place` is empty at the top.
fn check_known(place: &str, object: &Object, known: &[&str]) -> Checked {
    let Some(field) = unknown_field(object, known) else { return Ok(()) };
    let at = if place.is_empty() { String::new() } else { format!(" at '{place}'") };
    Err(invalid(format!("Invalid JSON payload received. Unknown name \"{field}\"{at}: Cannot find field.")))
}

fn object<'a>(place: &str, value: &'a Value) -> Result<&'a Object, Rejection> {
    value.as_object().ok_or_else(|| invalid(format!("Invalid value at '{place}', {value}: an object is expected")))
}

/// Reads a list, which may be absent.
fn array<'a>(place: &str, value: Option<&'a Value>) -> Result<&'a [Value], Rejection> {
    match value {
        None => Ok(&[]),
        Some(Value::Array(values)) => Ok(values),
        Some(other) => Err(invalid(format!("Invalid value at '{place}', {other}: a list is expected"))),
    }
}

fn invalid(message: impl Into<String>) -> Rejection {
    Rejection::new(400, "INVALID_ARGUMENT", message)
}
