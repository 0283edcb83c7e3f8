//! `sortie resume`: continues a task where it stopped, or with a follow-up.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use sortie_engine::{Clock as _, Resumption, SystemClock};
use sortie_journal::{Journal, TaskHeader, TaskQuery, TaskState};
use sortie_protocol::{Failure, FailureCode, Job, TaskId};

use super::args::{LimitArgs, with_exit_codes};
use super::person_only::only_for_persons;
use super::run::{asked_status, piped};
use super::task_status;
use super::task_view::{find, parse_id};
use crate::environment::{Confinement, Sources};
use crate::error::consent::{self, Consent};
use crate::error::{self, CommandError, ErrorKind};
use crate::render::{OutputFormat, Root, ShowArgs, state};
use crate::session::early_signals::EarlySignals;
use crate::session::presentation::{Presentation, in_format, is_held_up, not_started, reporting, stderr_progress};
use crate::session::{self, SessionStart};
use crate::settings::Settings;
use crate::text::words::{self, shell_word};
use crate::wiring::{self, Plan};

/// Resume an interrupted or failed task, or follow up on a finished one
#[derive(Debug, Args)]
#[command(after_help = with_exit_codes(EXAMPLES))]
pub(crate) struct ResumeArgs {
    /// Task id or its first letters [default: this project's last interrupted task]
    #[arg(value_parser = parse_id)]
    id: Option<String>,

    /// Follow-up, needed for a completed task; `-` reads stdin, `/NAME …` is a template
    prompt: Option<String>,

    /// Format on stdout
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    output_format: OutputFormat,

    /// Exit once only background sub-agents are running; text format only
    ///
    /// `sortie resume` continues them. The JSON formats need an outcome, which a detached run does not have.
    #[arg(long)]
    detach: bool,

    /// Take the task over from a process that cannot be seen from here
    ///
    /// Its process may be in another container, for example. Use this only if you know that it is gone. Tasks that it
    /// waits for are taken over as well.
    #[arg(long)]
    take_over: bool,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    show: ShowArgs,
}

const EXAMPLES: &str = "\
A resumed task keeps everything it recorded: no finished call is repeated, and
the model learns which calls may or may not have happened. The contract stays.
The permissions are those that the task had, within those granted now.

Limits given here count from now on. Any other limit is the one that the task
began with or, if it was interrupted, what is left of it.

Examples:
  sortie resume
  sortie resume kvbq --max-turns 80
  sortie resume kvbq --max-tokens 100k --max-cost-usd 1
  sortie resume kvbq \"Now write the tests\"";

pub(crate) fn run(args: &ResumeArgs, settings: &Settings, sources: &Sources) -> Result<ExitCode, CommandError> {
    in_format(resume(args, settings, sources), args.output_format)
}

fn resume(args: &ResumeArgs, settings: &Settings, sources: &Sources) -> Result<ExitCode, CommandError> {
    if let Some(asked) = args.prompt.as_deref().and_then(|prompt| asked_status(prompt, args.output_format)) {
        return task_status::run(&asked?, settings);
    }
    let early = EarlySignals::watch(reporting(args.output_format))?;
    only_for_persons(settings)?;
    let journal = wiring::journal_to_read(settings)?;
    let prompt = prompt(args, settings)?;
    let header = header(args, &journal, settings)?;
    say_age(&header, settings);
    let task = header.task_id;
    let Job { contract, reach, workspace, .. } = journal.beginning(task)?;
    let own = in_its_contract(task, contract, settings, sources)?;
    // No reader stays open while the task is written.
    drop(journal);
    let settings = own.as_ref().unwrap_or(settings);
    // A task started with walls keeps them, whatever the flags say now.
    let confinement = if reach.unconfined { settings.confinement } else { Confinement::Walls };
    let progress = stderr_progress(&args.show, Root::Main, settings, confinement)?;
    let resumption = Resumption { prompt, limits: args.limits.limits(), take_over: args.take_over };
    let plan = Plan::to_work(settings)?;
    let mut presentation = Presentation::new(args.output_format, &args.show, progress, settings, confinement);
    if args.detach {
        presentation = presentation.detachable(args.output_format, Some(task))?;
    }
    match session::run(plan, SessionStart::Resume { task, resumption }, presentation, early)? {
        Err(failure) if is_held_up(&failure) => not_started(&failure, args.output_format),
        Err(failure) if failure.code == FailureCode::OtherWorkspace => {
            let error = refused(failure, args.take_over);
            let prompt = args.prompt.as_deref().map(|prompt| format!(" {}", shell_word(prompt))).unwrap_or_default();
            Err(error.hint(format!("cd {} && sortie resume {task}{prompt}", shell_word(&workspace))))
        }
        ended => ended.map_err(|failure| refused(failure, args.take_over)),
    }
}

/// Error for a task that cannot be resumed, with what to do instead.
fn refused(failure: Failure, takes_over: bool) -> CommandError {
    let kind = match failure.code {
        FailureCode::NoSuchTask => ErrorKind::NotFound,
        FailureCode::StillRunning | FailureCode::OutOfSight | FailureCode::WaitedFor | FailureCode::Journal => {
            ErrorKind::Unready
        }
        _ => ErrorKind::Usage,
    };
    let error = CommandError::new(kind, failure.message).with_code(failure.code.clone());
    match (&failure.code, failure.details.first()) {
        (FailureCode::OutOfSight, _) => error.hint("--take-over, if the process is gone"),
        (FailureCode::WaitedFor, Some(root)) if takes_over => error.hint(format!("sortie resume {root} --take-over")),
        (FailureCode::WaitedFor, Some(root)) => error.hint(format!("sortie resume {root}")),
        _ => error,
    }
}

