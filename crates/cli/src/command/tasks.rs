//! `sortie tasks`: what the journal holds.

mod activity;
mod follow;
mod journal_command;
mod legs;
mod list;
mod output;
mod prune;
mod release;
mod retry;
mod send;
mod show;
mod stop;
mod tree_order;

pub(super) use activity::Question;
pub(super) use legs::Legs;
pub(super) use show::find;
pub(super) use tree_order::as_tree;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use sortie_contract::Contract;
use sortie_journal::TaskHeader;

use super::args::parse_count;
use super::person_only::only_for_persons;
use super::resume::{self, ResumeArgs};
use crate::environment::Sources;
use crate::error::CommandError;
use crate::render::state;
use crate::settings::Settings;
use crate::wiring;
use prune::PruneArgs;
use release::ReleaseArgs;
use retry::RetryArgs;
use send::SendArgs;

/// List tasks; show, follow or stop one, write to it, go on with it, or remove old ones
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sortie tasks list\n  sortie tasks show agent-kvbqxmzrtyua")]
pub(crate) struct TasksArgs {
    #[command(subcommand)]
    command: TasksCommand,
}

#[derive(Debug, Subcommand)]
enum TasksCommand {
    /// List the newest tasks, newest first: running, interrupted, or how they ended
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// List this many
        #[arg(long, value_name = "N", default_value = "20", value_parser = parse_count)]
        limit: usize,

        /// List sub-agents too, below those that started them, and count them
        #[arg(long)]
        all: bool,

        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Show one task, the tree below it, and its report, or what it has done so far
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// A task's id, or the beginning of one, with or without `agent-`
        #[arg(value_parser = parse_id)]
        id: String,

        /// Print its outcome as JSON, with those of its sub-agents in `children`
        #[arg(long)]
        json: bool,
    },
    /// Print a task's newest report alone and whole, also where it was cut; or follow what it does
    #[command(after_help = OUTPUT_EXAMPLES)]
    Output {
        /// A task's id, or the beginning of one, with or without `agent-`
        #[arg(value_parser = parse_id)]
        id: String,

        /// Print the outcome as JSON, with the whole report in `text`
        #[arg(long, conflicts_with = "follow")]
        json: bool,

        /// Print what it does, line by line, until it ends; the exit code is that of its ending
        #[arg(long)]
        follow: bool,
    },
    /// Stop a task and all below it, in whatever process it runs
    #[command(after_help = "Examples:\n  sortie tasks stop kvbq\n  sortie tasks stop kvbq --json | jq -r '.stopped[]'")]
    Stop {
        /// A task's id, or the beginning of one, with or without `agent-`
        #[arg(value_parser = parse_id)]
        id: String,

        /// Print the ids of what was stopped as JSON
        #[arg(long)]
        json: bool,
    },
    Send(SendArgs),
    Release(ReleaseArgs),
    Resume(ResumeArgs),
    Retry(RetryArgs),
    Prune(PruneArgs),
}

impl TasksCommand {
    /// Whether it tells a task something; the others look, or tidy up.
    fn is_a_persons_word(&self) -> bool {
        match self {
            Self::Stop { .. } | Self::Send(_) | Self::Release(_) | Self::Resume(_) | Self::Retry(_) => true,
            Self::List { .. } | Self::Show { .. } | Self::Output { .. } | Self::Prune(_) => false,
        }
    }
}

const LIST_EXAMPLES: &str = "\
A task that is `interrupted` has no process any more and no ending yet: `sortie
resume ID` goes on with it, `sortie tasks stop ID` ends it. How long it took is
the time in which somebody ran it.

Examples:
  sortie tasks list
  sortie tasks list --all --limit 100
  sortie tasks list --json | jq -r '.[].task_id'";

const OUTPUT_EXAMPLES: &str = "\
Examples:
  sortie tasks output kvbq
  sortie tasks output kvbq --follow
  sortie tasks output kvbq --json | jq -r .text";

const SHOW_EXAMPLES: &str = "\
Examples:
  sortie tasks show agent-kvbqxmzrtyua
  sortie tasks show kvb
  sortie tasks show kvb --json | jq .usage";

pub(crate) fn run(args: &TasksArgs, settings: &Settings, sources: &Sources) -> Result<ExitCode, CommandError> {
    if args.command.is_a_persons_word() {
        only_for_persons(settings)?;
    }
    let (journal, contract) = (wiring::journal_to_read(settings)?, settings.contract());
    match &args.command {
        TasksCommand::List { limit, all, json } => list::run(&journal, contract.as_ref(), (*limit, *all), *json),
        TasksCommand::Show { id, json } => show::run(&journal, contract.as_ref(), id, *json),
        TasksCommand::Output { id, follow: true, .. } => follow::run(&journal, id),
        TasksCommand::Output { id, json, .. } => output::run(&journal, contract.as_ref(), id, *json),
        TasksCommand::Stop { id, json } => stop::run(settings, id, *json),
        TasksCommand::Send(args) => send::run(args, &journal, settings),
        TasksCommand::Release(args) => release::run(args, &journal, settings),
        TasksCommand::Resume(args) => resume::run(args, settings, sources),
        TasksCommand::Retry(args) => retry::run(args, &journal, settings),
        TasksCommand::Prune(args) => prune::run(args, settings),
    }
}

/// The same in the word of a contract, with ours behind it where that says more: `error (cancelled)`.
fn state_in(contract: &dyn Contract, header: &TaskHeader) -> String {
    let ours = state(header);
    match contract.status_word(&ours) {
        word if word == ours => ours,
        word => format!("{word} ({ours})"),
    }
}

pub(super) fn parse_id(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("give a task's id, or the beginning of one") } else { Ok(text.to_owned()) }
}
