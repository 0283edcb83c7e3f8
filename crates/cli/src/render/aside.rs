//! What stderr gets beside the result on stdout: progress in the form that was chosen, or nothing.

use std::io::{self, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use sortie_engine::{Clock as _, SystemClock};
use sortie_journal::{Journal, JournalError};
use sortie_protocol::{Event, TaskId, TaskOutcome};

use super::look::{Extent, Look};
use super::machine::StreamDisplay;
use super::progress::{Happening, Interest, Progress};
use super::recall::Begun;
use super::stage::{self, Stage};
use super::text::say_how_to_go_on;
use super::{Display, Pace};
use crate::error;

/// Progress on stderr.
pub(crate) enum Aside {
    Quiet,
    Events(Box<StreamDisplay>),
    Text(Box<TextProgress>),
}

/// Progress for a person.
pub(crate) struct TextProgress {
    progress: Progress,
    happenings: Vec<Happening>,
    look: Box<dyn Look>,
    stage: Stage,
    /// Whether stderr is a terminal that can redraw.
    redraws: bool,
}

impl Aside {
    pub(super) fn events() -> Self {
        Self::Events(Box::new(StreamDisplay::on_stderr()))
    }

    /// `smart_terminal`: whether a terminal, if there is one, can move its cursor.
    pub(super) fn text(interest: Interest, look: Box<dyn Look>, smart_terminal: bool) -> Self {
        Self::Text(Box::new(TextProgress {
            progress: Progress::new(interest),
            happenings: Vec::new(),
            look,
            stage: Stage::of_progress(),
            redraws: Self::redraws(smart_terminal),
        }))
    }

    pub(super) fn redraws(smart_terminal: bool) -> bool {
        smart_terminal && io::stderr().is_terminal()
    }

    pub(crate) fn pace(&self) -> Pace {
        if matches!(self, Self::Events(_)) { Pace::AtOnce } else { Pace::Framed }
    }

    pub(crate) fn is_quiet(&self) -> bool {
        matches!(self, Self::Quiet)
    }

    /// Whether it speaks to a person, who may be told more.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }

    /// Takes in what there is of a task that goes on.
    pub(super) fn recall(&mut self, journal: &dyn Journal, task: TaskId) -> Result<(), JournalError> {
        match self {
            Self::Quiet => {}
            Self::Events(lines) => lines.recall(journal, task)?,
            Self::Text(text) => text.progress.recall(Begun::read(journal, task)?),
        }
        Ok(())
    }

    /// Takes in one event of the tree.
    pub(super) fn show(&mut self, event: &Event) -> io::Result<()> {
        match self {
            Self::Quiet => {}
            Self::Events(lines) => lines.show(event)?,
            Self::Text(text) => text.happenings.extend(text.progress.apply(event)),
        }
        Ok(())
    }

    pub(super) fn refresh(&mut self) {
        if let Self::Text(text) = self {
            let extent = text.extent();
            let (look, now) = (text.look.as_ref(), SystemClock.now());
            let (happenings, progress) = (&text.happenings, &text.progress);
            if text.stage.draw(|screen| screen.draw(look, happenings, progress, now, extent)) {
                text.happenings.clear();
            }
        }
    }

    /// Where questions can stand, so that nothing is drawn over them.
    pub(crate) fn stage(&self) -> Stage {
        match self {
            Self::Quiet | Self::Events(_) => Stage::default(),
            Self::Text(text) => text.stage.clone(),
        }
    }

    /// Takes the working lines away. Done when it is dropped, too.
    pub(super) fn clear(&mut self) {
        if let Self::Text(text) = self {
            text.clear();
        }
    }

    /// Sets what follows apart from what is drawn.
    pub(super) fn gap(&self) {
        if matches!(self, Self::Text(text) if text.redraws) {
            write_stderr("\n");
        }
    }

    /// The run is over, and its result is where it belongs.
    pub(super) fn finish(self, outcome: &TaskOutcome) -> io::Result<()> {
        match self {
            Self::Quiet | Self::Text(_) => Ok(()),
            Self::Events(lines) => lines.finish(outcome),
        }
    }
}

impl TextProgress {
    fn clear(&mut self) {
        self.stage.clear();
    }

    fn extent(&self) -> Extent {
        Extent {
            columns: stage::columns(),
            rows: stage::rows(),
            colour: AutoStream::choice(&io::stderr()) != ColorChoice::Never,
            redraws: self.redraws,
        }
    }
}

impl Drop for TextProgress {
    fn drop(&mut self) {
        self.stage.end_progress();
    }
}

/// A result on stdout, in whatever format, with progress beside it.
pub(crate) struct Beside {
    aside: Aside,
    result: Box<dyn Display>,
    /// Whether the journal has anything of the run, so that it can go on.
    is_recorded: bool,
}

impl Beside {
    pub(crate) fn new(aside: Aside, result: Box<dyn Display>) -> Self {
        Self { aside, result, is_recorded: false }
    }
}

impl Display for Beside {
    fn recall(&mut self, journal: &dyn Journal, task: TaskId) -> Result<(), JournalError> {
        self.is_recorded = true;
        self.aside.recall(journal, task)?;
        self.result.recall(journal, task)
    }

    fn show(&mut self, event: &Event) -> io::Result<()> {
        self.is_recorded = true;
        self.aside.show(event)?;
        self.result.show(event)
    }

    fn refresh(&mut self) -> io::Result<()> {
        self.aside.refresh();
        self.result.refresh()
    }

    fn finish(mut self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        self.aside.clear();
        self.result.finish(outcome)?;
        if self.aside.is_text() {
            if self.is_recorded {
                say_how_to_go_on(outcome);
            } else {
                // No event has told of them: it was given again, or could not be written down.
                outcome.notices.iter().for_each(|notice| error::notice(notice));
            }
        }
        self.aside.finish(outcome)
    }
}

pub(crate) fn write_stderr(text: &str) {
    if text.is_empty() {
        return;
    }
    // A display that nobody can see any more must not end the run.
    io::stderr().lock().write_all(text.as_bytes()).unwrap_or_default();
}
