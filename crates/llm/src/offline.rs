//! The rule-based model: useful on a machine with no key and no network.
//!
//! It speaks only through the ordinary port and derives everything from the request: it remembers nothing, reads no
//! file, and takes no part in how a task is run. The main agent plans angles and merges reports; an explorer counts,
//! outlines, reads and ranks. It never claims to be more than rules.

mod angles;
mod conversation;
mod evidence;
mod explore;
mod files;
mod importance;
mod intent;
mod lead;
mod lexicon;
mod matching;
mod merge;
mod objects;
mod outputs;
mod overview;
mod passages;
mod place;
mod prose;
mod question;
mod rank;
mod report;
mod search;
mod stem;
mod summary;
mod syntax;
mod terms;
#[cfg(test)]
mod tests;
mod words;

use sortie_protocol::{CallId, Message, Part, Reply, StopReason, ToolCall, Usage};

use crate::{BoxFuture, Model, ModelError, ModelEvent, ModelRequest};
use conversation::Conversation;
use search::PlannedCall;

/// The route and the model id under which it is known.
pub const ROUTE: &str = "offline";
pub const MODEL_ID: &str = "offline-rules";

/// A deterministic, stateless model made of rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineModel;

impl Model for OfflineModel {
    fn call<'a>(
        &'a self,
        request: ModelRequest<'a>,
        observe: &'a mut (dyn FnMut(ModelEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move { Ok(reply(&request, observe)) })
    }
}

/// What the rules want to say: text, or calls.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Text(String),
    Calls { remark: String, calls: Vec<PlannedCall> },
}

impl Answer {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn calls(calls: Vec<PlannedCall>) -> Self {
        Self::Calls { remark: String::new(), calls }
    }
}

fn reply(request: &ModelRequest<'_>, observe: &mut (dyn FnMut(ModelEvent<'_>) + Send)) -> Reply {
    let conversation = Conversation::read(request);
    let (parts, stop) = match answer(&conversation) {
        Answer::Text(text) => (vec![Part::Text { text }], StopReason::End),
        Answer::Calls { remark, calls } => (call_parts(remark, calls, conversation.rounds.len()), StopReason::Calls),
    };
    for part in &parts {
        match part {
            Part::Text { text } => text.split_inclusive('\n').for_each(|line| observe(ModelEvent::Text(line))),
            Part::Call(call) => observe(ModelEvent::CallBegan { tool: &call.tool }),
            Part::Reasoning(_) => {}
        }
    }
    let usage = usage(request, &parts);
    Reply { parts, stop, usage, usage_doubted: false, model: MODEL_ID.to_owned() }
}

/// Who is speaking is decided by what it may do: delegate, search, or only write.
fn answer(conversation: &Conversation<'_>) -> Answer {
    let sums_up = words::words(&conversation.role_sentence()).any(|word| word.starts_with("sum"));
    if conversation.offers("Task") {
        lead::answer(conversation)
    } else if conversation.offers("Grep") && !sums_up {
        explore::answer(conversation)
    } else {
        summary::answer(conversation)
    }
}

fn call_parts(remark: String, calls: Vec<PlannedCall>, round: usize) -> Vec<Part> {
    let remark = (!remark.is_empty()).then_some(Part::Text { text: remark });
    let calls = calls.into_iter().enumerate().map(|(at, call)| {
        Part::Call(ToolCall {
            id: CallId(format!("offline-{}-{}", round + 1, at + 1)),
            tool: call.tool.to_owned(),
            arguments: call.arguments.to_string(),
        })
    });
    remark.into_iter().chain(calls).collect()
}

/// Estimated at four bytes a token; it costs nothing.
fn usage(request: &ModelRequest<'_>, parts: &[Part]) -> Usage {
    let tools: usize =
        request.tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len()).sum();
    let messages: usize = request.messages.iter().map(message_bytes).sum();
    Usage {
        input_tokens: tokens(request.system.len() + tools + messages),
        output_tokens: tokens(parts.iter().map(part_bytes).sum()),
        ..Usage::default()
    }
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

fn message_bytes(message: &Message) -> usize {
    match message {
        Message::User { text } => text.len(),
        Message::Assistant { parts } => parts.iter().map(part_bytes).sum(),
        Message::Outputs { outputs } => outputs.iter().map(|bound| bound.output.for_model.len()).sum(),
    }
}

fn part_bytes(part: &Part) -> usize {
    match part {
        Part::Text { text } => text.len(),
        Part::Reasoning(reasoning) => reasoning.item.to_string().len(),
        Part::Call(call) => call.tool.len() + call.arguments.len(),
    }
}
