//! Decoder of a Gemini event stream into a [`Reply`].
//!
//! Each event is a small response of its own. Calls arrive whole, texts and thoughts in pieces, counts as running
//! totals. The event with a finish reason is the end; no other mark follows.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sortie_protocol::{CallId, Part, Reply, StopReason, ToolCall, Usage};

use super::opaque;
use crate::wire::assemble::assemble;
use crate::wire::fault::one_line;
use crate::wire::usage_counts::{count, uncached};
use crate::wire::{Decoder, Observe, Progress, cut, fault_or_garbage, progress_of};
use crate::{ErrorKind, ModelError, ModelEvent};

/// Parts of finish reasons that mean a withheld reply.
const WITHHELD: [&str; 7] =
    ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<PromptFeedback>,
    model_version: Option<String>,
    #[serde(default)]
    usage_metadata: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    index: Option<u64>,
    content: Option<Content>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    parts: Option<Vec<Piece>>,
}

/// A part, or a piece of one. Part types that were never requested have none of these fields.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Piece {
    text: Option<String>,
    thought: Option<bool>,
    thought_signature: Option<String>,
    function_call: Option<FunctionCall>,
}

#[derive(Deserialize)]
struct FunctionCall {
    id: Option<String>,
    name: Option<String>,
    args: Option<Box<RawValue>>,
}

#[derive(Default)]
pub(super) struct GeminiDecoder {
    model: String,
    parts: Vec<Part>,
    /// The last part has its signature, so the next piece starts another part.
    closed: bool,
    usage: Usage,
    /// The provider refused the prompt.
    blocked: bool,
    finish: Option<Finish>,
}

struct Finish {
    reason: String,
    /// The provider's explanation, e.g. the call that it could not parse.
    message: String,
}

impl Decoder for GeminiDecoder {
    fn feed(&mut self, data: &str, observe: Observe<'_>) -> Result<Progress, ModelError> {
        let chunk: Chunk = serde_json::from_str(data).map_err(|error| fault_or_garbage(error, data))?;
        count_usage(&mut self.usage, &chunk.usage_metadata);
        if !chunk.error.is_null() {
            return Err(fault_or_garbage("an error without a message", data));
        }
        if let Some(model) = chunk.model_version.filter(|model| !model.is_empty()) {
            self.model = model;
        }
        if chunk.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some()) {
            self.blocked = true;
            return Ok(Progress::Whole);
        }
        let mut progress = Progress::Quiet;
        let candidates = chunk.candidates.into_iter().flatten();
        for candidate in candidates.filter(|candidate| candidate.index.unwrap_or(0) == 0) {
            for piece in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
                if self.extend(piece, observe) == Progress::Content {
                    progress = Progress::Content;
                }
            }
            if let Some(reason) = candidate.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish = Some(Finish { reason, message: candidate.finish_message.unwrap_or_default() });
                progress = Progress::Whole;
            }
        }
        Ok(progress)
    }

    fn finish(&mut self) -> Result<Reply, ModelError> {
        let stop = self.stop()?;
        let parts = std::mem::take(&mut self.parts);
        Ok(assemble(parts, stop, self.usage, std::mem::take(&mut self.model)))
    }

    fn usage(&self) -> Usage {
        self.usage
    }
}

impl GeminiDecoder {
    fn extend(&mut self, piece: Piece, observe: Observe<'_>) -> Progress {
        let signature = piece.thought_signature.filter(|signature| !signature.is_empty());
        if let Some(call) = piece.function_call {
            self.push_call(call, signature, observe);
            return Progress::Content;
        }
        match (piece.text, signature) {
            (Some(text), signature) if piece.thought == Some(true) => {
                if !text.is_empty() {
                    observe(ModelEvent::Reasoning(&text));
                }
                let progress = progress_of(&text);
                self.push_thought(text, signature);
                progress
            }
            (Some(text), signature) if !text.is_empty() => {
                observe(ModelEvent::Text(&text));
                let progress = progress_of(&text);
                self.push_text(text, signature);
                progress
            }
            (_, Some(signature)) => {
                self.push_closed([opaque::lone_signature(signature)]);
                Progress::Content
            }
            (_, None) => Progress::Quiet,
        }
    }

