//! `sortie tasks`: what the journal holds.

mod list;
mod show;

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use sortie_journal::{SqliteJournal, TaskHeader, TaskState};

use crate::error::CommandError;
use crate::settings::Settings;

/// List tasks, or show one with its sub-agents and its report
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sortie tasks list\n  sortie tasks show agent-kvbqxmzrtyua")]
pub(crate) struct TasksArgs {
    #[command(subcommand)]
    command: TasksCommand,
}

#[derive(Debug, Subcommand)]
enum TasksCommand {
    /// List the newest tasks, newest first
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// List this many
        #[arg(long, value_name = "N", default_value = "20")]
        limit: NonZeroUsize,

        /// List sub-agents too
        #[arg(long)]
        all: bool,

        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Show one task, the tree below it, and its report
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// A task's id, or the beginning of one, with or without `agent-`
        id: String,

        /// Print its outcome as JSON, with those of its sub-agents in `children`
        #[arg(long)]
        json: bool,
    },
}

const LIST_EXAMPLES: &str = "\
Examples:
  sortie tasks list
  sortie tasks list --all --limit 100
  sortie tasks list --json | jq -r '.[].task_id'";

const SHOW_EXAMPLES: &str = "\
Examples:
  sortie tasks show agent-kvbqxmzrtyua
  sortie tasks show kvb
  sortie tasks show kvb --json | jq .usage";

pub(crate) fn run(args: &TasksArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let journal = SqliteJournal::open_read_only(&settings.places.journal())?;
    match &args.command {
        TasksCommand::List { limit, all, json } => list::run(&journal, limit.get(), *all, *json),
        TasksCommand::Show { id, json } => show::run(&journal, id, *json),
    }
}

/// Where a task stands, in one word.
fn state(header: &TaskHeader) -> String {
    match header.state {
        TaskState::Running => "running".to_owned(),
        TaskState::Interrupted => "interrupted".to_owned(),
        TaskState::Ended(status) => status.to_string(),
    }
}
