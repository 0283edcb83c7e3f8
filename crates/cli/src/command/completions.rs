//! `sortie completions`: a completion script for a shell.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::CommandError;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  source <(sortie completions bash)
  sortie completions zsh > ~/.zfunc/_sortie
  sortie completions fish > ~/.config/fish/completions/sortie.fish";

pub(crate) fn run(args: &CompletionsArgs, command_line: &mut Command) -> Result<ExitCode, CommandError> {
    // Generated in memory first: the generator panics on a failed write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command_line, "sortie", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
