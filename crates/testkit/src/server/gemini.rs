//! Google Gemini: its events, documents and errors.
//!
//! The model is part of a request's path. Models from Gemini 3 on sign and number their calls, earlier ones do not.

use serde_json::{Map, Value, json};
use sortie_protocol::{Part, StopReason, ToolCall, Usage};

use super::RecordedRequest;
use super::dialect::{Answer, Dialect, Rejection, fragments};
use super::strict_gemini::{self, signature};
use crate::script::Asked;

const STREAM: &str = "streamGenerateContent";
const DOCUMENT: &str = "generateContent";

pub(super) struct Gemini;

/// True if a path leads to a model of this wire.
pub(super) fn is_endpoint(path: &str) -> bool {
    let path = ["/v1beta", "/v1"].iter().find_map(|version| path.strip_prefix(version)).unwrap_or(path);
    path.starts_with("/models/") && matches!(model_and_method(path), Some((_, STREAM | DOCUMENT)))
}

/// True if a model signs its calls and accepts none back without a signature.
pub(super) fn signs(model: &str) -> bool {
    let version = model.strip_prefix("gemini-").and_then(|rest| rest.split(['-', '.']).next());
    version.and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= 3)
}

pub(super) fn model(request: &RecordedRequest) -> &str {
    model_and_method(request.path()).map(|(model, _)| model).unwrap_or_default()
}

fn model_and_method(path: &str) -> Option<(&str, &str)> {
    path.rsplit('/').next()?.split_once(':')
}

impl Dialect for Gemini {
    fn id_prefix(&self) -> &'static str {
        "call"
    }

    fn check(&self, request: &RecordedRequest, key: Option<&str>) -> Result<(), Rejection> {
        strict_gemini::check_headers(request, key)?;
        strict_gemini::check_body(&request.body, signs(model(request)))
    }

    fn asked<'a>(&self, request: &'a RecordedRequest) -> Asked<'a> {
        let contents = request.body["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
        Asked {
            model: model(request),
            system: texts(&request.body["systemInstruction"]),
            prompt: contents.iter().find(|content| content["role"] == "user").map(texts).unwrap_or_default(),
            last: contents.last().map(texts).unwrap_or_default(),
            turn: contents.iter().filter(|content| content["role"] == "model").count() as u32,
        }
    }

    fn streams(&self, request: &RecordedRequest) -> bool {
        request.path().ends_with(STREAM)
    }

    fn events(&self, answer: &Answer<'_>) -> Vec<String> {
        let parts = answer.reply.parts.iter().flat_map(|part| pieces(part, answer));
        let mut events: Vec<String> = sign_first_call(parts, answer).iter().map(|part| chunk(answer, part)).collect();
        events.push(event(&response(answer, &[json!({ "text": "" })], Some(finish_reason(answer)))));
        events
    }

    fn document(&self, answer: &Answer<'_>) -> Value {
        let parts = answer.reply.parts.iter().flat_map(|part| pieces(part, answer));
        let mut parts = sign_first_call(parts, answer);
        if parts.is_empty() {
            parts.push(json!({ "text": "" }));
        }
        response(answer, &parts, Some(finish_reason(answer)))
    }

    fn keep_alives(&self, answer: &Answer<'_>) -> (Vec<String>, Vec<String>) {
        let blank = chunk(answer, &json!({ "text": "" }));
        let counts = event(&json!({ "usageMetadata": usage(answer), "modelVersion": answer.reply.model }));
        (vec![counts.clone()], vec![": keep-alive\n\n".to_owned(), blank, counts])
    }

    fn usual_error(&self, status: u16) -> Rejection {
        let message = match status {
            401 => "Request had invalid authentication credentials.",
            403 => "The caller does not have permission",
            404 => "The model is not found for API version v1beta, or is not supported for generateContent.",
            429 => "Resource has been exhausted (e.g. check quota).",
            503 => "The model is overloaded. Please try again later.",
            500.. => "An internal error has occurred. Please retry.",
            _ => "Request contains an invalid argument.",
        };
        Rejection::new(status, status_name(status), message)
    }

    fn error_document(&self, rejection: &Rejection, _request_id: &str) -> Value {
        let mut details = Vec::new();
        if let Some(reason) = rejection.code {
            let kind = "type.googleapis.com/google.rpc.ErrorInfo";
            details.push(json!({ "@type": kind, "reason": reason, "domain": "googleapis.com" }));
        }
        if let Some(seconds) = &rejection.retry_after {
            let kind = "type.googleapis.com/google.rpc.RetryInfo";
            details.push(json!({ "@type": kind, "retryDelay": format!("{seconds}s") }));
        }
        let status = status_name(rejection.status);
        let mut error = json!({ "code": rejection.status, "message": rejection.message, "status": status });
        if !details.is_empty() {
            error["details"] = Value::from(details);
        }
        json!({ "error": error })
    }

    fn error_event(&self, rejection: &Rejection) -> String {
        event(&self.error_document(rejection, ""))
    }

    fn overloaded_status(&self) -> u16 {
        503
    }

    fn tells_wait_in_header(&self) -> bool {
        false
    }

    fn request_id_header(&self) -> &'static str {
        "x-cloud-trace-context"
    }
}

