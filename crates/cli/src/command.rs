//! The commands, one file each: its arguments and what it does with them.

pub(crate) mod agents;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod task;
pub(crate) mod tasks;

use std::process::ExitCode;

use crate::args::{Cli, Command};
use crate::error::{self, CommandError};
use crate::settings::{Settings, Sources};

/// Does what the command line asks for.
pub(crate) fn execute(cli: Cli) -> Result<ExitCode, CommandError> {
    let sources = Sources::from(cli.sources);
    match cli.command {
        Command::Run(args) => run::run(&args, &load(&sources)?),
        Command::Task(args) => task::run(&args, &load(&sources)?),
        Command::Agents(args) => load(&sources).and_then(|_| agents::run(&args)),
        Command::Tasks(args) => tasks::run(&args, &load(&sources)?),
        Command::Schema(args) => load(&sources).and_then(|_| schema::run(&args)),
        Command::Config(args) => config::run(&args, &load(&sources)?),
        // Shells ask for completions in any place and state; no setting bears on them.
        Command::Completions(args) => completions::run(&args),
    }
}

fn load(sources: &Sources) -> Result<Settings, CommandError> {
    let settings = Settings::load(sources)?;
    for warning in &settings.warnings {
        error::warn(warning);
    }
    Ok(settings)
}
