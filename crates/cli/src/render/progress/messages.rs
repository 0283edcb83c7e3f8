//! Last messages of one task, a line each: its request, its replies, and its calls with their answers.

use std::collections::VecDeque;

use sortie_protocol::CallId;

use crate::text::{neutral, width};

/// As many as the largest display of them shows.
pub(in crate::render) const KEPT: usize = 10;
const COLUMNS: usize = 200;
/// Read of a text before it is made a line: no display has room for more.
const READ_CHARS: usize = 4 * COLUMNS;

/// Bounded, whatever the task does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Messages {
    last: VecDeque<Message>,
    count: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Message {
    /// Set while it waits for the call's answer.
    call: Option<CallId>,
    line: String,
}

impl Messages {
    /// Somebody said something; nothing is not a message.
    pub(in crate::render) fn say(&mut self, text: &str) {
        self.push(None, line(text));
    }

    /// A call was started.
    pub(in crate::render) fn ask(&mut self, call: CallId, words: &str) {
        self.push(Some(call), line(words));
    }

    /// A started call was answered: both are one message, which may have been left behind by later ones.
    pub(in crate::render) fn answer(&mut self, call: &CallId, words: &str) {
        if let Some(message) = self.last.iter_mut().find(|message| message.call.as_ref() == Some(call)) {
            *message = Message { call: None, line: line(words) };
        }
    }

    fn push(&mut self, call: Option<CallId>, line: String) {
        if line.is_empty() {
            return;
        }
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(Message { call, line });
        self.count += 1;
    }

    /// How many there were in all.
    pub(in crate::render) fn count(&self) -> usize {
        self.count
    }

    /// The last ones, oldest first.
    pub(in crate::render) fn latest(&self, most: usize) -> impl Iterator<Item = &str> {
        self.last.iter().skip(self.last.len().saturating_sub(most)).map(|message| message.line.as_str())
    }
}

fn line(text: &str) -> String {
    let end = text.char_indices().nth(READ_CHARS).map_or(text.len(), |(at, _)| at);
    let cut = if end < text.len() { "…" } else { "" };
    width::cut(&(neutral::line(&text[..end]) + cut), COLUMNS)
}
