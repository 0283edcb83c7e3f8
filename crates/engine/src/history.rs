//! The conversation of one task. It only grows at its end, and every call in it gets exactly one output.

use std::collections::HashSet;

use sortie_protocol::{CallId, CallOutput, Job, Message, Part, Reply, ToolCall};

#[derive(Clone)]
pub(crate) struct History {
    messages: Vec<Message>,
    /// How many of them are of earlier legs.
    earlier: usize,
    /// Behind how many of them its answers begin.
    answered: usize,
}

impl History {
    /// A clean context: the brief, unchanged, and nothing else.
    pub(crate) fn begin(job: &Job) -> Self {
        Self { messages: vec![Message::user(&job.prompt)], earlier: 0, answered: 0 }
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
        self.answered = self.earlier;
    }

    /// What was answered so far is done with: nobody waited for more.
    pub(crate) fn begin_answers(&mut self) {
        self.answered = self.messages.len();
    }

    /// What the model has answered in this leg, in order: the texts of all replies without calls, each text once. Each but
    /// the last would have ended the leg, had there been no mail to wait for.
    pub(crate) fn answers(&self) -> String {
        self.answers_and(None)
    }

    /// The answers of this leg, and the text that the model wrote after them, from whichever turn.
    pub(crate) fn last_text(&self) -> String {
        let of_leg = self.messages.iter().enumerate().skip(self.earlier).rev();
        let last = of_leg.map(|(at, message)| (at, message.assistant_text())).find(|(_, text)| !text.trim().is_empty());
        let is_told = |at: usize| at >= self.answered && is_answer(&self.messages[at]);
        self.answers_and(last.filter(|(at, _)| !is_told(*at)).map(|(_, text)| text))
    }

    /// The answers of this leg, and what came of a reply that was broken off; without that, the last text.
    pub(crate) fn last_text_with(&self, broken_off: String) -> String {
        if broken_off.trim().is_empty() { self.last_text() } else { self.answers_and(Some(broken_off)) }
    }

    fn answers_and(&self, text: Option<String>) -> String {
        let messages = self.messages[self.answered..].iter();
        let answers = messages.filter(|message| is_answer(message)).map(Message::assistant_text);
        let mut texts: Vec<String> = Vec::new();
        for text in answers.filter(|text| !text.trim().is_empty()).chain(text) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts.join("\n\n")
    }
}

/// Whether it is a reply of the model that ended its turn.
fn is_answer(message: &Message) -> bool {
    match message {
        Message::Assistant { parts } => !parts.iter().any(|part| matches!(part, Part::Call(_))),
        _ => false,
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
