//! `sortie agents`: lists, shows, checks, writes and chooses agents.

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

/// List, show, check, write or choose agents
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    command: AgentsCommand,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// List the agents of the contract in use: names, origins, models, turns and what each is for
    #[command(after_help = "Examples:\n  sortie agents list\n  sortie agents list --contract typed")]
    List,
    /// Show one agent as the contract in use has it: its file, tools, limits and role prompt
    #[command(after_help = "Examples:\n  sortie agents show explore\n  sortie agents show Plan --contract typed")]
    Show {
        name: String,
    },
    /// Say what is wrong with agent files; exit 1 if one cannot be used
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// Check these files; without any, all folders that agents are read from
        #[arg(value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    New(NewArgs),
    /// Say which agent suits a text, and why
    #[command(after_help = MATCH_EXAMPLES)]
    Match {
        text: String,

        /// Show this many agents
        #[arg(long, value_name = "N", default_value = "5", value_parser = parse_count)]
        limit: usize,

        /// What to print on stdout
        #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
        output_format: ReportFormat,
    },
}

const EXAMPLES: &str = "\
Agents are Markdown files with front matter. Nearest first, they come from
  .sortie/agents and .claude/agents of the project
  $XDG_CONFIG_HOME/sortie/agents and ~/.claude/agents
and from Sortie itself.

Examples:
  sortie agents list
  sortie agents new reviewer
  sortie agents check
  sortie agents match \"where are errors handled\"";

const CHECK_EXAMPLES: &str = "\
Exit codes: 0 usable, perhaps with warnings; 1 something cannot be used.

Examples:
  sortie agents check
  sortie agents check .sortie/agents/*.md";

const MATCH_EXAMPLES: &str = "\
Exit codes: 0 one is chosen; 1 no agent matches well enough.

Examples:
  sortie agents match \"review this change for security\"
  sortie agents match \"find the tests\" --output-format json | jq -r .best";

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
