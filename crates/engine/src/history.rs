//! The conversation of one task. It only grows at its end, and every call in it gets exactly one output.

use std::collections::HashSet;

use sortie_protocol::{CallId, CallOutput, Job, Message, Part, Reply, ToolCall};

#[derive(Clone)]
pub(crate) struct History {
    messages: Vec<Message>,
    /// How many of them are of earlier legs.
    earlier: usize,
}

impl History {
    /// A clean context: the brief, unchanged, and nothing else.
    pub(crate) fn begin(job: &Job) -> Self {
        Self { messages: vec![Message::user(&job.prompt)], earlier: 0 }
    }

    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(crate) fn push_user(&mut self, text: &str) {
        self.messages.push(Message::user(text));
    }

    pub(crate) fn push_reply(&mut self, reply: &Reply) {
        // An empty message is refused by every provider; a reply without content ends the task anyway.
        if !reply.parts.is_empty() {
            self.messages.push(Message::Assistant { parts: reply.parts.clone() });
        }
    }

    pub(crate) fn push_outputs(&mut self, outputs: Vec<CallOutput>) {
        self.messages.push(Message::Outputs { outputs });
    }

    /// Whether the last word is the model's, so that somebody has to say something before it is asked again.
    pub(crate) fn ends_with_a_reply(&self) -> bool {
        matches!(self.messages.last(), Some(Message::Assistant { .. }))
    }

    /// What comes from here on is of a new leg.
    pub(crate) fn begin_leg(&mut self) {
        self.earlier = self.messages.len();
    }

    /// The last text that the model wrote in this leg, from whichever turn.
    pub(crate) fn last_text(&self) -> String {
        self.messages[self.earlier..]
            .iter()
            .rev()
            .map(Message::assistant_text)
            .find(|text| !text.trim().is_empty())
            .unwrap_or_default()
    }
}

/// Makes the call ids of a reply unique within the task: some servers send none, or the same one twice, and outputs
/// are paired by id.
pub(crate) fn with_unique_calls(mut reply: Reply, seen: &mut HashSet<CallId>) -> Reply {
    for part in &mut reply.parts {
        if let Part::Call(ToolCall { id, .. }) = part {
            let base = if id.0.is_empty() { "call".to_owned() } else { id.0.clone() };
            let mut suffix = 1;
            while id.0.is_empty() || seen.contains(id) {
                suffix += 1;
                *id = CallId(format!("{base}_{suffix}"));
            }
            seen.insert(id.clone());
        }
    }
    reply
}
