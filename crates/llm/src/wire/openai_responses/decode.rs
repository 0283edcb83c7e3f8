//! Decoder of a Responses event stream into a [`Reply`]. `item` assembles the items.

mod item;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use sortie_protocol::{Part, Reply, StopReason, Usage};

use self::item::{Kind, OutputItem};
use crate::wire::assemble::assemble;
use crate::wire::usage_counts::{count, uncached};
use crate::wire::{Decoder, Observe, Progress, ProviderFault, cut, fault_or_garbage, garbage};
use crate::{ErrorKind, ModelError};

/// End mark of the other OpenAI wire, which some servers also send here. It proves nothing.
const END_MARK: &str = "[DONE]";

#[derive(Deserialize)]
#[serde(tag = "type")]
enum StreamEvent {
    #[serde(rename = "response.created")]
    Created { response: Value },
    #[serde(rename = "response.output_item.added")]
    ItemAdded { output_index: u64, item: Map<String, Value> },
    #[serde(rename = "response.output_item.done")]
    ItemDone { output_index: u64, item: Map<String, Value> },
    #[serde(rename = "response.output_text.delta")]
    Text(Delta),
    #[serde(rename = "response.refusal.delta")]
    Refusal(Delta),
    #[serde(rename = "response.function_call_arguments.delta")]
    Arguments(Delta),
    #[serde(rename = "response.reasoning_summary_text.delta", alias = "response.reasoning_text.delta")]
    Reasoning(Delta),
    /// Ends of pieces. Their item's own end repeats them.
    #[serde(
        rename = "response.output_text.done",
        alias = "response.refusal.done",
        alias = "response.function_call_arguments.done",
        alias = "response.reasoning_summary_text.done",
        alias = "response.reasoning_text.done"
    )]
    PieceDone,
    #[serde(rename = "response.completed")]
    Completed { response: Value },
    #[serde(rename = "response.incomplete")]
    Incomplete { response: Value },
    #[serde(rename = "response.failed")]
    Failed { response: Value },
    #[serde(rename = "error")]
    Error,
    /// Signs of life, and future event types.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Delta {
    output_index: u64,
    delta: String,
}

#[derive(Default)]
pub(super) struct ResponsesDecoder {
    model: String,
    items: BTreeMap<u64, OutputItem>,
    usage: Usage,
    /// Set by the event that ends a reply; without it the stream was cut.
    ended: Option<Ended>,
}

/// Ending of a reply, as reported by the provider.
enum Ended {
    Whole,
    Capped,
    Withheld,
}

impl Decoder for ResponsesDecoder {
    fn feed(&mut self, data: &str, observe: Observe<'_>) -> Result<Progress, ModelError> {
        let progress = self.take(data, observe)?;
        let is_reasoning = self.items.values().any(OutputItem::is_open_reasoning);
        Ok(if progress == Progress::Quiet && is_reasoning { Progress::Reasoning } else { progress })
    }

    fn finish(&mut self) -> Result<Reply, ModelError> {
        let has_refusal = self.items.values().any(OutputItem::is_refusal);
        let stop = match self.ended.as_ref().ok_or_else(cut)? {
            Ended::Withheld => StopReason::Refusal,
            _ if has_refusal => StopReason::Refusal,
            Ended::Capped => StopReason::Length,
            Ended::Whole if self.items.values().any(OutputItem::is_half_call) => {
                return Err(ModelError::new(ErrorKind::Garbage, "the provider ended its reply inside a tool call"));
            }
            Ended::Whole => StopReason::End,
        };
        let parts: Vec<Part> = std::mem::take(&mut self.items).into_values().flat_map(OutputItem::into_parts).collect();
        Ok(assemble(parts, stop, self.usage, std::mem::take(&mut self.model)))
    }

    fn usage(&self) -> Usage {
        self.usage
    }
}

