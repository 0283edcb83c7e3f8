//! Last messages of one task, a line each: its request, its replies, and its calls with their answers.

use std::collections::VecDeque;

use sortie_protocol::CallId;

use crate::text::{neutral, width};

/// Messages kept: as many as the largest display shows.
pub(in crate::render) const KEPT: usize = 10;
const COLUMNS: usize = 200;
/// Most characters read of a text: no display has room for more.
const READ_CHARS: usize = 4 * COLUMNS;

/// Bounded queue of messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Messages {
    last: VecDeque<Message>,
    count: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Message {
    /// Call that still waits for its answer.
    call: Option<CallId>,
    line: String,
}

impl Messages {
    /// Adds a text, unless it is empty.
    pub(in crate::render) fn say(&mut self, text: &str) {
        self.push(None, line(text));
    }

    /// Adds a started call.
    pub(in crate::render) fn ask(&mut self, call: CallId, words: &str) {
        self.push(Some(call), line(words));
    }

    /// Completes a started call with its answer. Both are one message, which later ones may have pushed out.
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

    /// Number of all messages.
    pub(in crate::render) fn count(&self) -> usize {
        self.count
    }

    /// Last messages, oldest first.
    pub(in crate::render) fn latest(&self, most: usize) -> impl Iterator<Item = &str> {
        self.last.iter().skip(self.last.len().saturating_sub(most)).map(|message| message.line.as_str())
    }
}

fn line(text: &str) -> String {
    let end = text.char_indices().nth(READ_CHARS).map_or(text.len(), |(at, _)| at);
    let cut = if end < text.len() { "…" } else { "" };
    width::cut(&(neutral::line(&text[..end]) + cut), COLUMNS)
}
