//! `sortie config`: what the settings are and where each one comes from.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::error::CommandError;
use crate::render::{neutral, width};
use crate::settings::{Listed, Settings};

/// Show settings
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// List every setting with its value and origin; keys are masked
    #[command(after_help = EXAMPLES)]
    Show,
}

const EXAMPLES: &str = "\
Settings are, from weakest to strongest:
  defaults
  $XDG_CONFIG_HOME/sortie/config.toml, or the file of --config
  variables: SORTIE_SECTION__KEY, e.g. SORTIE_TASK_TOOL__MAX_DEPTH
  --set

Examples:
  sortie config show
  SORTIE_TASK_TOOL__MAX_DEPTH=1 sortie config show
  sortie --config other.toml config show";

pub(crate) fn run(args: &ConfigArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    match args.command {
        ConfigCommand::Show => show(settings),
    }
}

fn show(settings: &Settings) -> Result<ExitCode, CommandError> {
    let text = places(settings) + "\n" + &table(&settings.listed().collect::<Vec<_>>());
    io::stdout().lock().write_all(neutral::block(&text).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn places(settings: &Settings) -> String {
    let places = &settings.places;
    let config = match &places.config {
        Some(path) if path.exists() => path.display().to_string(),
        Some(path) => format!("{} (does not exist)", path.display()),
        None => "(none: HOME is not set)".to_owned(),
    };
    let (workspace, home) = (places.workspace.display(), places.home.display());
    format!("workspace  {workspace}\nconfig     {config}\nhome       {home}\nmodel      {}\n", route(settings))
}

fn table(settings: &[Listed]) -> String {
    let widest = |of: fn(&Listed) -> &str, most: usize| {
        settings.iter().map(|setting| width::of(of(setting))).max().unwrap_or_default().min(most)
    };
    let path_columns = widest(|setting| setting.path, usize::MAX);
    let value_columns = widest(|setting| &setting.value, 32);
    let origin_columns = widest(|setting| &setting.origin, 40);
    let mut text = String::new();
    for Listed { path, value, origin, doc } in settings {
        let _infallible =
            writeln!(text, "{path:path_columns$}  {value:value_columns$}  {origin:origin_columns$}  # {doc}");
    }
    text
}

/// What a run would use.
fn route(settings: &Settings) -> String {
    match settings.main_route() {
        Ok(Some(route)) => {
            let key = match route.api_key.as_ref().and_then(|key| key.setting().map(str::to_owned)) {
                Some(setting) => format!("key from {setting}"),
                None => "no key".to_owned(),
            };
            format!("{} over {} at {}, {key}", route.model, route.wire, route.base_url)
        }
        Ok(None) => "offline, the built-in rule-based model (no model is set)".to_owned(),
        Err(error) => format!("none: {error}"),
    }
}