impl ResponsesDecoder {
    fn take(&mut self, data: &str, observe: Observe<'_>) -> Result<Progress, ModelError> {
        if data.trim() == END_MARK {
            return Ok(Progress::Done);
        }
        match serde_json::from_str(data).map_err(|error| fault_or_garbage(error, data))? {
            StreamEvent::Created { response } => {
                self.note_model(&response);
                Ok(Progress::Quiet)
            }
            StreamEvent::ItemAdded { output_index, item } => {
                let begun = OutputItem::begin(&item, observe);
                let progress = begun.progress();
                match self.items.insert(output_index, begun) {
                    Some(_) => Err(garbage("an item that began twice", data)),
                    None => Ok(progress),
                }
            }
            StreamEvent::ItemDone { output_index, item } => {
                self.complete(output_index, item, observe);
                Ok(Progress::Content)
            }
            StreamEvent::Text(delta) => self.extend(Kind::Text, &delta, data, observe),
            StreamEvent::Refusal(delta) => self.extend(Kind::Refusal, &delta, data, observe),
            StreamEvent::Arguments(delta) => self.extend(Kind::Arguments, &delta, data, observe),
            StreamEvent::Reasoning(delta) => self.extend(Kind::Reasoning, &delta, data, observe),
            StreamEvent::PieceDone => Ok(Progress::Content),
            StreamEvent::Completed { response } => Ok(self.end(&response, Ended::Whole, observe)),
            StreamEvent::Incomplete { response } => {
                let ended = match response["incomplete_details"]["reason"].as_str() {
                    Some("content_filter") => Ended::Withheld,
                    // Whatever the reason, the reply is incomplete.
                    _ => Ended::Capped,
                };
                Ok(self.end(&response, ended, observe))
            }
            StreamEvent::Failed { response } => {
                self.usage = counted(&response["usage"]);
                Err(failed(&response, data))
            }
            StreamEvent::Error => Err(fault_or_garbage("an error without a message", data)),
            StreamEvent::Other => Ok(Progress::Quiet),
        }
    }

    fn extend(&mut self, kind: Kind, delta: &Delta, data: &str, observe: Observe<'_>) -> Result<Progress, ModelError> {
        match self.items.get_mut(&delta.output_index) {
            Some(item) => {
                item.extend(kind, &delta.delta, observe).ok_or_else(|| garbage("a delta of another kind", data))
            }
            None => Err(garbage("a delta outside its item", data)),
        }
    }

    /// Reads a finished item, which overrides its pieces.
    fn complete(&mut self, index: u64, item: Map<String, Value>, observe: Observe<'_>) {
        let begun = self.items.remove(&index);
        let begun = begun.unwrap_or_else(|| OutputItem::begin(&item, observe));
        self.items.insert(index, begun.complete(item, observe));
    }

    /// Reads the whole response. It repeats all items, and some servers send items only here.
    fn end(&mut self, response: &Value, ended: Ended, observe: Observe<'_>) -> Progress {
        self.ended = Some(ended);
        self.note_model(response);
        self.usage = counted(&response["usage"]);
        for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
            let index = index as u64;
            let is_known = self.items.get(&index).is_some_and(OutputItem::is_finished);
            if let Some(item) = item.as_object().filter(|_| !is_known) {
                self.complete(index, item.clone(), observe);
            }
        }
        Progress::Done
    }

    fn note_model(&mut self, response: &Value) {
        if let Some(model) = response["model"].as_str() {
            model.clone_into(&mut self.model);
        }
    }
}

/// Reads the usage. On this wire `input_tokens` includes cached input, both read and written.
pub(super) fn counted(said: &Value) -> Usage {
    let input = count(said, &["input_tokens"]).unwrap_or(0);
    let detail = |key: &str| count(said, &["input_tokens_details", key]).unwrap_or(0);
    let (cache_read, cache_write) = (detail("cached_tokens"), detail("cache_write_tokens"));
    Usage {
        input_tokens: uncached(input, cache_read + cache_write),
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        output_tokens: count(said, &["output_tokens"]).unwrap_or(0),
        ..Usage::default()
    }
}

fn failed(response: &Value, data: &str) -> ModelError {
    match ProviderFault::from_json(response) {
        Some(fault) => fault.into_error_in_stream(),
        None => garbage("a failure without words", data),
    }
}