/// Settings in the contract that the task was started in, if the current ones are in another.
fn in_its_contract(
    task: TaskId,
    own: String,
    settings: &Settings,
    sources: &Sources,
) -> Result<Option<Settings>, CommandError> {
    let here = settings.contract().name();
    if own == here {
        return Ok(None);
    }
    if sources.name_contract() {
        let message = format!("{task} was started in the contract `{own}` and cannot be resumed in `{here}`");
        return Err(CommandError::usage(message).hint("leave the contract out: a task resumes in its own"));
    }
    if sortie_contract::contract(&own).is_none() {
        let message = format!("{task} was started in the contract `{own}`, which this version does not know");
        return Err(CommandError::usage(message));
    }
    Settings::load(&Sources { contract: Some(own), ..sources.clone() }).map(Some)
}

/// The follow-up, if there is one.
fn prompt(args: &ResumeArgs, settings: &Settings) -> Result<Option<String>, CommandError> {
    let prompt = match args.prompt.as_deref() {
        Some("-") => Some(piped(settings)?),
        given => given.map(str::to_owned),
    };
    match prompt {
        Some(prompt) if prompt.trim().is_empty() => {
            Err(CommandError::usage("the prompt is empty").hint("without one, a task resumes where it stopped"))
        }
        prompt => Ok(prompt),
    }
}

/// Notes the age of a task too old for calls to resume; a person still can.
fn say_age(header: &TaskHeader, settings: &Settings) {
    let age = Duration::from_millis(SystemClock.now().0.saturating_sub(header.updated.0));
    if settings.rules().resume_within.is_some_and(|within| age > within) {
        let days = age.as_secs() / (24 * 60 * 60);
        error::note(&format!("{} was last active {days} days ago; much may have changed since", header.task_id));
    }
}

/// The requested task.
fn header(args: &ResumeArgs, journal: &dyn Journal, settings: &Settings) -> Result<TaskHeader, CommandError> {
    if let Some(id) = &args.id {
        return find(journal, id);
    }
    let workspace = Some(settings.places.workspace.display().to_string());
    let all = TaskQuery { workspace, roots_only: true, ..TaskQuery::default() };
    let query = TaskQuery { states: vec![TaskState::Interrupted], ..all.clone() };
    let last = newest(journal.list(&query)?, |task| Ok(journal.standing(task)?.state))?.ok_or_else(|| {
        CommandError::new(ErrorKind::NotFound, "no task of this project was interrupted")
            .hint("`sortie tasks list` lists its tasks; `sortie resume ID \"…\"` resumes any of them")
    })?;
    let youngest = journal.list(&TaskQuery { limit: 1, ..all })?.into_iter().next();
    match youngest.filter(|youngest| youngest.task_id != last.task_id) {
        Some(youngest) => ask(&last, &youngest)?,
        None => error::note(&format!("resuming {}", described(&last))),
    }
    Ok(last)
}

/// Asks before an older task is resumed than a person may have in mind. Without a person, a note says so.
fn ask(last: &TaskHeader, youngest: &TaskHeader) -> Result<(), CommandError> {
    let subject = format!("The newest task here is {}.\n", described(youngest));
    match consent::ask(&subject, &format!("Resume {}?", described(last))) {
        Consent::Yes => Ok(()),
        Consent::No => Err(CommandError::new(ErrorKind::Unready, "nothing was resumed")
            .hint(format!("sortie resume {} \"…\"", youngest.task_id))),
        Consent::Nobody => {
            error::note(&format!("resuming {}", described(last)));
            error::note(&format!("the newest task here is {}", described(youngest)));
            Ok(())
        }
    }
}

fn described(header: &TaskHeader) -> String {
    format!("{}, {}: {}", header.task_id, state(header), words::title(&header.title))
}

/// Picks the most recently active task among those whose state is still as listed. A process that ended its task and
/// itself while the list was read would seem to have abandoned it.
fn newest(
    mut tasks: Vec<TaskHeader>,
    state_now: impl Fn(TaskId) -> Result<TaskState, CommandError>,
) -> Result<Option<TaskHeader>, CommandError> {
    tasks.sort_by_key(|header| header.updated);
    while let Some(last) = tasks.pop() {
        if state_now(last.task_id)? == last.state {
            return Ok(Some(last));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use sortie_journal::Worked;
    use sortie_protocol::{Status, Timestamp};

    use super::*;

    fn interrupted(letter: u8, updated: u64) -> TaskHeader {
        let task_id = TaskId::from_random([letter; 12]);
        TaskHeader {
            task_id,
            parent_id: None,
            root_id: task_id,
            depth: 0,
            leg: 1,
            agent: "main".to_owned(),
            title: String::new(),
            workspace: String::new(),
            state: TaskState::Interrupted,
            started: Timestamp(0),
            updated: Timestamp(updated),
            worked: Worked::begin(Timestamp(0)),
        }
    }

    #[test]
    fn a_task_that_has_ended_since_it_was_listed_is_not_resumed() {
        let (old, new) = (interrupted(0, 1), interrupted(1, 2));
        let ended = new.task_id;
        let all_as_they_were = newest(vec![old.clone(), new.clone()], |_| Ok(TaskState::Interrupted)).unwrap();
        assert_eq!(all_as_they_were, Some(new.clone()));
        let now = |task| Ok(if task == ended { TaskState::Ended(Status::Completed) } else { TaskState::Interrupted });
        assert_eq!(newest(vec![old.clone(), new.clone()], now).unwrap(), Some(old));
        assert_eq!(newest(vec![new], now).unwrap(), None);
    }
}
