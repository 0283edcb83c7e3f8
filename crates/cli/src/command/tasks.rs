//! `sortie tasks`: lists, shows, follows, stops, messages, retries and removes tasks.

mod follow;
mod journal_command;
mod list;
mod output;
mod prune;
mod release;
mod retry;
mod send;
mod show;
mod stop;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use sortie_contract::Contract;
use sortie_journal::TaskHeader;

use super::person_only::only_for_persons;
use super::resume::{self, ResumeArgs};
use crate::environment::Sources;
use crate::error::CommandError;
use crate::render::state;
use crate::settings::Settings;
use crate::wiring;
use list::ListArgs;
use output::OutputArgs;
use prune::PruneArgs;
use release::ReleaseArgs;
use retry::RetryArgs;
use send::SendArgs;
use show::ShowTaskArgs;
use stop::StopArgs;

/// List, show, follow, stop, message, release, resume, retry or prune tasks
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sortie tasks list\n  sortie tasks show agent-kvbqxmzrtyua")]
pub(crate) struct TasksArgs {
    #[command(subcommand)]
    command: TasksCommand,
}

#[derive(Debug, Subcommand)]
enum TasksCommand {
    List(ListArgs),
    Show(ShowTaskArgs),
    Output(OutputArgs),
    Stop(StopArgs),
    Send(SendArgs),
    Release(ReleaseArgs),
    Resume(ResumeArgs),
    Retry(RetryArgs),
    Prune(PruneArgs),
}

impl TasksCommand {
    /// True for commands that act on a task; the others only look, or tidy up.
    fn is_a_persons_word(&self) -> bool {
        match self {
            Self::Stop(_) | Self::Send(_) | Self::Release(_) | Self::Resume(_) | Self::Retry(_) => true,
            Self::List(_) | Self::Show(_) | Self::Output(_) | Self::Prune(_) => false,
        }
    }
}

pub(crate) fn run(args: &TasksArgs, settings: &Settings, sources: &Sources) -> Result<ExitCode, CommandError> {
    if args.command.is_a_persons_word() {
        only_for_persons(settings)?;
    }
    let (journal, contract) = (wiring::journal_to_read(settings)?, settings.contract());
    match &args.command {
        TasksCommand::List(args) => list::run(args, &journal, settings),
        TasksCommand::Show(args) => show::run(args, &journal, contract.as_ref()),
        TasksCommand::Output(args) if args.follow => follow::run(&journal, &args.id),
        TasksCommand::Output(args) => output::run(args, &journal, contract.as_ref()),
        TasksCommand::Stop(args) => stop::run(args, settings),
        TasksCommand::Send(args) => send::run(args, &journal, settings),
        TasksCommand::Release(args) => release::run(args, &journal, settings),
        TasksCommand::Resume(args) => resume::run(args, settings, sources),
        TasksCommand::Retry(args) => retry::run(args, &journal, settings),
        TasksCommand::Prune(args) => prune::run(args, settings),
    }
}

/// State in the contract's word, followed by ours if that says more: `error (cancelled)`.
fn state_in(contract: &dyn Contract, header: &TaskHeader) -> String {
    let ours = state(header);
    match contract.status_word(&ours) {
        word if word == ours => ours,
        word => format!("{word} ({ours})"),
    }
}
