//! Background commands of a task according to its log: those that were started, and those lost with their process.
//!
//! A command counts as running until a call has reported its end: nobody can know how far it came.

use std::collections::BTreeMap;

use sortie_protocol::{ShellMark, ToolCall};
use sortie_tools::{EarlierShells, shell_name};

use crate::conversation::unanswered_calls::gist_of;

/// Background commands by number.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PastShells {
    newest: u32,
    running: BTreeMap<u32, String>,
    lost: BTreeMap<u32, Lost>,
}

#[derive(Debug, PartialEq)]
struct Lost {
    line: String,
    /// True if the model knows.
    is_told: bool,
}

impl PastShells {
    /// Notes a start or an end that a call has reported.
    pub(super) fn see(&mut self, mark: ShellMark, call: &ToolCall) {
        match mark {
            ShellMark::Started(number) => {
                self.newest = self.newest.max(number);
                self.running.insert(number, gist_of(call));
            }
            ShellMark::Ended(number) => drop(self.running.remove(&number)),
        }
    }

    /// Marks running commands as lost, because their process is gone.
    pub(crate) fn lose(&mut self) {
        let lost = std::mem::take(&mut self.running).into_iter();
        self.lost.extend(lost.map(|(number, line)| (number, Lost { line, is_told: false })));
    }

    /// Clears the commands that ended with their leg; the outcome has reported them.
    pub(super) fn end_leg(&mut self) {
        self.running.clear();
    }

    /// Notes that the model has been told about these.
    pub(super) fn tell(&mut self, numbers: &[u32]) {
        let told = self.lost.iter_mut().filter(|(number, _)| numbers.contains(number));
        told.for_each(|(_, lost)| lost.is_told = true);
    }

    /// Returns lost commands that the model does not know about.
    pub(crate) fn untold(&self) -> Vec<u32> {
        self.lost.iter().filter(|(_, lost)| !lost.is_told).map(|(number, _)| *number).collect()
    }

    /// Returns the note for the model of a resumed task.
    pub(crate) fn for_model(&self) -> Option<String> {
        let names = self.named()?;
        Some(format!(
            "The program was stopped and has resumed. Your background commands no longer run: {names}. Their \
                progress, changes and output are unknown. Check the current state before you continue, and restart \
                what you still need."
        ))
    }

    /// Returns the notice for the outcome.
    pub(super) fn notice(&self) -> Option<String> {
        let names = self.named()?;
        Some(format!(
            "commands in the background were ended when the program was stopped: {names}; their effects are unknown, \
                and files that they changed may be missing from files_changed"
        ))
    }

    fn named(&self) -> Option<String> {
        let untold = self.lost.iter().filter(|(_, lost)| !lost.is_told);
        let names: Vec<String> =
            untold.map(|(number, lost)| format!("{} {}", shell_name(*number), lost.line)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Returns all of them, for the tools of a resumed task.
    pub(crate) fn earlier(&self) -> EarlierShells {
        EarlierShells { newest: self.newest, lost: self.lost.keys().copied().collect() }
    }
}
