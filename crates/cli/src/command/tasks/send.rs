//! `tasks send`: sends a person's message to a task, whichever process runs it.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use sortie_journal::{Journal, TaskHeader, TaskState};
use sortie_protocol::{Command, Fact, Sender};
use sortie_tools::MAX_MESSAGE_BYTES;

use super::journal_command::{self, Bookmark, Fate};
use super::state;
use crate::command::task_view::{Activity, Question, find, parse_id, short};
use crate::error::stdin::{Input, read_stdin};
use crate::error::{CommandError, ErrorKind};
use crate::render::print_json;
use crate::settings::Settings;

/// Send a message, which a running task reads at its next turn
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SendArgs {
    /// Task id or its first letters, with or without `agent-`
    #[arg(value_parser = parse_id)]
    id: String,

    /// Message, or answer to its question, up to 16 KiB; `-` reads it from stdin
    message: String,

    /// Print the receipt as JSON
    ///
    /// Its status is `delivered`, `kept` until the task resumes, `missed` if the task has just ended, or `left` if its
    /// process does not respond.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
A task that waits for an answer takes the message as its answer. An interrupted
task reads it when resumed. To follow up on a task that has ended, use
`sortie resume ID \"…\"`.

Examples:
  sortie tasks send kvbq \"Leave the tests alone\"
  git diff | sortie tasks send kvbq -";

pub(super) fn run(args: &SendArgs, journal: &dyn Journal, settings: &Settings) -> Result<ExitCode, CommandError> {
    let header = find(journal, &args.id)?;
    if matches!(header.state, TaskState::Ended(_)) {
        return Err(ended(&header, "has ended"));
    }
    let text = text(args)?;
    let answers = stand(journal, &header)?.questions.iter().any(|question| matches!(question, Question::Open { .. }));
    let bookmark = Bookmark::at_the_end(journal, header.task_id)?;
    let command = journal_command::leave(settings, Command::Send { task: header.task_id, from: Sender::Person, text })?;
    let message = Cell::new(None);
    let arrived = |fact: &Fact| match fact {
        Fact::MessageArrived { number, command: Some(by), .. } if *by == command.0 => {
            message.set(Some(*number));
            true
        }
        _ => false,
    };
    let fate = match bookmark.wait(journal, arrived)? {
        // A sender that learns of the miss will repeat the message, and the task must not read it twice.
        Fate::Open(TaskState::Ended(_)) => {
            journal_command::leave(settings, Command::Withdraw { task: header.task_id, command: command.0 })?;
            // Somebody may have resumed the task before that, and then it has the message.
            bookmark.wait(journal, arrived)?
        }
        fate => fate,
    };
    let answered = match message.get().filter(|_| answers) {
        Some(message) => answered(journal, bookmark, message)?,
        None => None,
    };
    let permissions = if fate == Fate::Done { permissions(stand(journal, &header)?) } else { Vec::new() };
    if args.json {
        let mut object = json!({"task_id": header.task_id, "state": word(fate)});
        if let Some(question) = answered {
            object["question"] = json!(question);
        }
        if !permissions.is_empty() {
            object["asks"] = json!(permissions);
        }
        print_json(&object)?;
        let is_well = matches!(fate, Fate::Done | Fate::Open(TaskState::Interrupted));
        return Ok(ExitCode::from(u8::from(!is_well)));
    }
    let mut receipt = receipt(&header, fate, answered.as_deref())?;
    for rule in permissions {
        let _infallible = writeln!(
            receipt,
            "this does not answer its approval request: {rule}\nthat is answered at the terminal of its run"
        );
    }
    io::stdout().lock().write_all(receipt.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Current activity of the task.
fn stand(journal: &dyn Journal, header: &TaskHeader) -> Result<Activity, CommandError> {
    let mut stand = Activity::default();
    journal.read_each(header.task_id, 1, &mut |event| stand.see(&event.fact))?;
    Ok(stand)
}

/// Approvals that it waits for: no message answers those.
fn permissions(stand: Activity) -> Vec<String> {
    let asked = stand.questions.into_iter().filter_map(|question| match question {
        Question::Approval { rule, .. } => Some(rule),
        Question::Open { .. } => None,
    });
    asked.collect()
}

/// Question that a message answered. The log shows it as soon as the task has read the message.
fn answered(journal: &dyn Journal, bookmark: Bookmark, message: u32) -> Result<Option<String>, CommandError> {
    let answered_call = |fact: &Fact| match fact {
        Fact::CallFinished { output, .. } => {
            Some(output.call.clone()).filter(|_| output.output.mail.messages.contains(&message))
        }
        _ => None,
    };
    let is_read = |fact: &Fact| match fact {
        Fact::MailRead { mail, .. } => mail.messages.contains(&message),
        fact => answered_call(fact).is_some(),
    };
    bookmark.wait(journal, is_read)?;
    let (mut asked, mut answered) = (Vec::new(), None);
    journal.read_each(bookmark.task, 1, &mut |event| match event.fact {
        Fact::QuestionAsked { call, text, .. } => asked.push((call, text)),
        fact => answered = answered_call(&fact).or(answered.take()),
    })?;
    let question = asked.into_iter().rfind(|(call, _)| answered.as_ref() == Some(call));
    Ok(question.map(|(_, text)| short(&text)))
}

fn text(args: &SendArgs) -> Result<String, CommandError> {
    let text = if args.message == "-" { piped()? } else { args.message.clone() };
    if text.trim().is_empty() {
        return Err(CommandError::usage("the message is empty"));
    }
    if text.len() > MAX_MESSAGE_BYTES {
        return Err(too_long());
    }
    Ok(text)
}

fn piped() -> Result<String, CommandError> {
    match read_stdin(MAX_MESSAGE_BYTES)? {
        Input::Text(text) => Ok(text),
        Input::NotText { byte } => Err(CommandError::usage(format!("stdin is not valid UTF-8 (byte {byte})"))),
        Input::TooLong => Err(too_long()),
    }
}

fn too_long() -> CommandError {
    let message = format!("the message has more than {MAX_MESSAGE_BYTES} bytes, the most that can be sent at once");
    CommandError::usage(message).hint("write it to a file, and send the file's name")
}

fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Done => "delivered",
        Fate::Open(TaskState::Interrupted) => "kept",
        Fate::Open(TaskState::Ended(_)) => "missed",
        Fate::Open(TaskState::Running) => "left",
    }
}

fn receipt(header: &TaskHeader, fate: Fate, answered: Option<&str>) -> Result<String, CommandError> {
    let (task, root) = (header.task_id, header.root_id);
    match (fate, answered) {
        (Fate::Done, Some(question)) => Ok(format!("delivered: {task} takes it as the answer to: {question}\n")),
        (Fate::Done, None) => Ok(format!("delivered: {task} reads it at its next turn, unless it ends before\n")),
        (Fate::Open(TaskState::Interrupted), _) => {
            Ok(format!("kept: {task} was interrupted, and reads it when resumed: sortie resume {root}\n"))
        }
        (Fate::Open(TaskState::Ended(status)), _) => Err(ended(
            &TaskHeader { state: TaskState::Ended(status), ..header.clone() },
            "ended before it could read it, and will not read it",
        )),
        (Fate::Open(TaskState::Running), _) => {
            let message = format!(
                "left for {task}, whose process has not read it within {} s",
                journal_command::PATIENCE.as_secs()
            );
            Err(CommandError::new(ErrorKind::Internal, message)
                .hint("the task reads it when its process responds, or when resumed"))
        }
    }
}

fn ended(header: &TaskHeader, how: &str) -> CommandError {
    let task = header.task_id;
    CommandError::new(ErrorKind::NotFound, format!("{task} {how}: {}", state(header)))
        .hint(format!("sortie resume {task} \"…\""))
}
