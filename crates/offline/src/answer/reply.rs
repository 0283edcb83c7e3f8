//! Reply of the rule-based model: the answer as parts, with an estimate of its size.

use sortie_protocol::{CallId, Message, Part, Reply, StopReason, ToolCall, Usage};

use super::{Answer, PlannedCall, explorer, main_agent, summary};
use crate::language::words::words;
use crate::question::unsearchable::Unsearchable;
use crate::request::Request;
use crate::request::conversation::Conversation;

/// The model id in every reply.
pub const MODEL_ID: &str = "offline-rules";

/// Answers a request. Equal requests get equal replies.
pub fn reply(request: &Request<'_>) -> Reply {
    let conversation = Conversation::read(request);
    let (parts, stop) = match answer(&conversation) {
        Answer::Text(text) => (vec![Part::Text { text }], StopReason::End),
        Answer::Unanswered(text) => (vec![Part::Text { text }], StopReason::NoAnswer),
        Answer::Calls { remark, calls } => (call_parts(remark, calls, conversation.rounds.len()), StopReason::Calls),
    };
    let usage = usage(request, &parts);
    Reply { parts, stop, usage, usage_doubted: false, usage_high: false, model: MODEL_ID.to_owned() }
}

/// Picks the kind of agent by its permissions: delegate, search, or only write.
fn answer(conversation: &Conversation<'_>) -> Answer {
    let sums_up = words(&conversation.role_sentence()).any(|word| word.starts_with("sum"));
    // A brief of our own has one angle already.
    let delegation = conversation.delegation.as_ref().filter(|_| !main_agent::is_brief(conversation.prompt));
    let searches = conversation.offers("Grep") && !sums_up;
    match (delegation, Unsearchable::of(conversation.prompt)) {
        (None, _) if !searches => summary::answer(conversation),
        (_, Some(why)) => main_agent::decline(why),
        (Some(delegation), None) => main_agent::answer(conversation, delegation),
        (None, None) => explorer::answer(conversation),
    }
}

fn call_parts(remark: String, calls: Vec<PlannedCall>, round: usize) -> Vec<Part> {
    let remark = (!remark.is_empty()).then_some(Part::Text { text: remark });
    let calls = calls.into_iter().enumerate().map(|(at, call)| {
        Part::Call(ToolCall {
            id: CallId(format!("offline-{}-{}", round + 1, at + 1)),
            tool: call.tool,
            arguments: call.arguments.to_string(),
        })
    });
    remark.into_iter().chain(calls).collect()
}

/// Estimates tokens at four bytes each; the model costs nothing.
fn usage(request: &Request<'_>, parts: &[Part]) -> Usage {
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