fn status_name(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}

fn event(document: &Value) -> String {
    format!("data: {document}\r\n\r\n")
}

fn chunk(answer: &Answer<'_>, part: &Value) -> String {
    event(&response(answer, std::slice::from_ref(part), None))
}

fn response(answer: &Answer<'_>, parts: &[Value], finish_reason: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
    if let Some(reason) = finish_reason {
        candidate["finishReason"] = Value::from(reason);
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage(answer),
        "modelVersion": answer.reply.model,
        "responseId": format!("scripted-{}", answer.serial),
    })
}

/// Encodes a part as stream events, or whole. A call that is not an object is dropped.
fn pieces(part: &Part, answer: &Answer<'_>) -> Vec<Value> {
    let split = |text: &str| -> Vec<String> {
        if answer.streams { fragments(text).map(str::to_owned).collect() } else { vec![text.to_owned()] }
    };
    match part {
        Part::Reasoning(reasoning) => {
            let text = reasoning.item.as_str().unwrap_or_default();
            split(text).into_iter().map(|text| json!({ "text": text, "thought": true })).collect()
        }
        Part::Text { text } => {
            let mut parts: Vec<Value> = split(text).into_iter().map(|text| json!({ "text": text })).collect();
            if signs(&answer.reply.model)
                && let Some(last) = parts.last_mut()
            {
                last["thoughtSignature"] = Value::from(signature(last));
            }
            parts
        }
        Part::Call(call) => arguments(call)
            .map(|args| json!({ "functionCall": function_call(call, &args, answer) }))
            .into_iter()
            .collect(),
    }
}

fn function_call(call: &ToolCall, args: &Map<String, Value>, answer: &Answer<'_>) -> Value {
    let mut function_call = json!({ "name": call.tool, "args": args });
    if signs(&answer.reply.model) {
        function_call["id"] = json!(call.id);
    }
    function_call
}

fn arguments(call: &ToolCall) -> Option<Map<String, Value>> {
    serde_json::from_str(&call.arguments).ok()
}

/// Signs only the first of parallel calls.
fn sign_first_call(parts: impl Iterator<Item = Value>, answer: &Answer<'_>) -> Vec<Value> {
    let mut parts: Vec<Value> = parts.collect();
    if signs(&answer.reply.model)
        && let Some(call) = parts.iter_mut().find(|part| part.get("functionCall").is_some())
    {
        call["thoughtSignature"] = Value::from(signature(call));
    }
    parts
}

fn finish_reason(answer: &Answer<'_>) -> &'static str {
    match answer.reply.stop {
        StopReason::Length => "MAX_TOKENS",
        StopReason::Refusal => "SAFETY",
        StopReason::End | StopReason::Calls | StopReason::NoAnswer
            if answer.reply.calls().any(|call| arguments(call).is_none()) =>
        {
            "MALFORMED_FUNCTION_CALL"
        }
        StopReason::End | StopReason::Calls | StopReason::NoAnswer => "STOP",
    }
}

/// Thoughts are counted separately from the answer.
fn usage(answer: &Answer<'_>) -> Value {
    let usage: &Usage = &answer.reply.usage;
    let thinks = answer.reply.parts.iter().any(|part| matches!(part, Part::Reasoning(_)));
    let thoughts = if thinks { usage.output_tokens / 2 } else { 0 };
    json!({
        "promptTokenCount": usage.total_tokens().saturating_sub(usage.output_tokens),
        "cachedContentTokenCount": usage.cache_read_tokens,
        "candidatesTokenCount": usage.output_tokens - thoughts,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": usage.total_tokens(),
    })
}

/// Returns the texts of a content, those inside outputs included.
fn texts(content: &Value) -> Vec<&str> {
    let parts = content["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().flat_map(part_texts).collect()
}

fn part_texts(part: &Value) -> Vec<&str> {
    let response = part["functionResponse"]["response"].as_object();
    let outputs = response.into_iter().flat_map(Map::values).filter_map(Value::as_str);
    part["text"].as_str().into_iter().chain(outputs).collect()
}
