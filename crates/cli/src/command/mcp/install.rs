//! `sortie mcp install`: prints the lines that add Sortie to a host, or merges them into the host's file.

mod host;
mod jsonc;
mod merged;
mod toml_file;
mod yaml_file;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::super::person_only::never_for_agents;
use crate::environment::{Environment, Sources};
use crate::error::{self, CommandError};
use crate::settings::{Settings, replace};
use host::{Host, Reaches, Server};
use merged::Merged;

/// Add Sortie to a host: print the lines, or write them into its file
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InstallArgs {
    /// Host to add it to
    #[arg(value_enum, value_name = "HOST")]
    host: Host,

    /// Print the lines and write nothing (the default)
    #[arg(long, conflicts_with = "write")]
    print: bool,

    /// Add the lines to the host's own file; an entry that is there is never changed
    #[arg(long)]
    write: bool,

    /// Use the file of this project, for everybody who works on it, instead of your own
    #[arg(long)]
    project: bool,

    /// More arguments for `sortie mcp`, after `--`
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,
}

const EXAMPLES: &str = "\
The lines go to stdout, and everything about them to stderr. The program is
named by its full path unless PATH leads to it. Keys are never written: hosts
pass variables on, and Codex only those that the lines name.

With --write, comments and all other entries stay as they are, and the file is
replaced in one step. If it already has an entry `sortie`, or has no obvious
place for one, it stays as it is.

Examples:
  sortie mcp install claude
  sortie mcp install codex --write
  sortie mcp install vscode --project --write
  sortie mcp install gemini -- --permission-mode accept-edits";

pub(super) fn run(args: &InstallArgs, sources: &Sources) -> Result<ExitCode, CommandError> {
    let (environment, places) = Settings::locate(sources)?;
    let server = Server {
        program: program(&environment)?,
        arguments: ["mcp".to_owned()].into_iter().chain(args.arguments.iter().cloned()).collect(),
        variables: host::variables(&environment),
    };
    let project = args.project.then_some(&*places.workspace);
    let path = args.host.file(&environment, project)?;
    if args.write {
        never_for_agents(&environment)?;
        write(args.host, &server, &path)?;
    } else {
        write!(io::stdout().lock(), "{}", args.host.lines(&server, project))?;
        error::note(&format!("for {}; --write puts it there", path.display()));
    }
    explain(args.host, &server);
    Ok(ExitCode::SUCCESS)
}

/// Merges the entry into the host's file.
fn write(host: Host, server: &Server, path: &Path) -> Result<(), CommandError> {
    // Dotfiles are often links, and the link is to stay.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let shown = path.display();
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(CommandError::config(format!("{shown} cannot be read: {error}"))),
    };
    let by_hand = || format!("add the lines by hand: sortie mcp install {}", host.name());
    match host.merged(&text, server) {
        Merged::Into(changed) => {
            save(&path, &changed)
                .map_err(|error| CommandError::config(format!("{shown} cannot be written: {error}")))?;
            error::note(&format!("added `sortie` to {shown}"));
            Ok(())
        }
        Merged::Present => {
            error::note(&format!("{shown} has this entry already; nothing was written"));
            Ok(())
        }
        Merged::Taken => Err(CommandError::config(format!("{shown} has another entry `sortie`, which stays as it is"))
            .hint("remove it first, or change it by hand")),
        Merged::Unclear { why } => {
            Err(CommandError::config(format!("nothing was written: {shown} {why}")).hint(by_hand()))
        }
    }
}

/// Replaces the file in one step.
fn save(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    replace(&File::open(directory)?, path, text)
}

/// Explains on stderr what reaches the server, and what the host asks.
fn explain(host: Host, server: &Server) {
    let name = host.title();
    error::note(&match host.reaches() {
        Reaches::Named => {
            format!("{name} passes only these variables to it, where they are set: {}", server.variables.join(", "))
        }
        Reaches::Everything => format!("{name} passes its whole environment to it, keys such as {} included", keys()),
        Reaches::Untried => {
            format!("keys such as {} must reach it through {name}'s environment, or through Sortie's settings", keys())
        }
    });
    for advice in host.advice() {
        error::note(advice);
    }
}

fn keys() -> String {
    let keys: Vec<&str> =
        crate::settings::route_variables().into_iter().filter(|name| name.ends_with("_API_KEY")).collect();
    keys.join(", ")
}

/// Returns `sortie` if a shell would find this program by that name, else its path.
fn program(environment: &Environment) -> Result<String, CommandError> {
    const NAME: &str = "sortie";
    let this = std::env::current_exe()
        .map_err(|error| CommandError::internal(format!("this program does not know its own path: {error}")))?;
    let real = this.canonicalize().unwrap_or_else(|_| this.clone());
    let path = environment.path("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|directory| directory.join(NAME)).find(|file| file.is_file());
    if found.and_then(|file| file.canonicalize().ok()) == Some(real) {
        return Ok(NAME.to_owned());
    }
    let text = this.to_str().map(str::to_owned);
    text.ok_or_else(|| CommandError::config(format!("{} is not UTF-8, so no host can name it", this.display())))
}

/// A path below the user's home directory, or below a directory that a variable names.
fn below(environment: &Environment, variable: &str, otherwise: &str, file: &str) -> Result<PathBuf, CommandError> {
    let named = environment.absolute_path(variable);
    let home = || Some(environment.absolute_path("HOME")?.join(otherwise));
    let directory = named.or_else(home);
    let directory = directory.ok_or_else(|| {
        CommandError::config(format!("there is no place for the file: neither {variable} nor HOME is set"))
    })?;
    Ok(directory.join(file))
}
