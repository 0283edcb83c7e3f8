//! Arguments and answers of a call: bounded text, an optional object, errors, truncation and diffs.

pub(crate) mod arguments;
pub(crate) mod diff;
pub(crate) mod halt;
pub(crate) mod phrases;
pub(crate) mod tool_error;
pub(crate) mod truncate;

use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;
use sortie_protocol::{Fault, Payload, ToolOutput};

use self::arguments::Unknown;
use self::halt::Halt;
use self::phrases::counted;
use self::tool_error::ToolError;

/// The most that the body of an answer holds.
pub(crate) const MAX_BYTES: usize = 50 * 1024;
/// The most that the list in an object holds as JSON, so that all of the object stays within [`MAX_BYTES`].
pub(crate) const MAX_ITEM_BYTES: usize = 48 * 1024;
/// The most lines that a text in an object has.
pub(crate) const MAX_ITEM_LINES: usize = 2000;

/// A tool's answer: a body within a fixed size, and one last line that says what was left out. Also as an object, where
/// the call wants one.
#[derive(Default)]
pub(crate) struct Answer {
    body: String,
    notes: Vec<String>,
    n_altered_names: usize,
    is_timed_out: bool,
    /// Only where the call wants an object.
    payload: Option<Payload>,
    items: Vec<Value>,
    n_item_bytes: usize,
}

/// The form in which a call wants its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    Words,
    /// An object beside the words.
    Object,
}

impl Answer {
    pub(crate) fn new(form: AnswerForm) -> Self {
        let payload = match form {
            AnswerForm::Words => None,
            AnswerForm::Object => Some(Payload::default()),
        };
        Self { payload, ..Self::default() }
    }

    pub(crate) fn form(&self) -> AnswerForm {
        if self.payload.is_some() { AnswerForm::Object } else { AnswerForm::Words }
    }

    /// Whether an object is wanted.
    pub(crate) fn is_structured(&self) -> bool {
        self.payload.is_some()
    }

    /// Puts a value into the object under the tool's own name for it. It is made only where there is an object.
    pub(crate) fn put(&mut self, name: &str, value: impl FnOnce() -> Value) {
        if let Some(payload) = &mut self.payload {
            payload.data.insert(name.to_owned(), value());
        }
    }

    /// Puts the lines so far into the object, as one text.
    pub(crate) fn put_body(&mut self, name: &str) {
        let body = self.body.trim_end_matches('\n').to_owned();
        self.put(name, || body.into());
    }

    /// Says where the path among the arguments leads, relative to the root.
    pub(crate) fn resolved(&mut self, path: &Path) {
        if let Some(payload) = &mut self.payload {
            let path = path.to_string_lossy().into_owned();
            payload.path = Some(if path.is_empty() { ".".to_owned() } else { path });
        }
    }

    /// Says that this is a page of which the caller chooses the place and the size.
    pub(crate) fn is_page(&mut self) {
        if let Some(payload) = &mut self.payload {
            payload.is_page = true;
        }
    }

    /// Adds a line, unless the body would grow too large. Says whether it was added.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        if self.body.len() + line.len() + 1 > MAX_BYTES {
            return false;
        }
        self.body.push_str(line);
        self.body.push('\n');
        true
    }

    /// Adds a text that has bounds of its own.
    pub(crate) fn text(&mut self, text: &str) {
        self.body.push_str(text);
        if !text.is_empty() && !text.ends_with('\n') {
            self.body.push('\n');
        }
    }

    /// Adds a line that stands for an item of the object's list, unless either would grow too large.
    pub(crate) fn item(&mut self, line: &str, item: impl FnOnce() -> Value) -> bool {
        if !self.is_structured() {
            return self.line(line);
        }
        let item = item();
        let n_bytes = self.n_item_bytes + item.to_string().len() + 1;
        if n_bytes > MAX_ITEM_BYTES || !self.line(line) {
            return false;
        }
        self.n_item_bytes = n_bytes;
        self.items.push(item);
        true
    }

    /// Puts the items so far into the object.
    pub(crate) fn put_items(&mut self, name: &str) {
        let items = std::mem::take(&mut self.items);
        self.put(name, || items.into());
    }

    /// A name or path as it is shown. What would not survive as one line of text is replaced, and that is noted.
    pub(crate) fn name(&mut self, name: impl AsRef<OsStr>) -> String {
        let name = name.as_ref();
        let shown = name.to_string_lossy().replace(char::is_control, "\u{fffd}");
        self.n_altered_names += usize::from(name != shown.as_str());
        shown
    }

    /// Adds to the last line.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Adds to the last line that something which was asked for is not here.
    pub(crate) fn note_lack(&mut self, note: impl Into<String>) {
        self.note(note);
        if let Some(payload) = &mut self.payload {
            payload.is_partial = true;
        }
    }

    /// Says that the call had to stop, if it had to.
    pub(crate) fn note_halt(&mut self, halt: Option<Halt>) {
        if let Some(halt) = halt {
            self.is_timed_out |= halt == Halt::TimedOut;
            self.note_lack(halt.note());
        }
    }

    pub(crate) fn note_unknown(&mut self, unknown: &Unknown) {
        self.notes.extend(unknown.note());
    }

    pub(crate) fn done(mut self, for_people: impl Into<String>) -> ToolOutput {
        self.note_altered_names();
        // Words can say that the time was over; an object without anything in it would say that there is nothing.
        if self.payload.is_some() && self.is_timed_out && self.body.is_empty() {
            return ToolOutput::failure(self.into_text()).because(Fault::TimedOut);
        }
        let payload = self.payload.take().map(|payload| Box::new(Payload { notes: self.notes.clone(), ..payload }));
        ToolOutput { payload, ..ToolOutput::done(self.into_text(), for_people) }
    }

    /// A failure with the error's words, followed by the notes.
    pub(crate) fn failed(mut self, error: &ToolError) -> ToolOutput {
        self.note_altered_names();
        self.body = format!("{}\n", error.text);
        ToolOutput { fault: error.fault, ..ToolOutput::failure(self.into_text()) }
    }

    fn note_altered_names(&mut self) {
        if self.n_altered_names > 0 {
            let names = counted(self.n_altered_names, "name", "names");
            self.notes.push(format!("{names} with control characters or not UTF-8, shown with \u{fffd}"));
        }
    }

    fn into_text(mut self) -> String {
        if self.notes.is_empty() {
            self.body.truncate(self.body.trim_end_matches('\n').len());
        } else {
            self.body.push_str(&format!("[{}]", self.notes.join("; ")));
        }
        self.body
    }
}
