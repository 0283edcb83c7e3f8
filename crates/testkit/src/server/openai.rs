//! OpenAI Chat Completions: its chunks, documents and errors.

use serde_json::{Value, json};
use sortie_protocol::{Part, StopReason, ToolCall, Usage};

use super::RecordedRequest;
use super::dialect::{Answer, Dialect, Rejection, fragments};
use super::strict_openai;
use crate::script::Asked;

pub(super) struct OpenAi;

/// Creation time in every reply: fixed, so that replies are reproducible.
const CREATED: u64 = 1_767_225_600;

impl Dialect for OpenAi {
    fn id_prefix(&self) -> &'static str {
        "call"
    }

    fn check(&self, request: &RecordedRequest, key: Option<&str>) -> Result<(), Rejection> {
        strict_openai::check_headers(request, key)?;
        strict_openai::check_body(&request.body)
    }

    fn asked<'a>(&self, request: &'a RecordedRequest) -> Asked<'a> {
        let body = &request.body;
        let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_system = |message: &&Value| message["role"] == "system" || message["role"] == "developer";
        // The outputs of one turn are several messages here; to a script they are one.
        let outputs = messages.iter().rev().take_while(|message| message["role"] == "tool").count();
        Asked {
            model: body["model"].as_str().unwrap_or_default(),
            system: messages.iter().filter(is_system).flat_map(texts).collect(),
            prompt: messages.iter().find(|message| message["role"] == "user").map(texts).unwrap_or_default(),
            last: messages[messages.len().saturating_sub(outputs.max(1))..].iter().flat_map(texts).collect(),
            turn: messages.iter().filter(|message| message["role"] == "assistant").count() as u32,
        }
    }

    fn events(&self, answer: &Answer<'_>) -> Vec<String> {
        let mut deltas = vec![json!({ "role": "assistant", "content": "", "refusal": null })];
        for part in &answer.reply.parts {
            match part {
                Part::Text { text } => deltas.extend(fragments(text).map(|text| json!({ "content": text }))),
                Part::Reasoning(reasoning) => {
                    let text = reasoning.item.as_str().unwrap_or_default();
                    deltas.extend(fragments(text).map(|text| json!({ "reasoning_content": text })));
                }
                // Calls come last on this wire, wherever the script has them.
                Part::Call(_) => {}
            }
        }
        let calls: Vec<&ToolCall> = answer.reply.calls().collect();
        deltas.extend(call_deltas(&calls));
        let mut events: Vec<String> = deltas.iter().map(|delta| choice_chunk(answer, delta, None)).collect();
        events.push(choice_chunk(answer, &json!({}), Some(finish_reason(answer.reply.stop))));
        if includes_usage(answer) {
            events.push(chunk(answer, &[], &usage(&answer.reply.usage)));
        }
        events.push("data: [DONE]\n\n".to_owned());
        events
    }

    fn document(&self, answer: &Answer<'_>) -> Value {
        let reply = answer.reply;
        let text = reply.text();
        let content = if text.is_empty() && reply.calls().next().is_some() { Value::Null } else { json!(text) };
        let mut message = json!({ "role": "assistant", "content": content, "refusal": null });
        let calls: Vec<Value> = reply.calls().map(whole_call).collect();
        if !calls.is_empty() {
            message["tool_calls"] = Value::from(calls);
        }
        let reasoning: String = reply.parts.iter().filter_map(reasoning_text).collect();
        if !reasoning.is_empty() {
            message["reasoning_content"] = Value::from(reasoning);
        }
        json!({
            "id": format!("chatcmpl-scripted-{}", answer.serial),
            "object": "chat.completion",
            "created": CREATED,
            "model": reply.model,
            "choices": [{
                "index": 0,
                "message": message,
                "logprobs": null,
                "finish_reason": finish_reason(reply.stop),
            }],
            "usage": usage(&reply.usage),
            "system_fingerprint": null,
        })
    }

    fn keep_alives(&self, answer: &Answer<'_>) -> (Vec<String>, Vec<String>) {
        let role = json!({ "role": "assistant", "content": "", "refusal": null });
        let blank = choice_chunk(answer, &json!({ "content": "" }), None);
        let empty = choice_chunk(answer, &json!({}), None);
        (vec![choice_chunk(answer, &role, None)], vec![": keep-alive\n\n".to_owned(), blank, empty])
    }

    fn usual_error(&self, status: u16) -> Rejection {
        match status {
            401 => Rejection::new(401, "invalid_request_error", "Incorrect API key provided.").code("invalid_api_key"),
            404 => Rejection::new(
                404,
                "invalid_request_error",
                "The model does not exist or you do not have access to it.",
            )
            .code("model_not_found"),
            429 => Rejection::new(429, "requests", "Rate limit reached for requests.").code("rate_limit_exceeded"),
            503 => Rejection::new(503, "server_error", "The server is currently overloaded with other requests."),
            500.. => Rejection::new(status, "server_error", "The server had an error while processing your request."),
            _ => Rejection::new(status, "invalid_request_error", "Invalid request."),
        }
    }

    fn error_document(&self, rejection: &Rejection, _request_id: &str) -> Value {
        json!({
            "error": {
                "message": rejection.message,
                "type": rejection.kind,
                "param": rejection.param,
                "code": rejection.code,
            },
        })
    }

    fn error_event(&self, rejection: &Rejection) -> String {
        format!("data: {}\n\n", self.error_document(rejection, ""))
    }

    fn overloaded_status(&self) -> u16 {
        503
    }

    fn request_id_header(&self) -> &'static str {
        "x-request-id"
    }
}

