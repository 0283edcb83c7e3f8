//! Presentation of a run: its display, the person who answers questions, and the option to leave it.

use std::process::ExitCode;
use std::sync::Arc;

use sortie_engine::{Approver, NoApprover};
use sortie_protocol::{Failure, FailureCode, TaskId};

use super::approval_prompt::TerminalApprover;
use super::detach::Detachment;
use crate::environment::Confinement;
use crate::error::{self, CommandError};
use crate::render::{
    Display, JsonDisplay, JsonForm, OutputFormat, Pace, ProgressArea, Root, ShowArgs, ShowContext, StderrProgress,
    StreamDisplay, TextDisplay, View, WithProgress, print_not_started,
};
use crate::settings::Settings;

/// Parts of a run that people and programs see and use.
pub(crate) struct Presentation {
    pub(crate) view: View,
    pub(crate) approver: Arc<dyn Approver>,
    /// Set if the run is left once only background sub-agents work.
    pub(crate) detachment: Option<Detachment>,
    area: ProgressArea,
}

/// Progress on stderr by options and settings.
pub(crate) fn stderr_progress(
    show: &ShowArgs,
    root: Root,
    settings: &Settings,
    confinement: Confinement,
) -> Result<StderrProgress, CommandError> {
    show.stderr_progress(ShowContext {
        root,
        contract: settings.contract().name(),
        every_call: settings.verbose_logging(),
        terminal: settings.environment.terminal(),
        confinement,
    })
}

impl Presentation {
    /// Presents the result on stdout in this format, with progress on stderr. Formats for programs show progress only
    /// on request. A person answers questions if one reads text and can answer; otherwise nobody does.
    pub(crate) fn new(
        format: OutputFormat,
        show: &ShowArgs,
        progress: StderrProgress,
        settings: &Settings,
        confinement: Confinement,
    ) -> Self {
        let area = progress.area();
        let is_for_people = format == OutputFormat::Text && !matches!(progress, StderrProgress::Events(_));
        let person = TerminalApprover::find(
            area.clone(),
            settings.places.config.as_deref(),
            confinement,
            settings.environment.pager(),
        );
        let approver: Arc<dyn Approver> = match person.filter(|_| is_for_people) {
            Some(person) => Arc::new(person),
            None => Arc::new(NoApprover),
        };
        let (pace, result): (Pace, Box<dyn Display>) = match format {
            OutputFormat::Text => {
                let view = View { pace: progress.pace(), display: Box::new(TextDisplay::new(progress, confinement)) };
                return Self { view, approver, detachment: None, area };
            }
            OutputFormat::Json => (progress.pace(), Box::new(JsonDisplay::default())),
            OutputFormat::StreamJson => (Pace::AtOnce, Box::new(StreamDisplay::default())),
        };
        let display = if show.is_given() { Box::new(WithProgress::new(progress, result)) } else { result };
        Self { view: View { pace, display }, approver, detachment: None, area }
    }

    /// View without anybody to ask.
    pub(crate) fn unattended(view: View) -> Self {
        Self { view, approver: Arc::new(NoApprover), detachment: None, area: ProgressArea::default() }
    }

    /// Leaves the run once its main agent only waits: `task`, if known before the first event.
    pub(crate) fn detachable(self, format: OutputFormat, task: Option<TaskId>) -> Result<Self, CommandError> {
        if format != OutputFormat::Text {
            return Err(CommandError::usage("--detach is for --output-format text: a detached run has no outcome"));
        }
        let View { pace, display } = self.view;
        let (detachment, display) = Detachment::watching(task, self.area.clone(), display);
        Ok(Self { view: View { pace, display }, detachment: Some(detachment), ..self })
    }
}

/// True if a task did not start although its request was in order. A hook vetoed it or used up its time, or the journal
/// could not be written.
pub(crate) fn is_held_up(failure: &Failure) -> bool {
    matches!(failure.code, FailureCode::Vetoed | FailureCode::Timeout | FailureCode::Journal)
}

/// Result of a run for its reader. Wrong usage is an error on stderr; any other error is an outcome for programs.
pub(crate) fn in_format(ended: Result<ExitCode, CommandError>, format: OutputFormat) -> Result<ExitCode, CommandError> {
    match ended {
        Err(error) if format != OutputFormat::Text => match error.failure() {
            Some(failure) => not_started(&failure, format),
            None => Err(error),
        },
        ended => ended,
    }
}

/// Report of a signal that came before a run had begun, in this format.
pub(crate) fn reporting(format: OutputFormat) -> impl Fn(&Failure) -> Result<(), CommandError> + Send + 'static {
    move |failure| not_started(failure, format).map(drop)
}

/// Ends a run that did not start, with a message on stderr for people and an outcome on stdout for programs.
pub(crate) fn not_started(failure: &Failure, format: OutputFormat) -> Result<ExitCode, CommandError> {
    match format {
        OutputFormat::Text => error::fail(&failure.message),
        OutputFormat::Json => print_not_started(failure, JsonForm::Object)?,
        OutputFormat::StreamJson => print_not_started(failure, JsonForm::Stream)?,
    }
    Ok(ExitCode::from(1))
}
