//! Decoder of a Chat Completions event stream into a [`Reply`], for the habits of many servers.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sortie_protocol::{CallId, Part, Reply, StopReason, ToolCall, Usage};

use super::opaque;
use crate::wire::assemble::assemble;
use crate::wire::usage_counts::{count, uncached};
use crate::wire::{Decoder, MAX_CALLS, Observe, Progress, cut, fault_or_garbage, is_blank, too_many_calls};
use crate::{ErrorKind, ModelError, ModelEvent};

const END_MARK: &str = "[DONE]";

#[derive(Deserialize)]
struct Chunk {
    object: Option<String>,
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<ContentDelta>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    reasoning_details: Option<Vec<Value>>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ContentDelta {
    Text(String),
    /// Text and thinking, on servers that put both in one field.
    Items(Vec<Value>),
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    #[serde(rename = "type")]
    _kind: Option<IgnoredAny>,
    function: Option<FunctionDelta>,
    /// Other fields that the server wants back.
    #[serde(flatten)]
    opaque: Map<String, Value>,
}

#[derive(Default, Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    /// A piece of text; some servers send the object itself.
    #[serde(default)]
    arguments: Value,
}

#[derive(Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    tool: String,
    arguments: String,
    opaque: Map<String, Value>,
}

#[derive(Default)]
pub(super) struct ChatDecoder {
    model: String,
    text: String,
    /// Reasoning, under this server's own field names.
    opaque: Map<String, Value>,
    refused: bool,
    calls: Vec<PartialCall>,
    usage: Usage,
    finish_reason: Option<String>,
}

impl Decoder for ChatDecoder {
    fn feed(&mut self, data: &str, observe: Observe<'_>) -> Result<Progress, ModelError> {
        if data.trim() == END_MARK {
            return Ok(Progress::Done);
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(|error| fault_or_garbage(error, data))?;
        if chunk.usage.is_object() {
            self.usage = counted(&chunk.usage);
        }
        if !chunk.error.is_null() || chunk.object.as_deref() == Some("error") {
            return Err(fault_or_garbage("an error without a message", data));
        }
        if let Some(model) = chunk.model.filter(|model| !model.is_empty()) {
            self.model = model;
        }
        let mut progress = Progress::Quiet;
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index.unwrap_or(0) == 0) {
            let pieces = choice.delta.as_ref().and_then(|delta| delta.tool_calls.as_ref()).map_or(0, Vec::len);
            // Each piece is compared with all calls so far.
            if pieces > MAX_CALLS {
                return Err(too_many_calls());
            }
            if choice.delta.is_some_and(|delta| self.extend(delta, observe)) {
                progress = Progress::Content;
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish_reason = Some(reason);
                progress = Progress::Whole;
            }
        }
        Ok(progress)
    }

    fn finish(&mut self) -> Result<Reply, ModelError> {
        let stop = self.stop()?;
        let mut parts: Vec<Part> = opaque::of_message(std::mem::take(&mut self.opaque)).into_iter().collect();
        parts.push(Part::Text { text: std::mem::take(&mut self.text) });
        for call in self.calls.drain(..) {
            parts.extend(opaque::of_call(call.opaque));
            parts.push(Part::Call(ToolCall { id: CallId(call.id), tool: call.tool, arguments: call.arguments }));
        }
        Ok(assemble(parts, stop, self.usage, std::mem::take(&mut self.model)))
    }

    fn usage(&self) -> Usage {
        self.usage
    }
}

impl ChatDecoder {
    /// Reads one delta; true if it had content.
    fn extend(&mut self, delta: Delta, observe: Observe<'_>) -> bool {
        let mut content = false;
        let reasoning = [("reasoning_content", delta.reasoning_content), ("reasoning", delta.reasoning)];
        // Servers that fill both fields put the same text in both.
        if let Some((field, text)) = reasoning.into_iter().find_map(|(field, text)| Some((field, not_empty(text)?))) {
            observe(ModelEvent::Reasoning(&text));
            content |= !is_blank(&text);
            opaque::append(&mut self.opaque, field, text.into());
        }
        if let Some(details) = delta.reasoning_details.filter(|details| !details.is_empty()) {
            content = true;
            opaque::append(&mut self.opaque, "reasoning_details", details.into());
        }
        match delta.content {
            Some(ContentDelta::Text(text)) => content |= self.extend_text(&text, observe),
            Some(ContentDelta::Items(items)) => {
                for item in items {
                    content |= self.extend_item(item, observe);
                }
            }
            None => {}
        }
        if let Some(refusal) = not_empty(delta.refusal) {
            self.refused = true;
            content |= self.extend_text(&refusal, observe);
        }
        for call in delta.tool_calls.into_iter().flatten() {
            content |= self.extend_call(call, observe);
        }
        content
    }

