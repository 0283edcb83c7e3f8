//! `tasks output`: prints the latest report of a task in full. During a leg, that is the report of the previous one.

use std::fs;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use sortie_contract::{Contract, outcome_object};
use sortie_journal::{Journal, TaskState};
use sortie_protocol::TaskOutcome;

use super::state_in;
use crate::command::task_view::{find, parse_id};
use crate::error::{self, CommandError, ErrorKind};
use crate::render::print_json;
use crate::text::neutral;

/// Print a task's latest report in full, or follow its activity
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct OutputArgs {
    /// Task id or its first letters, with or without `agent-`
    #[arg(value_parser = parse_id)]
    pub(super) id: String,

    /// Print the outcome as JSON, with the full report in `text`
    #[arg(long, conflicts_with = "follow")]
    json: bool,

    /// Print its activity until it ends; the exit code is the task's
    #[arg(long)]
    pub(super) follow: bool,
}

const EXAMPLES: &str = "\
Examples:
  sortie tasks output kvbq
  sortie tasks output kvbq --follow
  sortie tasks output kvbq --json | jq -r .text";

pub(super) fn run(args: &OutputArgs, journal: &dyn Journal, contract: &dyn Contract) -> Result<ExitCode, CommandError> {
    let header = find(journal, &args.id)?;
    let task = header.task_id;
    let Some(mut outcome) = journal.ending(task)? else {
        let message = format!("{task} has no report: {}", state_in(contract, &header));
        let hint = format!("`sortie tasks show {task}` shows what it has done so far");
        return Err(CommandError::new(ErrorKind::NotFound, message).hint(hint));
    };
    if !matches!(header.state, TaskState::Ended(_)) {
        let (state, leg) = (state_in(contract, &header), header.leg);
        error::note(&format!("leg {leg} of {task} is {state}; this is the report of leg {}", leg.saturating_sub(1)));
    }
    let code = match restore(&mut outcome) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            error::warn(&format!("only part of the report is available: {why}"));
            ExitCode::from(1)
        }
    };
    if args.json {
        print_json(&outcome_object(&outcome))?;
    } else if !outcome.text.is_empty() {
        let text = neutral::block(&outcome.text);
        let end = if text.ends_with('\n') { "" } else { "\n" };
        write!(io::stdout().lock(), "{text}{end}")?;
    } else {
        return Err(without_text(&outcome, &state_in(contract, &header)));
    }
    Ok(code)
}

/// Error for a task that ended before it wrote anything.
fn without_text(outcome: &TaskOutcome, state: &str) -> CommandError {
    let task = outcome.task_id;
    let why = outcome.error.as_ref().map(|failure| format!(": {} ({})", failure.message, failure.code));
    let message = format!("{task} has no report: {state}{}", why.unwrap_or_default());
    CommandError::new(ErrorKind::NotFound, message).hint(format!("`sortie tasks show {task}` shows what it has done"))
}

/// Replaces a shortened report by the full one.
fn restore(outcome: &mut TaskOutcome) -> Result<(), String> {
    if !outcome.truncated {
        return Ok(());
    }
    let path = outcome.full_text_path.as_ref().ok_or("the full report could not be stored when it was cut")?;
    outcome.text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    (outcome.truncated, outcome.truncation) = (false, None);
    Ok(())
}
