//! `sortie resume`: a task goes on where it was, or with a follow-up.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use sortie_engine::Resumption;
use sortie_journal::{Journal, TaskHeader, TaskQuery, TaskState};
use sortie_protocol::{Failure, Limits, TaskId};

use super::run::{OutputFormat, approver, detachable, display};
use super::tasks::{find, parse_id};
use crate::args::{parse_duration, with_exit_codes};
use crate::drive::{Wish, drive_or_leave};
use crate::error::{CommandError, ErrorKind};
use crate::render::{Root, ShowArgs};
use crate::settings::Settings;
use crate::wiring::{self, Plan};

/// Go on with a task: where it was interrupted, beyond a limit or a failure, or with a follow-up
#[derive(Debug, Args)]
#[command(after_help = with_exit_codes(EXAMPLES))]
pub(crate) struct ResumeArgs {
    /// A task's id, or the beginning of one; without it, the newest interrupted one of this project
    #[arg(value_parser = parse_id)]
    id: Option<String>,

    /// What it should do next; a completed task needs it
    prompt: Option<String>,

    /// What to print on stdout
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    output_format: OutputFormat,

    /// Stop after this many further model calls and report
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,

    /// Stop after this time: 90s, 5m, 1h; a bare number is seconds
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// Do not wait for sub-agents in the background: end when only they work, which then go on with `sortie resume`
    #[arg(long)]
    detach: bool,

    #[command(flatten)]
    show: ShowArgs,
}

const EXAMPLES: &str = "\
Whatever a task had recorded when its process ended is kept: nothing that was
done is done again, and what may or may not have been done is told to the model
as unknown. It may do what it was granted, within what is granted now.

Examples:
  sortie resume
  sortie resume kvbq
  sortie resume kvbq \"Now write the tests\"";

pub(crate) fn run(args: &ResumeArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let aside = args.show.aside(settings, Root::Main)?;
    let task = task(args, settings)?;
    let limits = Limits { max_turns: args.max_turns, timeout: args.timeout, ..Limits::default() };
    let resumption = Resumption { prompt: args.prompt.clone(), limits };
    let plan = Plan::new(settings)?;
    let approver = approver(args.output_format, &aside, settings);
    let (pace, display) = display(args.output_format, &args.show, aside, settings.unconfined);
    let (detachment, display) = detachable(args.detach, args.output_format, Some(task), display)?;
    let wish = Wish::Resume { task, resumption };
    drive_or_leave(plan, wish, (pace, display), approver, detachment)?.map_err(refused)
}

/// Why a task does not go on, and what can be done instead.
fn refused(failure: Failure) -> CommandError {
    let kind = match failure.code.as_str() {
        "no_such_task" => ErrorKind::NotFound,
        _ => ErrorKind::Usage,
    };
    let error = CommandError::new(kind, failure.message);
    match (failure.code.as_str(), failure.details.first()) {
        ("waited_for", Some(root)) => error.hint(format!("sortie resume {root}")),
        _ => error,
    }
}

/// The task that is meant.
fn task(args: &ResumeArgs, settings: &Settings) -> Result<TaskId, CommandError> {
    let journal = wiring::journal_to_read(settings)?;
    if let Some(id) = &args.id {
        return Ok(find(&journal, id)?.task_id);
    }
    let query = TaskQuery {
        states: vec![TaskState::Interrupted],
        workspace: Some(settings.places.workspace.display().to_string()),
        roots_only: true,
        limit: 1,
        ..TaskQuery::default()
    };
    let newest = journal.list(&query)?.into_iter().next();
    newest.map(|TaskHeader { task_id, .. }| task_id).ok_or_else(|| {
        CommandError::new(ErrorKind::NotFound, "no task of this project was interrupted")
            .hint("`sortie tasks list` lists all; `sortie resume ID \"…\"` goes on with any of them")
    })
}
