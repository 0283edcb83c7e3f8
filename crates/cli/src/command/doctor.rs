//! `sortie doctor`: checks the installation, one line for each finding, with a remedy.
//!
//! It changes nothing and leaves no file behind. It calls nobody unless `--check` asks for it.

mod agents;
mod diagnosis;
mod git;
mod journal;
mod machine;
mod models;
mod settings;
mod walls;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;

use super::args::ReportFormat;
use crate::environment::Sources;
use crate::error::CommandError;
use crate::render::print_json;
use crate::settings::Settings;
use diagnosis::Diagnosis;

/// Check the installation: settings, models, agents, journal, git and walls
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Call each model once, with a few tokens
    #[arg(long)]
    check: bool,

    /// Format on stdout
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    output_format: ReportFormat,
}

const EXAMPLES: &str = "\
Exit codes: 0 everything works, perhaps with warnings; 1 something is broken.

Examples:
  sortie doctor
  sortie doctor --check
  sortie doctor --output-format json | jq '.checks[] | select(.health != \"ok\")'";

pub(crate) fn run(args: &DoctorArgs, sources: &Sources) -> Result<ExitCode, CommandError> {
    let diagnoses = examine(args, sources);
    match args.output_format {
        ReportFormat::Text => io::stdout().lock().write_all(diagnosis::text(&diagnoses).as_bytes())?,
        ReportFormat::Json => print_json(&diagnosis::object(&diagnoses))?,
    }
    Ok(if diagnosis::is_broken(&diagnoses) { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Runs all checks, except those that need settings which cannot be loaded.
fn examine(args: &DoctorArgs, sources: &Sources) -> Vec<Diagnosis> {
    let loaded = Settings::load(sources);
    let mut diagnoses = Vec::new();
    match &loaded {
        Ok(settings) => {
            diagnoses.extend(settings::settings(settings));
            diagnoses.extend(settings::permissions(settings));
            diagnoses.extend(models::routes(settings, args));
            diagnoses.extend(agents::agents(settings));
            diagnoses.push(journal::journal(settings));
            diagnoses.extend(git::git(settings));
        }
        Err(error) => diagnoses.push(failed("settings", error)),
    }
    diagnoses.push(machine::file_opens());
    diagnoses.extend(walls::walls(sources.confinement));
    diagnoses.push(machine::terminal(loaded.as_ref().ok()));
    diagnoses
}

fn failed(subject: &str, error: &CommandError) -> Diagnosis {
    Diagnosis::error(subject, error.message.clone(), error.hints.join("; "))
}
