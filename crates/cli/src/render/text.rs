//! The text format: progress on stderr, the answer alone on stdout.

use std::io::{self, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use sortie_engine::{Clock as _, SystemClock};
use sortie_protocol::{Event, Fact, Status, TaskOutcome};

use super::progress::{Happening, Interest, Progress};
use super::screen::{Extent, Screen};
use super::{Display, neutral, plain, words};
use crate::error;

/// Shows a run to a person.
pub(crate) struct TextDisplay {
    progress: Progress,
    happenings: Vec<Happening>,
    /// What the root task noticed: said as it happened, so not once more at the end.
    noticed: Vec<String>,
    /// `None` where stderr is no terminal that can redraw.
    screen: Option<Screen>,
}

impl TextDisplay {
    /// `smart_terminal`: whether a terminal, if there is one, can move its cursor.
    pub(crate) fn new(interest: Interest, smart_terminal: bool) -> Self {
        let screen = (smart_terminal && io::stderr().is_terminal()).then(Screen::default);
        Self { progress: Progress::new(interest), happenings: Vec::new(), noticed: Vec::new(), screen }
    }

    /// Takes the working lines away. Done when it is dropped, too.
    pub(crate) fn clear(&mut self) {
        if let Some(screen) = &mut self.screen {
            write_stderr(&screen.erase(extent().columns));
        }
    }
}

impl Drop for TextDisplay {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Display for TextDisplay {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        if let (Fact::Noticed { text }, None) = (&event.fact, event.parent_id) {
            self.noticed.push(text.clone());
        }
        self.happenings.extend(self.progress.apply(event));
        Ok(())
    }

    fn refresh(&mut self) -> io::Result<()> {
        let text = match &mut self.screen {
            Some(screen) => screen.draw(&self.happenings, &self.progress, SystemClock.now(), extent()),
            None => self.happenings.iter().map(|happening| plain::line(happening) + "\n").collect(),
        };
        self.happenings.clear();
        write_stderr(&text);
        Ok(())
    }

    fn finish(mut self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        self.clear();
        if self.screen.is_some() {
            // Sets the answer apart from the boxes above and the figures below.
            write_stderr("\n");
        }
        if !outcome.text.is_empty() {
            let answer = neutral::block(&outcome.text);
            let end = if answer.ends_with('\n') { "" } else { "\n" };
            let mut stdout = io::stdout().lock();
            write!(stdout, "{answer}{end}")?;
            stdout.flush()?;
        }
        if self.screen.is_some() {
            write_stderr("\n");
        }
        say_ending(outcome, &self.noticed);
        Ok(())
    }
}

/// What the answer itself does not say: how the run ended, what a person should know, what it cost.
fn say_ending(outcome: &TaskOutcome, noticed: &[String]) {
    for notice in outcome.notices.iter().filter(|notice| !noticed.contains(notice)) {
        error::note(notice);
    }
    if let Some(path) = outcome.full_text_path.as_ref().filter(|_| outcome.truncated) {
        error::note(&format!("the answer was cut; the whole is in {path}"));
    }
    if let Some(failure) = &outcome.error {
        error::fail(&format!("{} ({})", failure.message, failure.code));
    }
    match (outcome.status, outcome.reason) {
        (Status::Completed, _) => {}
        (status, Some(limit)) => error::warn(&format!("{status}: the limit of {limit} was reached")),
        (Status::Failed | Status::Rejected, None) if outcome.error.is_some() => {}
        (status, None) => error::warn(&status.to_string()),
    }
    let usage = words::usage(&outcome.usage);
    let model = words::model(&outcome.model);
    write_stderr(&format!("{} {} · {model} · {usage}\n", outcome.task_id, outcome.status));
}

fn write_stderr(text: &str) {
    if text.is_empty() {
        return;
    }
    // A display that nobody can see any more must not end the run.
    io::stderr().lock().write_all(text.as_bytes()).unwrap_or_default();
}

fn extent() -> Extent {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
    let or = |given: Option<u16>, fallback: usize| given.filter(|n| *n > 0).map_or(fallback, usize::from);
    Extent {
        columns: or(size.map(|size| size.ws_col), 80),
        rows: or(size.map(|size| size.ws_row), 24),
        colour: AutoStream::choice(&io::stderr()) != ColorChoice::Never,
    }
}
