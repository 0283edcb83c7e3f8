//! Progress on stderr in the chosen form, or none.

use std::io::{self, IsTerminal as _};

use sortie_engine::{Clock as _, SystemClock};
use sortie_journal::{Journal, JournalError};
use sortie_protocol::{Event, TaskId, TaskOutcome};

use super::json_display::StreamDisplay;
use super::progress::earlier::EarlierTasks;
use super::progress::{Happening, Interest, Progress};
use super::progress_area::ProgressArea;
use super::progress_style::{Extent, ProgressStyle};
use super::{Display as _, Pace};
use crate::text::terminal::{self, TerminalKind};
use crate::text::{Colour, columns, write_stderr};

/// Progress on stderr.
pub(crate) enum StderrProgress {
    Quiet,
    Events(Box<StreamDisplay>),
    Text(Box<TextProgress>),
}

/// Progress for a person.
pub(crate) struct TextProgress {
    progress: Progress,
    happenings: Vec<Happening>,
    style: Box<dyn ProgressStyle>,
    area: ProgressArea,
    /// True if stderr is a terminal that can redraw.
    redraws: bool,
}

impl StderrProgress {
    pub(super) fn events() -> Self {
        Self::Events(Box::new(StreamDisplay::on_stderr()))
    }

    /// Progress for a person, on a terminal of this kind if stderr is one.
    pub(super) fn text(interest: Interest, style: Box<dyn ProgressStyle>, terminal: TerminalKind) -> Self {
        Self::Text(Box::new(TextProgress {
            progress: Progress::new(interest),
            happenings: Vec::new(),
            style,
            area: ProgressArea::of_progress(),
            redraws: Self::redraws(terminal),
        }))
    }

    /// True if lines on stderr can be redrawn.
    pub(super) fn redraws(terminal: TerminalKind) -> bool {
        terminal == TerminalKind::Smart && io::stderr().is_terminal()
    }

    pub(crate) fn pace(&self) -> Pace {
        if matches!(self, Self::Events(_)) { Pace::AtOnce } else { Pace::Framed }
    }

    pub(crate) fn is_quiet(&self) -> bool {
        matches!(self, Self::Quiet)
    }

    /// True for progress for a person, who may get further notes.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }

    /// Recalls a resumed task.
    pub(super) fn recall(&mut self, journal: &dyn Journal, task: TaskId) -> Result<(), JournalError> {
        match self {
            Self::Quiet => {}
            Self::Events(lines) => lines.recall(journal, task)?,
            Self::Text(text) => text.progress.recall(EarlierTasks::read(journal, task)?),
        }
        Ok(())
    }

    /// Shows one event of the tree.
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
            let (style, now) = (text.style.as_ref(), SystemClock.now());
            let (happenings, progress) = (&text.happenings, &text.progress);
            if text.area.draw(|screen| screen.draw(style, happenings, progress, now, extent)) {
                text.happenings.clear();
            }
        }
    }

    /// Area for questions, so that nothing is drawn over them.
    pub(crate) fn area(&self) -> ProgressArea {
        match self {
            Self::Quiet | Self::Events(_) => ProgressArea::default(),
            Self::Text(text) => text.area.clone(),
        }
    }

    /// Erases the working lines, as dropping this also does.
    pub(super) fn clear(&mut self) {
        if let Self::Text(text) = self {
            text.clear();
        }
    }

    /// Separates what follows from the drawn lines.
    pub(super) fn gap(&self) {
        if matches!(self, Self::Text(text) if text.redraws) {
            write_stderr("\n");
        }
    }

    /// Ends progress after the result is in its place.
    pub(super) fn finish(self, outcome: &TaskOutcome) -> io::Result<()> {
        match self {
            Self::Quiet | Self::Text(_) => Ok(()),
            Self::Events(lines) => lines.finish(outcome),
        }
    }
}

impl TextProgress {
    fn clear(&mut self) {
        self.area.clear();
    }

    fn extent(&self) -> Extent {
        Extent { columns: columns(), rows: terminal::rows(), colour: Colour::of_stderr(), redraws: self.redraws }
    }
}

impl Drop for TextProgress {
    fn drop(&mut self) {
        self.area.end_progress();
    }
}
