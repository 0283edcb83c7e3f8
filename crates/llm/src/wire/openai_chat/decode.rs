//! A Chat Completions event stream as a [`Reply`], with the habits of the many servers that speak it.

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{CallId, Part, Reasoning, Reply, StopReason, ToolCall, Usage};

use super::NAME;
use crate::wire::tokens::count;
use crate::wire::{Decoder, Observe, Progress, ProviderFault, cut, garbage, is_blank, reply};
use crate::{ModelError, ModelEvent};

const END_MARK: &str = "[DONE]";

#[derive(Deserialize)]
struct Chunk {
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
    content: Option<String>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
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
}

#[derive(Default)]
pub(super) struct ChatDecoder {
    model: String,
    text: String,
    /// The field in which this server gives its reasoning, and the reasoning.
    reasoning: Option<(&'static str, String)>,
    refused: bool,
    calls: Vec<PartialCall>,
    usage: Usage,
    finish_reason: Option<String>,
    ended: bool,
}

impl Decoder for ChatDecoder {
    fn feed(&mut self, data: &str, observe: Observe<'_>) -> Result<Progress, ModelError> {
        if data.trim() == END_MARK {
            self.ended = true;
            return Ok(Progress::Done);
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(|error| garbage(error, data))?;
        if !chunk.error.is_null() {
            let fault = ProviderFault::from_json(&json!({ "error": chunk.error })).unwrap_or_default();
            return Err(ModelError::new(fault.kind_in_stream(), fault.message));
        }
        if let Some(model) = chunk.model.filter(|model| !model.is_empty()) {
            self.model = model;
        }
        if chunk.usage.is_object() {
            self.count_usage(&chunk.usage);
        }
        let mut progress = Progress::Quiet;
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index.unwrap_or(0) == 0) {
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
        if !self.ended && self.finish_reason.is_none() {
            return Err(cut());
        }
        let stop = self.stop();
        let mut parts = Vec::new();
        if let Some((field, text)) = self.reasoning.take() {
            parts.push(Part::Reasoning(Reasoning { wire: NAME.to_owned(), item: json!({ field: text }) }));
        }
        parts.push(Part::Text { text: std::mem::take(&mut self.text) });
        parts.extend(
            self.calls
                .drain(..)
                .map(|call| Part::Call(ToolCall { id: CallId(call.id), tool: call.tool, arguments: call.arguments })),
        );
        Ok(reply::assemble(parts, stop, self.usage, std::mem::take(&mut self.model)))
    }
}

impl ChatDecoder {
    /// Takes one delta; says whether it had content.
    fn extend(&mut self, delta: Delta, observe: Observe<'_>) -> bool {
        let mut content = false;
        let reasoning = [("reasoning_content", delta.reasoning_content), ("reasoning", delta.reasoning)];
        // Servers that fill both fields say the same in both.
        if let Some((field, text)) = reasoning.into_iter().find_map(|(field, text)| Some((field, not_empty(text)?))) {
            observe(ModelEvent::Reasoning(&text));
            content |= !is_blank(&text);
            self.reasoning.get_or_insert((field, String::new())).1.push_str(&text);
        }
        let refusal = not_empty(delta.refusal);
        self.refused |= refusal.is_some();
        for text in [not_empty(delta.content), refusal].into_iter().flatten() {
            observe(ModelEvent::Text(&text));
            content |= !is_blank(&text);
            self.text.push_str(&text);
        }
        for call in delta.tool_calls.into_iter().flatten() {
            content |= self.extend_call(call, observe);
        }
        content
    }

    fn extend_call(&mut self, delta: CallDelta, observe: Observe<'_>) -> bool {
        let id = delta.id.unwrap_or_default();
        let function = delta.function.unwrap_or_default();
        let tool = not_empty(function.name);
        let call = self.call_of(delta.index, &id, tool.is_some());
        if call.id.is_empty() {
            call.id = id;
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

    /// The call that a delta belongs to: by index, else by id, else by whether it names a tool as a new call does.
    ///
    /// Ids count beside the index, because some servers give every call the index 0.
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

    /// Cached input is part of `prompt_tokens` on this wire.
    fn count_usage(&mut self, usage: &Value) {
        let prompt = count(usage, &["prompt_tokens"]).unwrap_or(0);
        let cached = count(usage, &["prompt_tokens_details", "cached_tokens"])
            .or_else(|| count(usage, &["prompt_cache_hit_tokens"]))
            .unwrap_or(0)
            .min(prompt);
        self.usage.input_tokens = prompt - cached;
        self.usage.cache_read_tokens = cached;
        self.usage.output_tokens = count(usage, &["completion_tokens"]).unwrap_or(0);
    }

    fn stop(&self) -> StopReason {
        match self.finish_reason.as_deref() {
            Some("length") => StopReason::Length,
            Some("content_filter") => StopReason::Refusal,
            _ if self.refused => StopReason::Refusal,
            Some("tool_calls" | "function_call") => StopReason::Calls,
            _ => StopReason::End,
        }
    }
}

fn not_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}
