//! Rule of every provider: each call is answered by exactly one output, in the next message.
//!
//! The in-memory model checks it on every request, so a broken history fails a test without a server.

use std::collections::HashSet;

use sortie_protocol::{CallId, Message, Part};

/// Returns the fault of a history, if there is one.
pub(crate) fn check(messages: &[Message]) -> Result<(), String> {
    if !matches!(messages.first(), Some(Message::User { .. })) {
        return Err("the first message is not the user's".to_owned());
    }
    let mut unanswered: Vec<&CallId> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match message {
            Message::Outputs { outputs } => {
                let answered: Vec<&CallId> = outputs.iter().map(|output| &output.call).collect();
                if answered != unanswered || answered.is_empty() {
                    return Err(format!(
                        "message {index} answers {answered:?}, the calls before it are {unanswered:?}"
                    ));
                }
                unanswered.clear();
            }
            Message::User { .. } | Message::Assistant { .. } if !unanswered.is_empty() => {
                return Err(format!("message {index} comes before the outputs of {unanswered:?}"));
            }
            Message::User { .. } => {}
            Message::Assistant { parts } => unanswered = calls_in(parts, index)?,
        }
    }
    if unanswered.is_empty() { Ok(()) } else { Err(format!("{unanswered:?} have no output")) }
}

fn calls_in(parts: &[Part], index: usize) -> Result<Vec<&CallId>, String> {
    let calls: Vec<&CallId> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Call(call) => Some(&call.id),
            Part::Text { .. } | Part::Reasoning(_) => None,
        })
        .collect();
    let distinct: HashSet<&&CallId> = calls.iter().collect();
    if distinct.len() < calls.len() {
        return Err(format!("message {index} has two calls with one id: {calls:?}"));
    }
    Ok(calls)
}