    fn push_text(&mut self, text: String, signature: Option<String>) {
        match (signature, self.parts.last_mut()) {
            (Some(signature), _) => self.push_closed([opaque::signature_of_next(signature), Part::Text { text }]),
            (None, Some(Part::Text { text: open })) if !self.closed => open.push_str(&text),
            (None, _) => self.push_open(Part::Text { text }),
        }
    }

    fn push_thought(&mut self, text: String, signature: Option<String>) {
        match (signature, self.parts.last_mut().and_then(opaque::open_thought)) {
            (Some(signature), _) => self.push_closed([opaque::thought(text, Some(signature))]),
            (None, Some(open)) => open.push_str(&text),
            (None, None) => self.push_open(opaque::thought(text, None)),
        }
    }

    fn push_call(&mut self, call: FunctionCall, signature: Option<String>, observe: Observe<'_>) {
        let tool = call.name.unwrap_or_default();
        observe(ModelEvent::CallBegan { tool: &tool });
        let arguments = call.args.map(|args| args.get().to_owned()).unwrap_or_default();
        let call = Part::Call(ToolCall { id: CallId(call.id.unwrap_or_default()), tool, arguments });
        self.push_closed(signature.map(opaque::signature_of_next).into_iter().chain([call]));
    }

    fn push_open(&mut self, part: Part) {
        self.parts.push(part);
        self.closed = false;
    }

    fn push_closed(&mut self, parts: impl IntoIterator<Item = Part>) {
        self.parts.extend(parts);
        self.closed = true;
    }

    /// Returns the stop reason, or an error if the reply is incomplete or holds no answer.
    fn stop(&self) -> Result<StopReason, ModelError> {
        if self.blocked {
            return Ok(StopReason::Refusal);
        }
        let Finish { reason, message } = self.finish.as_ref().ok_or_else(cut)?;
        match reason.as_str() {
            "STOP" => Ok(StopReason::End),
            // A continuation is a cap too: the provider's own on one request.
            "MAX_TOKENS" | "CONTINUATION" => Ok(StopReason::Length),
            withheld if WITHHELD.iter().any(|word| withheld.contains(word)) => Ok(StopReason::Refusal),
            "MISSING_THOUGHT_SIGNATURE" => Err(ended(ErrorKind::BadRequest, reason, message)),
            // The model wrote a call that the provider could not parse or did not expect, and nothing of it is
            // returned. A retry may turn out better.
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "MALFORMED_RESPONSE" => {
                Err(ended(ErrorKind::Garbage, reason, message))
            }
            // `OTHER`, and future reasons: the content is usable, but may be incomplete.
            _ if self.parts.iter().any(|part| !matches!(part, Part::Reasoning(_))) => Ok(StopReason::Length),
            _ => Err(ended(ErrorKind::Garbage, reason, message)),
        }
    }
}

/// Reads the figures that are present; later ones are totals, not additions. On this wire the prompt's count includes
/// cached input; thoughts and the answer are counted separately.
pub(super) fn count_usage(usage: &mut Usage, said: &Value) {
    let sum = |keys: [&str; 2]| {
        let counts = keys.map(|key| count(said, &[key]));
        counts.iter().any(Option::is_some).then(|| counts.into_iter().flatten().sum::<u64>())
    };
    if let Some(prompt) = sum(["promptTokenCount", "toolUsePromptTokenCount"]) {
        let cached = count(said, &["cachedContentTokenCount"]).unwrap_or(0);
        usage.input_tokens = uncached(prompt, cached);
        usage.cache_read_tokens = cached;
    }
    if let Some(output) = sum(["candidatesTokenCount", "thoughtsTokenCount"]) {
        usage.output_tokens = output;
    }
}

fn ended(kind: ErrorKind, reason: &str, message: &str) -> ModelError {
    let said = if message.is_empty() { String::new() } else { format!(": {}", one_line(message)) };
    ModelError::new(kind, format!("the provider ended its reply without an answer, with the reason `{reason}`{said}"))
}
