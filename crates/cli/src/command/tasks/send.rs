//! `tasks send`: words to a task, whoever runs it: a person's, or an agent's if one of its commands sends them.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use sortie_journal::{Journal, TaskHeader, TaskState};
use sortie_protocol::{Command, Fact, Sender, TaskId};
use sortie_sandbox::process::is_below_a_command;
use sortie_tools::TASK_VARIABLE;

use super::post::{self, Bookmark, Fate};
use super::show::find;
use super::stand::{Question, Stand};
use super::{parse_id, state};
use crate::command::run::piped;
use crate::error::{CommandError, ErrorKind};
use crate::render::print_json;
use crate::settings::Settings;

/// Write to a task that has not ended; it reads it at its next turn
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SendArgs {
    /// A task's id, or the beginning of one, with or without `agent-`
    #[arg(value_parser = parse_id)]
    id: String,

    /// What to tell it, or the answer to its question; `-` reads it from stdin
    message: String,

    /// Print the receipt as JSON: `delivered`, `kept` until it goes on, `missed` if it has just ended, or `left` if its
    /// process does not take it
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
A task that waits with a question of its own takes it as the answer. One that was
interrupted reads it when it goes on; one that has ended goes on with
`sortie resume ID \"…\"`.

Examples:
  sortie tasks send kvbq \"Leave the tests alone\"
  git diff | sortie tasks send kvbq -";

pub(super) fn run(args: &SendArgs, journal: &dyn Journal, settings: &Settings) -> Result<ExitCode, CommandError> {
    let header = find(journal, &args.id)?;
    if matches!(header.state, TaskState::Ended(_)) {
        return Err(ended(&header, "has ended"));
    }
    let text = text(args, settings)?;
    let from = sender(journal, settings)?;
    let answers = from == Sender::Person && asks(journal, &header)?;
    let bookmark = Bookmark::at_the_end(journal, header.task_id)?;
    let number = post::leave(settings, Command::Send { task: header.task_id, from, text })?;
    let arrived =
        |fact: &Fact| matches!(fact, Fact::MessageArrived { command: Some(command), .. } if *command == number.0);
    let fate = bookmark.wait(journal, arrived)?;
    if args.json {
        print_json(&json!({"task_id": header.task_id, "state": word(fate)}))?;
        let is_well = matches!(fate, Fate::Done | Fate::Open(TaskState::Interrupted));
        return Ok(ExitCode::from(u8::from(!is_well)));
    }
    io::stdout().lock().write_all(receipt(&header, fate, answers)?.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a task waits with a question of its own.
fn asks(journal: &dyn Journal, header: &TaskHeader) -> Result<bool, CommandError> {
    let mut stand = Stand::default();
    journal.read_each(header.task_id, 1, &mut |event| stand.see(&event.fact))?;
    Ok(matches!(stand.question, Some(Question::Open { .. })))
}

fn text(args: &SendArgs, settings: &Settings) -> Result<String, CommandError> {
    let text = if args.message == "-" { piped(settings)? } else { args.message.clone() };
    let most_bytes = settings.max_prompt_bytes();
    if text.trim().is_empty() {
        return Err(CommandError::usage("the message is empty"));
    }
    if text.len() > most_bytes {
        let message = format!("the message has more than {most_bytes} bytes (`task_tool.max_prompt_bytes`)");
        return Err(CommandError::usage(settings.with_origins(message)));
    }
    Ok(text)
}

/// Who writes. What an agent has a command do is the agent's word, never the person's.
fn sender(journal: &dyn Journal, settings: &Settings) -> Result<Sender, CommandError> {
    match settings.environment.task() {
        None if is_below_a_command() => {
            let message = format!("an agent's command sends this, and {TASK_VARIABLE}, which says whose, is not there");
            Err(CommandError::new(ErrorKind::Unready, message).hint("leave the environment of commands as it is"))
        }
        None => Ok(Sender::Person),
        Some(mark) => {
            let no_id = |_| CommandError::usage(format!("{TASK_VARIABLE} is `{mark}`, which is no task's id"));
            let task: TaskId = mark.parse().map_err(no_id)?;
            // A task of another journal has a name that nobody knows here.
            let agent = journal.find(task.letters())?.pop().map_or_else(|| "agent".to_owned(), |header| header.agent);
            Ok(Sender::Task { task, agent })
        }
    }
}

fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Done => "delivered",
        Fate::Open(TaskState::Interrupted) => "kept",
        Fate::Open(TaskState::Ended(_)) => "missed",
        Fate::Open(TaskState::Running) => "left",
    }
}

fn receipt(header: &TaskHeader, fate: Fate, answers: bool) -> Result<String, CommandError> {
    let (task, root) = (header.task_id, header.root_id);
    match fate {
        Fate::Done if answers => Ok(format!("delivered: {task} takes it as the answer to its question\n")),
        Fate::Done => Ok(format!("delivered: {task} reads it at its next turn\n")),
        Fate::Open(TaskState::Interrupted) => {
            Ok(format!("kept: {task} was interrupted, and reads it when it goes on: sortie resume {root}\n"))
        }
        Fate::Open(TaskState::Ended(status)) => Err(ended(
            &TaskHeader { state: TaskState::Ended(status), ..header.clone() },
            "ended before it could read it, and reads it if it goes on",
        )),
        Fate::Open(TaskState::Running) => {
            let message =
                format!("left for {task}, whose process has not taken it within {} s", post::PATIENCE.as_secs());
            Err(CommandError::new(ErrorKind::Internal, message)
                .hint("it reads it once its process does, or when it goes on"))
        }
    }
}

fn ended(header: &TaskHeader, how: &str) -> CommandError {
    let task = header.task_id;
    CommandError::new(ErrorKind::NotFound, format!("{task} {how}: {}", state(header)))
        .hint(format!("sortie resume {task} \"…\""))
}
