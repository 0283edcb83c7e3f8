//! Text format: progress on stderr, the answer alone on stdout.

use std::collections::BTreeSet;
use std::io::{self, Write as _};

use sortie_journal::{Journal, JournalError};
use sortie_protocol::{Event, Fact, FailureCode, Limit, Status, TaskId, TaskOutcome};

use super::Display;
use super::choose_display::shell_mark;
use super::stderr_progress::StderrProgress;
use crate::environment::Confinement;
use crate::error;
use crate::text::{fitted, neutral, words, write_stderr};

/// Display of a run for a person.
pub(crate) struct TextDisplay {
    progress: StderrProgress,
    /// Notices of the root task already shown, so that the end does not repeat them.
    noticed: Vec<String>,
    /// Root task of a resumed run; it may have a parent.
    resumed: Option<TaskId>,
    /// True if the journal has any of the run, so that it can be resumed.
    is_recorded: bool,
    /// Files changed by all tasks that have ended so far.
    files_changed: BTreeSet<String>,
    /// Mark of the last line, if it applies to everyone who could run commands.
    shell_mark: &'static str,
}

impl TextDisplay {
    pub(crate) fn new(progress: StderrProgress, confinement: Confinement) -> Self {
        let shell_mark = shell_mark(confinement);
        let (noticed, files_changed) = (Vec::new(), BTreeSet::new());
        Self { progress, noticed, resumed: None, is_recorded: false, files_changed, shell_mark }
    }

    fn is_of_root(&self, event: &Event) -> bool {
        self.resumed.map_or(event.parent_id.is_none(), |resumed| event.task_id == resumed)
    }
}

impl Display for TextDisplay {
    fn recall(&mut self, journal: &dyn Journal, task: TaskId) -> Result<(), JournalError> {
        (self.resumed, self.is_recorded) = (Some(task), true);
        self.progress.recall(journal, task)
    }

    fn show(&mut self, event: &Event) -> io::Result<()> {
        self.is_recorded = true;
        match &event.fact {
            Fact::Noticed { text } if self.is_of_root(event) && self.progress.is_text() => {
                self.noticed.push(text.clone());
            }
            Fact::TaskEnded { outcome } => self.files_changed.extend(outcome.files_changed.iter().cloned()),
            _ => {}
        }
        self.progress.show(event)
    }

    fn refresh(&mut self) -> io::Result<()> {
        self.progress.refresh();
        Ok(())
    }

    fn finish(mut self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        self.progress.clear();
        // Separates the answer from progress above and figures below.
        self.progress.gap();
        // A structured answer is printed alone, for pipes.
        let answer = outcome.structured.as_ref().map_or_else(|| outcome.text.clone(), |value| format!("{value:#}"));
        if !answer.is_empty() {
            let answer = neutral::block(&answer);
            let end = if answer.ends_with('\n') { "" } else { "\n" };
            let mut stdout = io::stdout().lock();
            write!(stdout, "{answer}{end}")?;
            stdout.flush()?;
        }
        self.progress.gap();
        if !matches!(self.progress, StderrProgress::Events(_)) {
            say_ending(outcome, &self.noticed);
            if self.is_recorded {
                say_how_to_go_on(outcome);
            }
        }
        if self.progress.is_text() {
            self.files_changed.extend(outcome.files_changed.iter().cloned());
            if let Some(files) = words::files(&self.files_changed) {
                write_stderr(&fitted(&format!("changed: {files}\n")));
            }
            say_figures(outcome, self.shell_mark);
        }
        self.progress.finish(outcome)
    }
}

/// Prints the ending and notices that the answer itself does not mention.
fn say_ending(outcome: &TaskOutcome, noticed: &[String]) {
    for notice in outcome.notices.iter().filter(|notice| !noticed.contains(notice)) {
        error::notice(notice);
    }
    if let Some(path) = outcome.full_text_path.as_ref().filter(|_| outcome.truncated) {
        error::note(&format!("the answer was cut; the full text is in {path}"));
    }
    if let Some(failure) = &outcome.error {
        error::fail(&format!("{} ({})", failure.message, failure.code));
    }
    match (outcome.status, outcome.reason) {
        (Status::Completed, _) => {}
        (status, Some(limit)) => error::warn(&format!("{status}: {}", limit.clause())),
        (Status::Failed | Status::Rejected, None) if outcome.error.is_some() => {}
        (status, None) => error::warn(&status.to_string()),
    }
}

/// Prints the command that resumes a task which ended early, if resuming can help.
pub(super) fn say_how_to_go_on(outcome: &TaskOutcome) {
    if let Some(more) = what_it_lacks(outcome) {
        error::hint(&format!("`sortie resume {}{more}` continues it", outcome.task_id));
    }
}

/// Flag that raises the limit a task ran into, or nothing if it only has to be resumed; `None` if that would not help.
fn what_it_lacks(outcome: &TaskOutcome) -> Option<&'static str> {
    // Without any text, a limit is a failure.
    let code = outcome.error.as_ref().map(|failure| &failure.code);
    match (outcome.reason, code) {
        (Some(Limit::Turns), _) | (None, Some(FailureCode::Limit(Limit::Turns))) => Some(" --max-turns N"),
        (Some(Limit::Deadline), _) | (None, Some(FailureCode::Timeout)) => Some(" --timeout TIME"),
        (Some(Limit::Tokens), _) | (None, Some(FailureCode::Limit(Limit::Tokens))) => Some(" --max-tokens N"),
        (Some(Limit::Stalled | Limit::Output), _) | (None, Some(FailureCode::Journal)) => Some(""),
        (None, _) if matches!(outcome.status, Status::Cancelled | Status::Interrupted) => Some(""),
        (Some(Limit::Cost), _) | (None, Some(FailureCode::Limit(Limit::Cost))) => Some(" --max-cost-usd AMOUNT"),
        (Some(Limit::Context | Limit::Loop | Limit::NoAnswer) | None, _) => None,
    }
}

/// Prints tokens and cost.
fn say_figures(outcome: &TaskOutcome, mark: &str) {
    let model = words::model(&outcome.model);
    let usage = words::usage_of(outcome);
    write_stderr(&fitted(&format!("{}{mark} {} · {model} · {usage}\n", outcome.task_id, outcome.status)));
}
