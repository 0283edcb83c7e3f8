//! Displays of a run, which fold its events as the journal gives them and never look into the engine.
//!
//! A new one implements `Display` in a file of its own here. `session/presentation.rs` picks it by output format;
//! `choose_display.rs` holds the options for progress on stderr.

mod choose_display;
mod follower;
mod json_display;
mod outcome_tree;
mod progress;
mod progress_area;
mod progress_style;
mod stderr_progress;
mod text_display;
mod with_progress;

#[cfg(test)]
mod tests;

use std::io;

use sortie_journal::{Journal, JournalError};
use sortie_protocol::{Event, TaskId, TaskOutcome};

pub(crate) use choose_display::{OutputFormat, Root, ShowArgs, ShowContext, shell_mark};
pub(crate) use follower::{FollowError, Follower, Pace, View};
pub(crate) use json_display::{JsonDisplay, JsonForm, StreamDisplay, print_json, print_json_text, print_not_started};
pub(crate) use outcome_tree::{outcomes, state};
pub(crate) use progress_area::ProgressArea;
pub(crate) use stderr_progress::StderrProgress;
pub(crate) use text_display::TextDisplay;
pub(crate) use with_progress::WithProgress;

/// Display of a run in one format.
pub(crate) trait Display: Send {
    /// Recalls what a resumed task and its descendants did before, if the display shows that.
    fn recall(&mut self, _journal: &dyn Journal, _task: TaskId) -> Result<(), JournalError> {
        Ok(())
    }

    /// Shows one event of the tree.
    fn show(&mut self, event: &Event) -> io::Result<()>;

    /// Called after each batch of events, and at a steady rate while there are none.
    fn refresh(&mut self) -> io::Result<()>;

    /// Shows the outcome of a finished run, and nothing after it.
    fn finish(self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()>;
}
