//! `tasks release`: sends a sub-agent into the background, so that its parent waits no longer.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use sortie_contract::contract;
use sortie_journal::{Journal, TaskHeader, TaskState};
use sortie_protocol::{Command, Event, Fact, TaskId};

use super::journal_command::{self, Bookmark, Fate};
use super::state;
use crate::command::task_view::{find, parse_id};
use crate::error::{CommandError, ErrorKind};
use crate::render::print_json;
use crate::settings::Settings;

/// Move a sub-agent to the background; its parent continues at once
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sortie tasks release kvbq")]
pub(super) struct ReleaseArgs {
    /// Task id or its first letters, with or without `agent-`
    #[arg(value_parser = parse_id)]
    id: String,

    /// Print the receipt as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ReleaseArgs, journal: &dyn Journal, settings: &Settings) -> Result<ExitCode, CommandError> {
    let header = find(journal, &args.id)?;
    let task = header.task_id;
    let parent = waited_for_by(&header)?;
    let call = Call::of(journal, parent, task)?;
    if call.is_answered {
        return tell(args, parent, task, "already works in the background");
    }
    call.check_background(task, settings)?;
    let bookmark = Bookmark::at_the_end(journal, parent)?;
    journal_command::leave(settings, Command::Release { task })?;
    match bookmark.wait(journal, |fact| matches!(fact, Fact::ChildReleased { child, .. } if *child == task))? {
        Fate::Done => tell(args, parent, task, "continues in the background"),
        Fate::Open(_) => Err(not_released(&find(journal, task.letters())?)),
    }
}

/// Parent of the task, if anybody can wait for the task.
fn waited_for_by(header: &TaskHeader) -> Result<TaskId, CommandError> {
    let not = |why: &str| CommandError::new(ErrorKind::NotFound, format!("{} {why}", header.task_id));
    match (header.state, header.parent_id) {
        (TaskState::Running, Some(parent)) => Ok(parent),
        (TaskState::Running, None) => Err(not("has no parent that waits for it")),
        (TaskState::Interrupted | TaskState::Ended(_), _) => Err(not(&format!("does not run: {}", state(header)))),
    }
}

/// Call of the parent that started a task.
#[derive(Default)]
struct Call {
    contract: String,
    /// True if the parent has stopped waiting, or never waited.
    is_answered: bool,
}

impl Call {
    fn of(journal: &dyn Journal, parent: TaskId, task: TaskId) -> Result<Self, CommandError> {
        let mut call = Self::default();
        let mut look = |event: Event| match event.fact {
            Fact::TaskStarted { job } => call.contract = job.contract,
            Fact::ChildStarted { child, background, .. } if child == task => call.is_answered = background,
            Fact::ChildReleased { child, .. } if child == task => call.is_answered = true,
            _ => {}
        };
        journal.read_each(parent, 1, &mut look)?;
        Ok(call)
    }

    /// Checks, as far as that is known here, that the call can be answered before the task ends.
    fn check_background(&self, task: TaskId, settings: &Settings) -> Result<(), CommandError> {
        let not = |why: &str| CommandError::new(ErrorKind::NotFound, format!("{task} cannot be released: {why}"));
        if contract(&self.contract).is_some_and(|known| !known.defaults().companions.allow_background()) {
            return Err(not(&format!("its contract has no background tasks: `{}`", self.contract)));
        }
        if !settings.rules().background {
            let why = "background tasks are switched off here (`task_tool.background`)";
            return Err(not(&settings.with_origin("task_tool.background", why.to_owned())));
        }
        Ok(())
    }
}

fn not_released(header: &TaskHeader) -> CommandError {
    let task = header.task_id;
    if header.state != TaskState::Running {
        return CommandError::new(ErrorKind::NotFound, format!("{task} is no longer running: {}", state(header)));
    }
    let message = format!("{task} was not released within {} s", journal_command::PATIENCE.as_secs());
    CommandError::new(ErrorKind::Internal, message)
        .hint("its run may have been started with `task_tool.background` off")
}

fn tell(args: &ReleaseArgs, parent: TaskId, task: TaskId, how: &str) -> Result<ExitCode, CommandError> {
    if args.json {
        print_json(&json!({"task_id": task, "parent_id": parent, "background": true}))?;
    } else {
        writeln!(io::stdout().lock(), "{task} {how}; {parent} gets its report")?;
    }
    Ok(ExitCode::SUCCESS)
}
