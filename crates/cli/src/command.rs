//! Subcommands of `sortie`, one file each: its arguments and the work that it does.

pub(crate) mod agents;
pub(crate) mod args;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod cost;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod mcp;
pub(crate) mod models;
mod person_only;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod task;
pub(crate) mod task_status;
mod task_view;
pub(crate) mod tasks;
pub(crate) mod templates;
pub(crate) mod trust;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::environment::Sources;
use crate::error::{self, CommandError};
use crate::settings::Settings;
use args::{SourceArgs, with_exit_codes};

/// Send sub-agents out to work, each with a clean context, and get their reports back.
#[derive(Debug, Parser)]
#[command(name = "sortie", version, arg_required_else_help = true, after_help = with_exit_codes(EXAMPLES))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  sortie run \"Where are authentication errors handled?\"
  ANTHROPIC_API_KEY=… sortie run \"Explain how requests are retried\"
  sortie task --agent explore --description \"Find it\" --prompt \"Where is X?\"
  sortie tasks list";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::RunArgs),
    Resume(resume::ResumeArgs),
    Task(task::TaskArgs),
    Agents(agents::AgentsArgs),
    Templates(templates::TemplatesArgs),
    Tasks(tasks::TasksArgs),
    TaskStatus(task_status::TaskStatusArgs),
    Cost(cost::CostArgs),
    Mcp(mcp::McpArgs),
    Models(models::ModelsArgs),
    Schema(schema::SchemaArgs),
    Config(config::ConfigArgs),
    Explain(explain::ExplainArgs),
    Trust(trust::TrustArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
}

/// Does what the command line asks for.
pub(crate) fn execute(cli: Cli) -> Result<ExitCode, CommandError> {
    let sources = Sources::from(cli.sources);
    match cli.command {
        Command::Run(args) => run::run(&args, &load(&sources)?),
        Command::Resume(args) => resume::run(&args, &load(&sources)?, &sources),
        Command::Task(args) => task::run(&args, &load(&sources)?),
        Command::TaskStatus(args) => task_status::run(&args, &load(&sources)?),
        Command::Cost(args) => cost::run(&args, &load(&sources)?),
        Command::Tasks(args) => tasks::run(&args, &load(&sources)?, &sources),
        Command::Templates(args) => templates::run(&args, &load(&sources)?),
        Command::Mcp(args) => mcp::run(&args, &load(&sources)?),
        Command::Models(args) => models::run(&args, &load(&sources)?),
        Command::Explain(args) => explain::run(&args, &load(&sources)?),
        Command::Schema(args) => schema::run(&args, &load(&sources)?),
        // Settings that cannot be loaded must still be found and mended.
        Command::Config(args) => config::run(&args, &sources),
        Command::Trust(args) => trust::run(&args, &sources),
        // Files that are named are checked by themselves, whatever the settings are.
        Command::Agents(args) => agents::run(&args, &sources),
        // What cannot be loaded is a part of its diagnosis.
        Command::Doctor(args) => doctor::run(&args, &sources),
        // Shells ask for completions in any place and state; no setting bears on them.
        Command::Completions(args) => completions::run(&args, &mut Cli::command()),
    }
}

/// Loads the settings and tells of what in them does not count.
fn load(sources: &Sources) -> Result<Settings, CommandError> {
    let settings = Settings::load(sources)?;
    for warning in &settings.warnings {
        error::warn(warning);
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
