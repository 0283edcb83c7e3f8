//! `sortie cost`: tokens and cost of a run by task and by model, read from the journal.

mod json;
mod statement;
mod text;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use sortie_journal::{Journal, TaskHeader, TaskQuery};

use super::task_view::{find, parse_id};
use crate::error::{self, CommandError, ErrorKind};
use crate::render::print_json;
use crate::settings::Settings;
use crate::text::neutral;
use crate::wiring;
use statement::{Coverage, Statement};

/// Show tokens and cost of a run, by task and by model
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CostArgs {
    /// Task id or its first letters [default: the newest run of this project]
    #[arg(value_parser = parse_id)]
    id: Option<String>,

    /// Add up all tasks of all projects, by model
    #[arg(long, conflicts_with = "id")]
    all: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Each call is charged at the price known when it was made. `sortie models` shows
prices; models.toml, next to your configuration, adds to them. Tokens of a model
without a price are shown, but not counted in the cost.

Examples:
  sortie cost
  sortie cost kvbq
  sortie cost --all
  sortie cost kvbq --json | jq .total.cost_usd";

pub(crate) fn run(args: &CostArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let journal = wiring::journal_to_read(settings)?;
    let statement = if args.all {
        Statement::of(Coverage::Everything, &journal, &journal.list(&TaskQuery::default())?)?
    } else {
        Statement::of(Coverage::Branch, &journal, &journal.tree(header(args, &journal, settings)?.task_id)?)?
    };
    if args.json {
        print_json(&json::of(&statement))?;
    } else {
        io::stdout().lock().write_all(neutral::block(&text::of(&statement)).as_bytes())?;
    }
    for damage in &statement.damages {
        error::warn(damage);
    }
    Ok(if statement.damages.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The requested task.
fn header(args: &CostArgs, journal: &dyn Journal, settings: &Settings) -> Result<TaskHeader, CommandError> {
    if let Some(id) = &args.id {
        return find(journal, id);
    }
    let workspace = Some(settings.places.workspace.display().to_string());
    let query = TaskQuery { workspace, roots_only: true, limit: 1, ..TaskQuery::default() };
    journal.list(&query)?.pop().ok_or_else(|| {
        CommandError::new(ErrorKind::NotFound, "nothing has run in this project yet")
            .hint("`sortie cost --all` adds up all projects")
    })
}
