//! What a run looks like: folds over its events, as the journal gives them, never a look into the engine.

mod aside;
mod background;
mod blocks;
mod boxes;
mod follow;
mod frame;
mod launches;
mod look;
mod machine;
mod messages;
mod one_line;
mod plain;
mod progress;
mod recall;
mod screen;
mod several;
mod show;
mod stage;
mod table;
mod text;
pub(crate) mod width;
pub(crate) mod words;

#[cfg(test)]
mod tests;

use std::io;

use sortie_journal::{Journal, JournalError};
pub(crate) use sortie_policy::neutral;
use sortie_protocol::{Event, TaskId, TaskOutcome};

pub(crate) use aside::{Aside, Beside, write_stderr};
pub(crate) use follow::{FollowError, Follower, Pace};
pub(crate) use machine::{JsonDisplay, StreamDisplay, print_json, print_json_text, print_not_started};
pub(crate) use recall::{outcomes, state};
pub(crate) use show::{Root, ShowArgs, UNCONFINED};
pub(crate) use stage::{Stage, columns, fitted};
pub(crate) use table::table;
pub(crate) use text::TextDisplay;

/// A format in which a run is shown.
pub(crate) trait Display: Send {
    /// The run goes on with a task that was begun before: takes in what there is of it and below it, if it will tell of
    /// that.
    fn recall(&mut self, _journal: &dyn Journal, _task: TaskId) -> Result<(), JournalError> {
        Ok(())
    }

    /// Takes in one event of the tree.
    fn show(&mut self, event: &Event) -> io::Result<()>;

    /// Called after each batch of events, and at a steady rate while there are none.
    fn refresh(&mut self) -> io::Result<()>;

    /// The run is over: shows the outcome, and nothing after it.
    fn finish(self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()>;
}
