//! `sortie config`: shows the settings with their origins, and opens their file in an editor.

mod edit;
mod show;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::environment::{Places, Sources};
use crate::error::CommandError;
use crate::settings::Settings;

/// Show or edit settings
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// List every setting with its value and origin; API keys are masked
    #[command(after_help = EXAMPLES)]
    Show,
    /// Print the path of your configuration file
    #[command(after_help = PATH_EXAMPLES)]
    Path {
        /// Print the path of the project's configuration file instead
        #[arg(long)]
        project: bool,
    },
    /// Open your configuration in $VISUAL, $EDITOR or vi, and check it afterwards
    #[command(after_help = "Examples:\n  sortie config edit\n  EDITOR=nano sortie config edit")]
    Edit,
}

const EXAMPLES: &str = "\
Sources of settings, from weakest to strongest:
  defaults
  $XDG_CONFIG_HOME/sortie/config.toml, or the file of --config
  the project's .sortie/config.toml; until you trust the project, only values
    that narrow yours count (see `sortie trust --help`)
  variables such as SORTIE_TASK_TOOL__MAX_DEPTH (SORTIE_SECTION__KEY): first
    .env of a trusted project, then the process, then --env-file
  --set

Examples:
  sortie config show
  SORTIE_TASK_TOOL__MAX_DEPTH=1 sortie config show
  sortie --config other.toml config show";

const PATH_EXAMPLES: &str = "\
Examples:
  sortie config path
  cat \"$(sortie config path --project)\"";

pub(crate) fn run(args: &ConfigArgs, sources: &Sources) -> Result<ExitCode, CommandError> {
    match args.command {
        ConfigCommand::Show => show::run(&super::load(sources)?),
        ConfigCommand::Path { project } => path(sources, project),
        ConfigCommand::Edit => edit::run(sources),
    }
}

fn path(sources: &Sources, project: bool) -> Result<ExitCode, CommandError> {
    let (_, places) = Settings::locate(sources)?;
    let path = if project { places.project_config() } else { user_config(&places)? };
    // Printed raw, for programs to use.
    writeln!(io::stdout().lock(), "{}", path.display())?;
    Ok(ExitCode::SUCCESS)
}

fn user_config(places: &Places) -> Result<PathBuf, CommandError> {
    places.config.clone().ok_or_else(|| {
        CommandError::config("there is no place for the configuration: HOME is not set")
            .hint("set XDG_CONFIG_HOME or HOME, or name a file with --config")
    })
}