/// Encodes the calls of a reply with interleaved arguments, as some servers of this wire send them.
fn call_deltas(calls: &[&ToolCall]) -> Vec<Value> {
    let mut deltas: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let function = json!({ "name": call.tool, "arguments": "" });
            json!({ "tool_calls": [{ "index": index, "id": call.id, "type": "function", "function": function }] })
        })
        .collect();
    let mut pending: Vec<_> = calls.iter().map(|call| fragments(&call.arguments)).collect();
    loop {
        let round: Vec<Value> = pending
            .iter_mut()
            .enumerate()
            .filter_map(|(index, fragments)| {
                let function = json!({ "arguments": fragments.next()? });
                Some(json!({ "tool_calls": [{ "index": index, "function": function }] }))
            })
            .collect();
        if round.is_empty() {
            return deltas;
        }
        deltas.extend(round);
    }
}

fn choice_chunk(answer: &Answer<'_>, delta: &Value, finish_reason: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason });
    chunk(answer, &[choice], &Value::Null)
}

fn chunk(answer: &Answer<'_>, choices: &[Value], usage: &Value) -> String {
    let mut chunk = json!({
        "id": format!("chatcmpl-scripted-{}", answer.serial),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": answer.reply.model,
        "system_fingerprint": null,
        "choices": choices,
    });
    if includes_usage(answer) {
        chunk["usage"] = usage.clone();
    }
    format!("data: {chunk}\n\n")
}

fn includes_usage(answer: &Answer<'_>) -> bool {
    answer.body["stream_options"]["include_usage"] == true
}

fn usage(usage: &Usage) -> Value {
    let prompt_tokens = usage.total_tokens().saturating_sub(usage.output_tokens);
    json!({
        "prompt_tokens": prompt_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens(),
        "prompt_tokens_details": { "cached_tokens": usage.cache_read_tokens, "audio_tokens": 0 },
        "completion_tokens_details": { "reasoning_tokens": 0, "audio_tokens": 0 },
    })
}

fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::End | StopReason::NoAnswer => "stop",
        StopReason::Calls => "tool_calls",
        StopReason::Length => "length",
        StopReason::Refusal => "content_filter",
    }
}

fn whole_call(call: &ToolCall) -> Value {
    json!({ "id": call.id, "type": "function", "function": { "name": call.tool, "arguments": call.arguments } })
}

fn reasoning_text(part: &Part) -> Option<&str> {
    match part {
        Part::Reasoning(reasoning) => reasoning.item.as_str(),
        Part::Text { .. } | Part::Call(_) => None,
    }
}

/// Returns the texts of a message, whose content is a string or parts.
fn texts(message: &Value) -> Vec<&str> {
    match &message["content"] {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => Vec::new(),
    }
}
