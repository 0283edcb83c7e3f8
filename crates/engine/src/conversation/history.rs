//! The conversation of one task. It grows only at its end, unless it is shortened, and every call in it gets exactly
//! one output.

mod shorten;

use std::collections::HashSet;

use sortie_llm::estimate;
use sortie_protocol::{CallId, CallOutput, Job, MailMark, Message, Part, Reply, ToolCall};

use crate::conversation::loop_guard::{Loop, LoopGuard};

/// Messages for the model, with bookkeeping.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct History {
    messages: Vec<Message>,
    /// Position of the task's own brief: after the messages that it inherited from its parent.
    brief: usize,
    /// Number of messages from earlier legs, or inherited.
    earlier: usize,
    /// Number of messages before the leg's answers begin.
    answered: usize,
    /// Estimated size in tokens.
    tokens: u64,
    gone: Gone,
    /// True if the message after the brief summarises older turns.
    is_summed_up: bool,
    repeats: LoopGuard,
    /// True if the answer is one JSON value: a later one replaces earlier ones.
    is_one_value: bool,
}

/// Notice in the outcome.
pub(crate) const SHORTENED: &str = "the conversation was shortened to fit the model's window; the log has all of it";

/// Texts that the model has written in this leg and that are no longer among the messages.
#[derive(Debug, Clone, Default, PartialEq)]
struct Gone {
    answers: Vec<String>,
    last_text: Option<String>,
}

impl History {
    /// Returns a clean context: the unchanged brief, and a note on missing tools. A forked task begins with inherited
    /// messages instead.
    pub(crate) fn begin(job: &Job, inherited: &[Message]) -> Self {
        let mut history = Self { is_one_value: job.config.output_schema.is_some(), ..Self::default() };
        for message in inherited {
            history.push(message.clone());
        }
        history.brief = inherited.len();
        history.begin_leg();
        match &job.fork {
            Some(fork) => history.push_user(&format!("{}\n\n{}", fork.preface, job.prompt)),
            None => history.push_user(&job.prompt),
        }
        if let Some(note) = &job.config.server_tools.note {
            history.push_reminder(note);
        }
        history
    }

    fn push(&mut self, message: Message) {
        self.tokens += estimate::message_tokens(&message);
        self.messages.push(message);
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the messages inherited from the parent, as long as none of them has been summarised.
    pub(crate) fn inherited(&self) -> &[Message] {
        &self.messages[..self.brief]
    }

    pub(crate) fn push_user(&mut self, text: &str) {
        self.repeats.forget();
        self.push(Message::user(text));
    }

    /// Adds mail. Reports that repeat earlier ones count as nothing new.
    pub(crate) fn push_mail(&mut self, mail: &MailMark, text: &str) {
        if mail.messages.is_empty() && mail.essences.len() == mail.reports.len() {
            self.repeats.hear(&mail.essences);
        } else {
            self.repeats.forget();
        }
        self.push(Message::user(text));
    }

    /// Adds words of the engine. The model sees a normal message, but for the loop guard it is nothing new.
    pub(crate) fn push_reminder(&mut self, text: &str) {
        self.push(Message::user(text));
    }

    pub(crate) fn push_reply(&mut self, reply: &Reply) {
        // Every provider refuses an empty message; a reply without content ends the task anyway.
        if !reply.parts.is_empty() {
            self.push(Message::Assistant { parts: reply.parts.clone() });
        }
    }

    pub(crate) fn push_outputs(&mut self, outputs: Vec<CallOutput>) {
        if let Some(Message::Assistant { parts }) = self.messages.last() {
            self.repeats.see(calls(parts), &outputs);
        }
        self.push(Message::Outputs { outputs });
    }

    /// Returns a reminder if the model is in a loop.
    pub(crate) fn reminder(&self) -> Option<String> {
        let has_just_come = matches!(self.messages.last(), Some(Message::Outputs { .. }));
        self.repeats.reminder().filter(|_| has_just_come)
    }

    /// True if the model has been in a loop for too long.
    pub(crate) fn goes_round(&self) -> bool {
        self.repeats.current_loop().is_some_and(Loop::is_too_long)
    }

    /// True if the model spoke last, so that somebody must say something before the next call.
    pub(crate) fn ends_with_a_reply(&self) -> bool {
        matches!(self.messages.last(), Some(Message::Assistant { .. }))
    }

    /// Starts a new leg.
    pub(crate) fn begin_leg(&mut self) {
        self.earlier = self.messages.len();
        self.answered = self.earlier;
        self.gone = Gone::default();
    }

    /// Drops the leg's answers so far, since nobody waited for more.
    pub(crate) fn begin_answers(&mut self) {
        self.answered = self.messages.len();
        self.gone.answers.clear();
    }

    /// Returns the leg's answers in order: the texts of all replies without calls, each text once. Each of them would
    /// have ended the leg, had there been no mail to wait for.
    pub(crate) fn answers(&self) -> String {
        self.answers_and(None)
    }

    /// Returns the answers of this leg and any text that the model wrote after them, from whichever turn.
    pub(crate) fn last_text(&self) -> String {
        let of_leg = self.messages.iter().enumerate().skip(self.earlier).rev();
        let last = of_leg.map(|(at, message)| (at, message.assistant_text())).find(|(_, text)| !text.trim().is_empty());
        let is_told = |at: usize| at >= self.answered && is_answer(&self.messages[at]);
        match last {
            Some((at, _)) if is_told(at) => self.answers_and(None),
            Some((_, text)) => self.answers_and(Some(text)),
            None => self.answers_and(self.gone.last_text.clone()),
        }
    }

    /// Returns the answers of this leg and the text of a broken reply; if that is empty, the last text.
    pub(crate) fn last_text_with(&self, broken_off: String) -> String {
        if broken_off.trim().is_empty() { self.last_text() } else { self.answers_and(Some(broken_off)) }
    }

    fn answers_and(&self, text: Option<String>) -> String {
        let messages = self.messages[self.answered..].iter();
        let answers = messages.filter(|message| is_answer(message)).map(Message::assistant_text);
        let answers = self.gone.answers.iter().cloned().chain(answers);
        let all = answers.filter(|text| !text.trim().is_empty()).chain(text);
        if self.is_one_value {
            return all.last().unwrap_or_default();
        }
        let mut texts: Vec<String> = Vec::new();
        for text in all {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts.join("\n\n")
    }
}

fn calls(parts: &[Part]) -> impl Iterator<Item = &ToolCall> {
    parts.iter().filter_map(|part| if let Part::Call(call) = part { Some(call) } else { None })
}

/// Returns true for a reply that ended its turn.
fn is_answer(message: &Message) -> bool {
    match message {
        Message::Assistant { parts } => calls(parts).next().is_none(),
        _ => false,
    }
}

/// Makes the call ids of a reply unique within the task, since outputs are paired by id. Some servers send no ids, or
/// the same id twice.
pub(crate) fn with_unique_calls(mut reply: Reply, earlier: &HashSet<CallId>) -> Reply {
    let mut own: HashSet<CallId> = HashSet::new();
    for part in &mut reply.parts {
        if let Part::Call(ToolCall { id, .. }) = part {
            let base = if id.0.is_empty() { "call".to_owned() } else { id.0.clone() };
            let mut suffix = 1;
            while id.0.is_empty() || earlier.contains(id) || own.contains(id) {
                suffix += 1;
                *id = CallId(format!("{base}_{suffix}"));
            }
            own.insert(id.clone());
        }
    }
    reply
}
