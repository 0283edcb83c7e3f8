//! The text format: progress on stderr, the answer alone on stdout.

use std::io::{self, Write as _};

use sortie_protocol::{Event, Fact, Status, TaskOutcome};

use super::aside::{Aside, write_stderr};
use super::show::UNCONFINED;
use super::{Display, neutral, words};
use crate::error;

/// Shows a run to a person.
pub(crate) struct TextDisplay {
    aside: Aside,
    /// What the root task noticed and progress has told of, so that it is not said once more at the end.
    noticed: Vec<String>,
    /// Said in the last line, where there is something to say of all who could run commands.
    shell_mark: &'static str,
}

impl TextDisplay {
    pub(crate) fn new(aside: Aside, unconfined: bool) -> Self {
        Self { aside, noticed: Vec::new(), shell_mark: if unconfined { UNCONFINED } else { "" } }
    }
}

impl Display for TextDisplay {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        if let (Fact::Noticed { text }, None, true) = (&event.fact, event.parent_id, self.aside.is_text()) {
            self.noticed.push(text.clone());
        }
        self.aside.show(event)
    }

    fn refresh(&mut self) -> io::Result<()> {
        self.aside.refresh();
        Ok(())
    }

    fn finish(mut self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        self.aside.clear();
        // Sets the answer apart from what was drawn above and the figures below.
        self.aside.gap();
        if !outcome.text.is_empty() {
            let answer = neutral::block(&outcome.text);
            let end = if answer.ends_with('\n') { "" } else { "\n" };
            let mut stdout = io::stdout().lock();
            write!(stdout, "{answer}{end}")?;
            stdout.flush()?;
        }
        self.aside.gap();
        if !matches!(self.aside, Aside::Events(_)) {
            say_ending(outcome, &self.noticed);
        }
        if self.aside.is_text() {
            say_figures(outcome, self.shell_mark);
        }
        self.aside.finish(outcome)
    }
}

/// What the answer itself does not say: how the run ended, and what a person should know.
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
}

/// What it cost.
fn say_figures(outcome: &TaskOutcome, mark: &str) {
    let usage = words::usage(&outcome.usage);
    let model = words::model(&outcome.model);
    write_stderr(&format!("{}{mark} {} · {model} · {usage}\n", outcome.task_id, outcome.status));
}
