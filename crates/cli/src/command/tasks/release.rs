//! `tasks release`: a sub-agent that its parent waits for goes on in the background.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use sortie_journal::{Journal, TaskHeader, TaskState};
use sortie_protocol::{Command, Event, Fact, TaskId};

use super::post::{self, Bookmark, Fate};
use super::show::find;
use super::{parse_id, state};
use crate::error::{CommandError, ErrorKind};
use crate::render::print_json;
use crate::settings::Settings;

/// Let a sub-agent go on in the background: its parent goes on at once, and gets the report later
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sortie tasks release kvbq")]
pub(super) struct ReleaseArgs {
    /// A task's id, or the beginning of one, with or without `agent-`
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
    if is_in_background(journal, parent, task)? {
        return tell(args, (parent, task), "works in the background already");
    }
    let bookmark = Bookmark::at_the_end(journal, parent)?;
    post::leave(settings, Command::Release { task })?;
    match bookmark.wait(journal, |fact| matches!(fact, Fact::ChildReleased { child, .. } if *child == task))? {
        Fate::Done => tell(args, (parent, task), "goes on in the background"),
        Fate::Open(_) => Err(not_released(&find(journal, task.letters())?)),
    }
}

/// The parent, if the task can have somebody who waits for it.
fn waited_for_by(header: &TaskHeader) -> Result<TaskId, CommandError> {
    let not = |why: &str| CommandError::new(ErrorKind::NotFound, format!("{} {why}", header.task_id));
    match (header.state, header.parent_id) {
        (TaskState::Running, Some(parent)) => Ok(parent),
        (TaskState::Running, None) => Err(not("was started by nobody who waits for it")),
        (TaskState::Interrupted | TaskState::Ended(_), _) => Err(not(&format!("does not run: {}", state(header)))),
    }
}

/// Whether the parent has ceased to wait, or never did.
fn is_in_background(journal: &dyn Journal, parent: TaskId, task: TaskId) -> Result<bool, CommandError> {
    let mut released = false;
    let mut look = |event: Event| match event.fact {
        Fact::ChildStarted { child, background, .. } if child == task => released = background,
        Fact::ChildReleased { child, .. } if child == task => released = true,
        _ => {}
    };
    journal.read_each(parent, 1, &mut look)?;
    Ok(released)
}

fn not_released(header: &TaskHeader) -> CommandError {
    let task = header.task_id;
    if header.state != TaskState::Running {
        return CommandError::new(ErrorKind::NotFound, format!("{task} does not run any more: {}", state(header)));
    }
    let message = format!("{task} was not let go within {} s", post::PATIENCE.as_secs());
    CommandError::new(ErrorKind::Internal, message)
        .hint("its run may have no work in the background: contract `typed` or `sortie`, `task_tool.background`")
}

fn tell(args: &ReleaseArgs, (parent, task): (TaskId, TaskId), how: &str) -> Result<ExitCode, CommandError> {
    if args.json {
        print_json(&json!({"task_id": task, "parent_id": parent, "background": true}))?;
    } else {
        writeln!(io::stdout().lock(), "{task} {how}; {parent} gets its report")?;
    }
    Ok(ExitCode::SUCCESS)
}
