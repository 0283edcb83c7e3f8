//! `sortie agents`: lists, shows, checks, creates and matches agents.

mod check;
mod list;
mod new;
mod ranking;
mod show;
mod unserved_models;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueHint};
use sortie_agents::Agents as _;
use sortie_engine::cast;

use super::args::{ReportFormat, parse_count};
use crate::environment::Sources;
use crate::error::CommandError;
use crate::wiring;
use new::NewArgs;

pub(crate) use check::sum_of;
pub(crate) use unserved_models::with_unserved;

/// List, show, check, create or match agents
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    command: AgentsCommand,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// List agents with origin, model, turn limit and purpose, and unusable agent files
    #[command(after_help = "Examples:\n  sortie agents list\n  sortie agents list --contract typed")]
    List,
    /// Show one agent: its file, tools, limits and role prompt
    #[command(after_help = "Examples:\n  sortie agents show explore\n  sortie agents show Plan --contract typed")]
    Show {
        /// Name of the agent
        name: String,
    },
    /// Check agent files for mistakes
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// Files to check [default: every folder that agents are read from]
        #[arg(value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    New(NewArgs),
    /// Find the agent that suits a text best, and explain the ranking
    #[command(after_help = MATCH_EXAMPLES)]
    Match {
        /// Request to match against the agents' descriptions
        text: String,

        /// Show this many agents
        #[arg(long, value_name = "N", default_value = "5", value_parser = parse_count)]
        limit: usize,

        /// Format on stdout
        #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
        output_format: ReportFormat,
    },
}

const EXAMPLES: &str = "\
Agents are Markdown files with front matter. If several have the same name, the
first in this order counts:
  .sortie/agents and .claude/agents in the project
  $XDG_CONFIG_HOME/sortie/agents and ~/.claude/agents
  the agents built into Sortie

Examples:
  sortie agents list
  sortie agents new reviewer
  sortie agents check
  sortie agents match \"plan a change of the login\"";

const CHECK_EXAMPLES: &str = "\
Exit codes: 0 all files are usable, perhaps with warnings; 1 one is not.

Examples:
  sortie agents check
  sortie agents check .sortie/agents/*.md";

const MATCH_EXAMPLES: &str = "\
Exit codes: 0 an agent matches; 1 none matches well enough.

Examples:
  sortie agents match \"plan a change of the login\"
  sortie agents match \"find things in code\" --output-format json | jq .best";

pub(crate) fn run(args: &AgentsArgs, sources: &Sources) -> Result<ExitCode, CommandError> {
    if let AgentsCommand::Check { files } = &args.command
        && !files.is_empty()
    {
        return check::files(files);
    }
    let settings = super::load(sources)?;
    if let AgentsCommand::New(args) = &args.command {
        return new::run(args, &settings);
    }
    let agents = wiring::agents(&settings)?.current();
    match &args.command {
        AgentsCommand::List => list::run(&agents, settings.contract().as_ref(), &settings.rules()),
        AgentsCommand::Show { name } => {
            let contract = settings.contract();
            let agents = cast(&agents, contract.as_ref(), &settings.rules());
            show::run(show::meant(&agents, name, contract.as_ref())?, contract.as_ref())
        }
        AgentsCommand::Match { text, limit, output_format } => ranking::run(&agents, text, *limit, *output_format),
        AgentsCommand::Check { .. } | AgentsCommand::New(_) => check::folders(agents, &settings),
    }
}
