//! OpenAI Responses: its events, documents and errors.

mod items;

use serde_json::{Value, json};
use sortie_protocol::{StopReason, Usage};

use self::items::output_items;
use super::RecordedRequest;
use super::dialect::{Answer, Dialect, Rejection, fragments};
use super::openai::OpenAi;
use super::{strict_openai, strict_openai_responses};
use crate::script::Asked;

pub(super) struct OpenAiResponses;

/// Creation time in every reply: fixed, so that replies are reproducible.
const CREATED: u64 = 1_767_225_600;

impl Dialect for OpenAiResponses {
    fn id_prefix(&self) -> &'static str {
        "call"
    }

    fn check(&self, request: &RecordedRequest, key: Option<&str>) -> Result<(), Rejection> {
        strict_openai::check_headers(request, key)?;
        strict_openai_responses::check_body(&request.body)
    }

    fn asked<'a>(&self, request: &'a RecordedRequest) -> Asked<'a> {
        items::asked(&request.body)
    }

    fn events(&self, answer: &Answer<'_>) -> Vec<String> {
        let mut stream = opening(answer);
        for (index, item) in output_items(answer).iter().enumerate() {
            stream.item(index, item);
        }
        let whole = whole(answer);
        let ending = if whole["status"] == "incomplete" { "response.incomplete" } else { "response.completed" };
        stream.push(ending, json!({ "response": whole }));
        stream.events
    }

    fn document(&self, answer: &Answer<'_>) -> Value {
        whole(answer)
    }

    fn keep_alives(&self, answer: &Answer<'_>) -> (Vec<String>, Vec<String>) {
        let mut stream = opening(answer);
        let item = json!({ "id": "msg_blank", "type": "message", "status": "in_progress", "role": "assistant", "content": [] });
        stream.push("response.output_item.added", json!({ "output_index": 0, "item": item }));
        let opening = stream.events.len();
        stream.push("response.in_progress", json!({ "response": response(answer, "in_progress", &[]) }));
        stream.piece("response.output_text.delta", &item, 0, &[("content_index", json!(0)), ("delta", json!(""))]);
        let signs = stream.events.split_off(opening);
        (stream.events, [vec![": keep-alive\n\n".to_owned()], signs].concat())
    }

    fn usual_error(&self, status: u16) -> Rejection {
        OpenAi.usual_error(status)
    }

    fn error_document(&self, rejection: &Rejection, request_id: &str) -> Value {
        OpenAi.error_document(rejection, request_id)
    }

    fn error_event(&self, rejection: &Rejection) -> String {
        let mut stream = Stream::default();
        stream.push("error", self.error_document(rejection, ""));
        stream.events.concat()
    }

    fn overloaded_status(&self) -> u16 {
        OpenAi.overloaded_status()
    }

    fn request_id_header(&self) -> &'static str {
        OpenAi.request_id_header()
    }
}

/// A growing list of events, each numbered by its position.
#[derive(Default)]
struct Stream {
    events: Vec<String>,
}

impl Stream {
    fn push(&mut self, name: &str, mut fields: Value) {
        fields["type"] = Value::from(name);
        fields["sequence_number"] = Value::from(self.events.len());
        self.events.push(format!("event: {name}\ndata: {fields}\n\n"));
    }

    /// Adds an event about a piece of an item.
    fn piece(&mut self, name: &str, item: &Value, index: usize, fields: &[(&str, Value)]) {
        let mut event = json!({ "item_id": item["id"], "output_index": index });
        for (key, value) in fields {
            event[*key] = value.clone();
        }
        self.push(name, event);
    }

    /// Adds all events of one item.
    fn item(&mut self, index: usize, item: &Value) {
        let added = items::begun(item);
        self.push("response.output_item.added", json!({ "output_index": index, "item": added }));
        match item["type"].as_str() {
            Some("message") => self.text(index, item),
            Some("function_call") => self.arguments(index, item),
            _ => self.summary(index, item),
        }
        self.push("response.output_item.done", json!({ "output_index": index, "item": item }));
    }

    fn text(&mut self, index: usize, item: &Value) {
        let part = &item["content"][0];
        let text = part["text"].as_str().unwrap_or_default();
        let place = ("content_index", json!(0));
        let empty = json!({ "type": "output_text", "text": "", "annotations": [] });
        self.piece("response.content_part.added", item, index, &[place.clone(), ("part", empty)]);
        for delta in fragments(text) {
            let fields = [place.clone(), ("delta", json!(delta)), ("logprobs", json!([]))];
            self.piece("response.output_text.delta", item, index, &fields);
        }
        let fields = [place.clone(), ("text", json!(text)), ("logprobs", json!([]))];
        self.piece("response.output_text.done", item, index, &fields);
        self.piece("response.content_part.done", item, index, &[place, ("part", part.clone())]);
    }

    fn arguments(&mut self, index: usize, item: &Value) {
        let arguments = &item["arguments"];
        for delta in fragments(arguments.as_str().unwrap_or_default()) {
            self.piece("response.function_call_arguments.delta", item, index, &[("delta", json!(delta))]);
        }
        let fields = [("arguments", arguments.clone())];
        self.piece("response.function_call_arguments.done", item, index, &fields);
    }

    fn summary(&mut self, index: usize, item: &Value) {
        let part = &item["summary"][0];
        let text = part["text"].as_str().unwrap_or_default();
        let place = ("summary_index", json!(0));
        let empty = json!({ "type": "summary_text", "text": "" });
        self.piece("response.reasoning_summary_part.added", item, index, &[place.clone(), ("part", empty)]);
        for delta in fragments(text) {
            let fields = [place.clone(), ("delta", json!(delta))];
            self.piece("response.reasoning_summary_text.delta", item, index, &fields);
        }
        let fields = [place.clone(), ("text", json!(text))];
        self.piece("response.reasoning_summary_text.done", item, index, &fields);
        self.piece("response.reasoning_summary_part.done", item, index, &[place, ("part", part.clone())]);
    }
}

fn opening(answer: &Answer<'_>) -> Stream {
    let mut stream = Stream::default();
    let response = response(answer, "in_progress", &[]);
    stream.push("response.created", json!({ "response": response }));
    stream.push("response.in_progress", json!({ "response": response }));
    stream
}

/// Returns the final response.
fn whole(answer: &Answer<'_>) -> Value {
    let reason = match answer.reply.stop {
        StopReason::End | StopReason::Calls | StopReason::NoAnswer => None,
        StopReason::Length => Some("max_output_tokens"),
        StopReason::Refusal => Some("content_filter"),
    };
    let status = if reason.is_some() { "incomplete" } else { "completed" };
    let mut response = response(answer, status, &output_items(answer));
    if let Some(reason) = reason {
        response["incomplete_details"] = json!({ "reason": reason });
    }
    response["usage"] = usage(&answer.reply.usage);
    response
}

fn response(answer: &Answer<'_>, status: &str, output: &[Value]) -> Value {
    json!({
        "id": format!("resp_scripted_{}", answer.serial),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "model": answer.reply.model,
        "output": output,
        "parallel_tool_calls": true,
        "store": answer.body["store"] != false,
        "tool_choice": "auto",
        "tools": [],
        "usage": null,
    })
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.total_tokens().saturating_sub(usage.output_tokens),
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": usage.total_tokens(),
    })
}
