//! `FinishedCommand`: a command that has ended, and the text about it.

use sortie_protocol::file_name::spelled;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use sortie_protocol::{Fault, ToolOutput};
use sortie_sandbox::process::{How, OutputCount};

use super::walls_hint::WallsHint;
use crate::answer::Answer;
use crate::answer::phrases::{bytes, grouped, named_paths};

/// Maximum number of files listed one by one.
const MAX_FILES: usize = 1000;

/// Names of the signals that commands usually receive.
const SIGNALS: [(i32, &str); 14] = [
    (1, "HUP"),
    (2, "INT"),
    (3, "QUIT"),
    (4, "ILL"),
    (6, "ABRT"),
    (7, "BUS"),
    (8, "FPE"),
    (9, "KILL"),
    (11, "SEGV"),
    (13, "PIPE"),
    (15, "TERM"),
    (24, "XCPU, its processor time was used up"),
    (25, "XFSZ, a file became too large"),
    (31, "SYS, a system call that commands may not make"),
];

/// A command that has ended, with everything it started.
#[derive(Debug)]
pub(crate) struct FinishedCommand {
    pub(crate) how: How,
    pub(crate) output: OutputCount,
    /// Its time limit.
    pub(crate) time: Option<Duration>,
    /// Sorted.
    pub(crate) changed: Vec<PathBuf>,
    /// Further notes.
    pub(crate) notes: Vec<String>,
    /// Names of the system calls that its walls refused.
    pub(crate) refused_calls: Vec<String>,
    /// A description of its walls, if there were any.
    pub(crate) hint: Option<WallsHint>,
}

impl FinishedCommand {
    pub(crate) fn is_success(&self) -> bool {
        self.how == How::Exited { code: 0 }
    }

    /// Describes its end.
    pub(crate) fn ending(&self) -> String {
        match self.how {
            How::Exited { code } => format!("Exit code {code}"),
            How::Signalled { signal } => match SIGNALS.iter().find(|(number, _)| *number == signal) {
                Some((_, name)) => format!("ended by signal {signal} ({name})"),
                None => format!("ended by signal {signal}"),
            },
            How::TimedOut => format!("timed out after {} and was ended", self.time.map(shown).unwrap_or_default()),
            How::Cancelled => "cancelled before it finished".to_owned(),
            How::Lost => "how it ended is unknown: the process that watched it was killed".to_owned(),
        }
    }

    /// Returns the changed files by the names used in outputs, up to a bound.
    pub(crate) fn files_changed(&self) -> Vec<String> {
        self.changed.iter().take(MAX_FILES).map(spelled).collect()
    }

    /// Notes the results in the last line.
    pub(crate) fn note(&self, answer: &mut Answer) {
        if !self.changed.is_empty() {
            answer.note(format!("changed: {}", named_paths(&self.changed)));
        }
        if self.changed.len() > MAX_FILES {
            let (n_listed, n_all) = (grouped(MAX_FILES as u64), grouped(self.changed.len() as u64));
            answer.note_lack(format!("{n_listed} of {n_all} changed files are recorded"));
        }
        self.notes.iter().for_each(|note| answer.note(note));
    }

    /// Notes in the last line the file that has the whole of a long output.
    pub(crate) fn note_spill(&self, answer: &mut Answer) {
        let output = &self.output;
        match (&output.spilled, &output.spill_failure) {
            (Some(path), None) if output.dropped > 0 => {
                let first = bytes(output.total.saturating_sub(output.dropped));
                answer.note_lack(format!("the first {first} of it, for people: {}", path.display()));
            }
            (Some(path), None) => answer.note_lack(format!("all of it, for people: {}", path.display())),
            (Some(path), Some(why)) => {
                answer.note_lack(format!("the beginning of it, for people: {} ({why})", path.display()));
            }
            (None, Some(why)) => answer.note_lack(format!("it could not be kept ({why})")),
            (None, None) => {}
        }
    }

    /// Adds a last note about the walls, if they may have made it fail.
    pub(crate) fn note_walls(&self, answer: &mut Answer, shown: &str) {
        if let (How::Exited { code: 1.. }, Some(hint)) = (self.how, &self.hint) {
            hint.words(shown, &self.refused_calls).into_iter().for_each(|words| answer.note(words));
        }
    }

    /// Puts the facts that programs want into the object.
    pub(crate) fn put(&self, answer: &mut Answer) {
        if let How::Exited { code } = self.how {
            answer.put("exit_code", || code.into());
        }
        if let How::Signalled { signal } = self.how {
            answer.put("signal", || signal.into());
        }
        answer.put("timed_out", || Value::Bool(self.how == How::TimedOut));
        answer.put("files_changed", || json!(self.files_changed()));
        if let Some(path) = &self.output.spilled {
            answer.put("full_output_path", || json!(path.to_string_lossy()));
        }
    }

    /// The output of a call that reports this end.
    pub(crate) fn done(&self, answer: Answer, for_people: String) -> ToolOutput {
        let fault = (self.how == How::TimedOut).then_some(Fault::TimedOut);
        let failed = !self.is_success();
        ToolOutput { failed, fault, files_changed: self.files_changed(), ..answer.done(for_people) }
    }
}

fn shown(time: Duration) -> String {
    if time.subsec_nanos() == 0 { format!("{} s", time.as_secs()) } else { format!("{} ms", time.as_millis()) }
}