    fn extend_text(&mut self, text: &str, observe: Observe<'_>) -> bool {
        if !text.is_empty() {
            observe(ModelEvent::Text(text));
            self.text.push_str(text);
        }
        !is_blank(text)
    }

    /// Reads an item of a content list. Item types that were never requested count as no content.
    fn extend_item(&mut self, item: Value, observe: Observe<'_>) -> bool {
        match item["type"].as_str() {
            Some("text") => self.extend_text(item["text"].as_str().unwrap_or_default(), observe),
            Some("thinking") => {
                let thought = thought(&item["thinking"]);
                observe(ModelEvent::Reasoning(&thought));
                opaque::append(&mut self.opaque, opaque::CONTENT, Value::Array(vec![item]));
                !is_blank(&thought)
            }
            _ => false,
        }
    }

    fn extend_call(&mut self, delta: CallDelta, observe: Observe<'_>) -> bool {
        let id = delta.id.unwrap_or_default();
        let function = delta.function.unwrap_or_default();
        let tool = not_empty(function.name);
        let call = self.call_of(delta.index, &id, tool.is_some());
        if call.id.is_empty() {
            call.id = id;
        }
        for (key, value) in delta.opaque {
            opaque::append(&mut call.opaque, &key, value);
        }
        let mut content = false;
        if let Some(tool) = tool.filter(|_| call.tool.is_empty()) {
            observe(ModelEvent::CallBegan { tool: &tool });
            call.tool = tool;
            content = true;
        }
        match function.arguments {
            Value::Null => {}
            Value::String(piece) => {
                content |= !is_blank(&piece);
                call.arguments.push_str(&piece);
            }
            whole => {
                content = true;
                call.arguments.push_str(&whole.to_string());
            }
        }
        content
    }

    /// Returns the call that a delta belongs to: by index, else by id, else by whether it names a tool, as a new call
    /// does.
    ///
    /// Ids count as well as the index, because some servers give every call the index 0.
    fn call_of(&mut self, index: Option<u64>, id: &str, names_tool: bool) -> &mut PartialCall {
        let belongs = |call: &PartialCall| {
            if !id.is_empty() && !call.id.is_empty() && call.id != id {
                return false;
            }
            match (index, call.index) {
                (Some(index), Some(of_call)) => index == of_call,
                _ => !(id.is_empty() && names_tool && !call.tool.is_empty()),
            }
        };
        let at = self.calls.iter().rposition(belongs).unwrap_or_else(|| {
            self.calls.push(PartialCall { index, ..PartialCall::default() });
            self.calls.len() - 1
        });
        &mut self.calls[at]
    }

    /// Returns the stop reason, or an error if the reply is incomplete.
    ///
    /// Only a finish reason makes a reply complete. `[DONE]` alone does not: every major server (OpenAI, vLLM,
    /// llama.cpp, Ollama) gives a reason, and proxies write `[DONE]` even after an upstream failure.
    fn stop(&self) -> Result<StopReason, ModelError> {
        match self.finish_reason.as_deref().ok_or_else(cut)? {
            "content_filter" => Ok(StopReason::Refusal),
            _ if self.refused => Ok(StopReason::Refusal),
            "length" | "model_length" => Ok(StopReason::Length),
            "tool_calls" | "function_call" => Ok(StopReason::Calls),
            "stop" => Ok(StopReason::End),
            "error" => Err(ModelError::new(ErrorKind::Server, "the provider ended its reply with an error")),
            _ if self.calls.iter().all(PartialCall::is_whole) => Ok(StopReason::End),
            unknown => {
                let message = format!("the provider ended its reply inside a tool call, with the reason `{unknown}`");
                Err(ModelError::new(ErrorKind::Garbage, message))
            }
        }
    }
}

/// Reads the usage. On this wire `prompt_tokens` includes cached input.
pub(super) fn counted(said: &Value) -> Usage {
    let prompt = count(said, &["prompt_tokens"]).unwrap_or(0);
    let cached = count(said, &["prompt_tokens_details", "cached_tokens"])
        .or_else(|| count(said, &["prompt_cache_hit_tokens"]))
        .unwrap_or(0);
    Usage {
        input_tokens: uncached(prompt, cached),
        cache_read_tokens: cached,
        output_tokens: count(said, &["completion_tokens"]).unwrap_or(0),
        ..Usage::default()
    }
}

impl PartialCall {
    fn is_whole(&self) -> bool {
        serde_json::from_str::<&RawValue>(&self.arguments).is_ok()
    }
}

/// Returns the text of a thinking item: a list of text items, or the text itself.
fn thought(thinking: &Value) -> String {
    match thinking {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().filter_map(|item| item["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn not_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}
