//! Anthropic Messages: its events, documents and errors.

use serde_json::{Value, json};
use sortie_protocol::{Part, StopReason, Usage};

use super::RecordedRequest;
use super::dialect::{Answer, Dialect, Rejection, fragments};
use super::strict::signature;
use super::strict_anthropic;
use crate::script::Asked;

pub(super) struct Anthropic;

impl Dialect for Anthropic {
    fn id_prefix(&self) -> &'static str {
        "toolu"
    }

    fn check(&self, request: &RecordedRequest, key: Option<&str>) -> Result<(), Rejection> {
        strict_anthropic::check_headers(request, key)?;
        strict_anthropic::check_body(request)
    }

    fn asked<'a>(&self, request: &'a RecordedRequest) -> Asked<'a> {
        let body = &request.body;
        let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        Asked {
            model: body["model"].as_str().unwrap_or_default(),
            system: texts(&body["system"]),
            prompt: messages.iter().find(|message| message["role"] == "user").map(content).unwrap_or_default(),
            last: messages.last().map(content).unwrap_or_default(),
            turn: messages.iter().filter(|message| message["role"] == "assistant").count() as u32,
        }
    }

    fn events(&self, answer: &Answer<'_>) -> Vec<String> {
        let mut events = vec![message_start(answer)];
        for (index, part) in answer.reply.parts.iter().enumerate() {
            events.push(event("content_block_start", &json!({ "index": index, "content_block": empty_block(part) })));
            if index == 0 {
                events.push(event("ping", &json!({})));
            }
            events.extend(
                deltas(part).map(|delta| event("content_block_delta", &json!({ "index": index, "delta": delta }))),
            );
            events.push(event("content_block_stop", &json!({ "index": index })));
        }
        events.push(event(
            "message_delta",
            &json!({
                "delta": { "stop_reason": stop_reason(answer.reply.stop), "stop_sequence": null },
                "usage": { "output_tokens": answer.reply.usage.output_tokens },
            }),
        ));
        events.push(event("message_stop", &json!({})));
        events
    }

    fn document(&self, answer: &Answer<'_>) -> Value {
        let reply = answer.reply;
        let content: Vec<Value> = reply.parts.iter().map(whole_block).collect();
        message(answer, &content, Some(stop_reason(reply.stop)), reply.usage.output_tokens)
    }

    fn keep_alives(&self, answer: &Answer<'_>) -> (Vec<String>, Vec<String>) {
        let blank = json!({ "index": 0, "delta": { "type": "text_delta", "text": "" } });
        let block = json!({ "index": 0, "content_block": { "type": "text", "text": "" } });
        (
            vec![message_start(answer), event("content_block_start", &block)],
            vec![": keep-alive\n\n".to_owned(), event("ping", &json!({})), event("content_block_delta", &blank)],
        )
    }

    fn usual_error(&self, status: u16) -> Rejection {
        let (kind, message) = match status {
            401 => ("authentication_error", "invalid x-api-key"),
            403 => ("permission_error", "Your API key does not have permission to use the specified resource"),
            404 => ("not_found_error", "The requested resource could not be found"),
            413 => ("request_too_large", "Request exceeds the maximum size"),
            429 => ("rate_limit_error", "This request would exceed your organization's rate limit"),
            529 => ("overloaded_error", "Overloaded"),
            500.. => ("api_error", "Internal server error"),
            _ => ("invalid_request_error", "Invalid request"),
        };
        Rejection::new(status, kind, message)
    }

    fn error_document(&self, rejection: &Rejection, request_id: &str) -> Value {
        json!({
            "type": "error",
            "error": { "type": rejection.kind, "message": rejection.message },
            "request_id": request_id,
        })
    }

    fn error_event(&self, rejection: &Rejection) -> String {
        event("error", &json!({ "error": { "type": rejection.kind, "message": rejection.message } }))
    }

    fn overloaded_status(&self) -> u16 {
        529
    }

    fn request_id_header(&self) -> &'static str {
        "request-id"
    }
}

/// A server-sent event; its name is also in the document.
fn event(name: &str, fields: &Value) -> String {
    let mut document = json!({ "type": name });
    if let (Some(document), Some(fields)) = (document.as_object_mut(), fields.as_object()) {
        document.extend(fields.clone());
    }
    format!("event: {name}\ndata: {document}\n\n")
}

fn message_start(answer: &Answer<'_>) -> String {
    let message = message(answer, &[], None, 1);
    event("message_start", &json!({ "message": message }))
}

fn message(answer: &Answer<'_>, content: &[Value], stop_reason: Option<&str>, output_tokens: u64) -> Value {
    json!({
        "id": format!("msg_scripted_{}", answer.serial),
        "type": "message",
        "role": "assistant",
        "model": answer.reply.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": usage(&answer.reply.usage, output_tokens),
    })
}

fn usage(usage: &Usage, output_tokens: u64) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": output_tokens,
    })
}

fn stop_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::End | StopReason::NoAnswer => "end_turn",
        StopReason::Calls => "tool_use",
        StopReason::Length => "max_tokens",
        StopReason::Refusal => "refusal",
    }
}

fn empty_block(part: &Part) -> Value {
    match part {
        Part::Text { .. } => json!({ "type": "text", "text": "" }),
        Part::Reasoning(_) => json!({ "type": "thinking", "thinking": "", "signature": "" }),
        Part::Call(call) => json!({ "type": "tool_use", "id": call.id, "name": call.tool, "input": {} }),
    }
}

fn whole_block(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({ "type": "text", "text": text }),
        Part::Reasoning(reasoning) => {
            let text = reasoning.item.as_str().unwrap_or_default();
            json!({ "type": "thinking", "thinking": text, "signature": signature(text) })
        }
        Part::Call(call) => {
            // Without streaming, the provider only ever sends objects.
            let input: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
            json!({ "type": "tool_use", "id": call.id, "name": call.tool, "input": input })
        }
    }
}

fn deltas(part: &Part) -> Box<dyn Iterator<Item = Value> + '_> {
    match part {
        Part::Text { text } => Box::new(fragments(text).map(|text| json!({ "type": "text_delta", "text": text }))),
        Part::Reasoning(reasoning) => {
            let text = reasoning.item.as_str().unwrap_or_default();
            let signature = json!({ "type": "signature_delta", "signature": signature(text) });
            let thinking = fragments(text).map(|text| json!({ "type": "thinking_delta", "thinking": text }));
            Box::new(thinking.chain([signature]))
        }
        Part::Call(call) => {
            // The provider opens every call with an empty fragment.
            let pieces = std::iter::once("").chain(fragments(&call.arguments));
            Box::new(pieces.map(|json| json!({ "type": "input_json_delta", "partial_json": json })))
        }
    }
}

fn content(message: &Value) -> Vec<&str> {
    texts(&message["content"])
}

/// Returns the texts in a string or in content blocks, those inside tool results included.
fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks.iter().flat_map(block_texts).collect(),
        _ => Vec::new(),
    }
}

fn block_texts(block: &Value) -> Vec<&str> {
    match block["type"].as_str() {
        Some("text") => block["text"].as_str().into_iter().collect(),
        Some("tool_result") => texts(&block["content"]),
        _ => Vec::new(),
    }
}
