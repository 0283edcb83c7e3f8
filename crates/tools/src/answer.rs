//! A tool's answer: a body within a fixed size, and one last line that says what was left out.

use std::error::Error;
use std::ffi::OsStr;

use sortie_protocol::ToolOutput;

use crate::arguments::Unknown;
use crate::blocking::Halt;

/// The most that the body of an answer holds.
pub(crate) const MAX_BYTES: usize = 50 * 1024;

#[derive(Default)]
pub(crate) struct Answer {
    body: String,
    notes: Vec<String>,
    n_altered_names: usize,
}

impl Answer {
    /// Adds a line, unless the body would grow too large. Says whether it was added.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        if self.body.len() + line.len() + 1 > MAX_BYTES {
            return false;
        }
        self.body.push_str(line);
        self.body.push('\n');
        true
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

    /// Says that the call had to stop, if it had to.
    pub(crate) fn note_halt(&mut self, halt: Option<Halt>) {
        self.notes.extend(halt.map(Halt::note));
    }

    pub(crate) fn note_unknown(&mut self, unknown: &Unknown) {
        self.notes.extend(unknown.note());
    }

    pub(crate) fn done(self, for_people: impl Into<String>) -> ToolOutput {
        ToolOutput::done(self.text(), for_people)
    }

    /// A failure whose text is `reason`, followed by the notes.
    pub(crate) fn failed(mut self, reason: &str) -> ToolOutput {
        self.body = format!("{reason}\n");
        ToolOutput::failure(self.text())
    }

    fn text(mut self) -> String {
        if self.n_altered_names > 0 {
            let names = counted(self.n_altered_names, "name", "names");
            self.notes.push(format!("{names} with control characters or not UTF-8, shown with \u{fffd}"));
        }
        if self.notes.is_empty() {
            self.body.truncate(self.body.trim_end_matches('\n').len());
        } else {
            self.body.push_str(&format!("[{}]", self.notes.join("; ")));
        }
        self.body
    }
}

/// An error with its causes, in one line.
pub(crate) fn explain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// `1 file`, `2 files`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// A number with its thousands set apart: `12,345`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
