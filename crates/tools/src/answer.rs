//! Arguments and answers of a call: bounded text, an optional object, errors, truncation and diffs.

pub(crate) mod arguments;
pub(crate) mod diff;
pub(crate) mod halt;
pub(crate) mod phrases;
pub(crate) mod tool_error;
pub(crate) mod truncate;

use sortie_protocol::file_name::spelled;
use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;
use sortie_protocol::{Fault, Payload, ToolOutput};

use self::arguments::Unknown;
use self::halt::Halt;
use self::phrases::counted;
use self::tool_error::ToolError;

/// Maximum size of an answer's body.
pub(crate) const MAX_BYTES: usize = 50 * 1024;
/// Maximum size of the list in an object, as JSON, so that the whole object stays within [`MAX_BYTES`].
pub(crate) const MAX_ITEM_BYTES: usize = 48 * 1024;
/// Maximum number of lines of a text in an object.
pub(crate) const MAX_ITEM_LINES: usize = 2000;

/// A tool's answer: a body of bounded size, and a last line that names what was left out. It also holds an object if
/// the call wants one.
#[derive(Default)]
pub(crate) struct Answer {
    body: String,
    notes: Vec<String>,
    n_spelled_names: usize,
    is_timed_out: bool,
    /// Present only if the call wants an object.
    payload: Option<Payload>,
    items: Vec<Value>,
    n_item_bytes: usize,
}

/// The form in which a call wants its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    Words,
    /// An object besides the text.
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

    /// True if an object is wanted.
    pub(crate) fn is_structured(&self) -> bool {
        self.payload.is_some()
    }

    /// Puts a value into the object under the tool's own name for it. Evaluates the value only if there is an object.
    pub(crate) fn put(&mut self, name: &str, value: impl FnOnce() -> Value) {
        if let Some(payload) = &mut self.payload {
            payload.data.insert(name.to_owned(), value());
        }
    }

    /// Puts the lines so far into the object as one text.
    pub(crate) fn put_body(&mut self, name: &str) {
        let body = self.body.trim_end_matches('\n').to_owned();
        self.put(name, || body.into());
    }

    /// Sets the path that the arguments resolved to, relative to the root.
    pub(crate) fn resolved(&mut self, path: &Path) {
        if let Some(payload) = &mut self.payload {
            let path = spelled(path);
            payload.path = Some(if path.is_empty() { ".".to_owned() } else { path });
        }
    }

    /// Marks the output as a page whose position and size the caller chooses.
    pub(crate) fn is_page(&mut self) {
        if let Some(payload) = &mut self.payload {
            payload.is_page = true;
        }
    }

    /// Adds a line unless the body would grow too large. Returns true if it was added.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        if self.body.len() + line.len() + 1 > MAX_BYTES {
            return false;
        }
        self.body.push_str(line);
        self.body.push('\n');
        true
    }

    /// Adds a text with bounds of its own.
    pub(crate) fn text(&mut self, text: &str) {
        self.body.push_str(text);
        if !text.is_empty() && !text.ends_with('\n') {
            self.body.push('\n');
        }
    }

    /// Adds a line for an item of the object's list, unless either would grow too large.
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

    /// Spells a name or path so that it can be given back, and notes if that differs from the name itself.
    pub(crate) fn name(&mut self, name: impl AsRef<OsStr>) -> String {
        let name = name.as_ref();
        let shown = spelled(name);
        self.n_spelled_names += usize::from(name != shown.as_str());
        shown
    }

    /// Adds to the last line.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Adds to the last line that requested content is missing.
    pub(crate) fn note_lack(&mut self, note: impl Into<String>) {
        self.note(note);
        if let Some(payload) = &mut self.payload {
            payload.is_partial = true;
        }
    }

    /// Notes the halt, if the call had to stop.
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
        // The text can mention the timeout; an empty object would say that there is nothing.
        if self.payload.is_some() && self.is_timed_out && self.body.is_empty() {
            return ToolOutput::failure(self.into_text()).because(Fault::TimedOut);
        }
        let payload = self.payload.take().map(|payload| Box::new(Payload { notes: self.notes.clone(), ..payload }));
        ToolOutput { payload, ..ToolOutput::done(self.into_text(), for_people) }
    }

    /// Returns a failure with the error's text, followed by the notes.
    pub(crate) fn failed(mut self, error: &ToolError) -> ToolOutput {
        self.note_altered_names();
        self.body = format!("{}\n", error.text);
        ToolOutput { fault: error.fault, ..ToolOutput::failure(self.into_text()) }
    }

    fn note_altered_names(&mut self) {
        if self.n_spelled_names > 0 {
            let names = counted(self.n_spelled_names, "name", "names");
            self.notes
                .push(format!("{names} with hidden characters or not UTF-8, spelled with \\x; give them back so"));
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
