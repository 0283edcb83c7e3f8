//! Remainders of outputs: one line for an old output, and as much of an overlong new one as there is room for.

use std::collections::HashMap;

use sortie_llm::estimate;
use sortie_protocol::{CallId, Message, Part, Stub, ToolCall, ToolOutput};

use crate::gate::Gate;
use crate::messages::report_cap::cut;

/// The tool that pages reports.
const TASK_OUTPUT: &str = "TaskOutput";

/// A shorter output stays as it is: its stub would save too little.
const LEAST_TOKENS: u64 = 120;

/// Longest quotation in a stub.
const MAX_CHARS: usize = 200;

/// Returns a stub for each long output in these messages.
pub(super) fn stubs(messages: &[Message], gate: &Gate) -> Vec<Stub> {
    long(messages).map(|(call, output)| stub(call, output, gate)).collect()
}

/// Returns the tokens that such stubs save.
pub(super) fn spared(messages: &[Message], gate: &Gate) -> u64 {
    let spared = |(call, output): (&ToolCall, &ToolOutput)| {
        let line = ToolOutput::done(stub(call, output, gate).text, "");
        estimate::output_tokens(output).saturating_sub(estimate::output_tokens(&line))
    };
    long(messages).map(spared).sum()
}

/// Returns the outputs that are much longer than their stubs.
fn long(messages: &[Message]) -> impl Iterator<Item = (&ToolCall, &ToolOutput)> {
    answered(messages).into_iter().filter(|(_, output)| estimate::output_tokens(output) > LEAST_TOKENS)
}

fn stub(call: &ToolCall, output: &ToolOutput, gate: &Gate) -> Stub {
    let said: String = output.for_people.chars().take(MAX_CHARS).collect();
    Stub { call: call.id.clone(), text: format!("[left out to make room: {said}. {}]", handle(call, gate, false)) }
}

/// Cuts the longest outputs to a common length, so that `excess` tokens are saved if possible.
pub(super) fn cuts(messages: &[Message], excess: u64, gate: &Gate) -> Vec<Stub> {
    let outputs = answered(messages);
    let level = level(outputs.iter().map(|(_, output)| estimate::output_tokens(output)).collect(), excess);
    let too_long = outputs.into_iter().filter(|(_, output)| estimate::output_tokens(output) > level);
    let cut = |(call, output): (&ToolCall, &ToolOutput)| {
        let text = &output.for_model;
        let mark = format!("\n[… the rest was left out to make room. {}]", handle(call, gate, true));
        let kept = &text[..cut(text, estimate::bytes(level).saturating_sub(mark.len()))];
        Stub { call: call.id.clone(), text: format!("{kept}{mark}") }
    };
    too_long.map(cut).collect()
}

/// Returns the common length to which outputs must be cut to save `excess`.
fn level(mut sizes: Vec<u64>, excess: u64) -> u64 {
    sizes.sort_unstable();
    let (mut left, mut n_left) = (sizes.iter().sum::<u64>().saturating_sub(excess), sizes.len() as u64);
    for size in sizes {
        if size * n_left > left {
            return (left / n_left).max(LEAST_TOKENS);
        }
        (left, n_left) = (left - size, n_left - 1);
    }
    u64::MAX
}

/// Returns the calls and their outputs.
fn answered(messages: &[Message]) -> Vec<(&ToolCall, &ToolOutput)> {
    let mut calls: HashMap<&CallId, &ToolCall> = HashMap::new();
    let mut answered = Vec::new();
    for message in messages {
        match message {
            Message::User { .. } => {}
            Message::Assistant { parts } => calls.extend(parts.iter().filter_map(|part| match part {
                Part::Call(call) => Some((&call.id, call)),
                Part::Text { .. } | Part::Reasoning(_) => None,
            })),
            Message::Outputs { outputs } => {
                answered.extend(outputs.iter().filter_map(|output| Some((*calls.get(&output.call)?, &output.output))));
            }
        }
    }
    answered
}

/// Tells the model how to get an omitted output back, or the rest of a new one.
fn handle(call: &ToolCall, gate: &Gate, is_new: bool) -> &'static str {
    let Some(tool) = gate.tool(call) else { return "It is gone." };
    match tool.idempotent() {
        true if is_new => "Ask for less of it at a time.",
        true => "The same call shows it as it is now.",
        false if tool.delegates() && gate.offered.iter().any(|offered| offered == TASK_OUTPUT) => {
            "TaskOutput pages the report, from offset 0."
        }
        false => "Only a repeated call would show it again.",
    }
}
