//! Creation of an agent: a commented file to begin with, which never overwrites another.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use sortie_agents::{AgentDefinition, AgentFile, Agents as _, Dialect, Registry, Scope, draft};

use crate::error::{self, CommandError};
use crate::settings::Settings;
use crate::text::neutral;
use crate::wiring;
use crate::wiring::agent_warnings::plainly;

/// Create a commented file for a new agent
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct NewArgs {
    /// Name of the agent: lower-case letters, digits and hyphens
    name: String,

    /// Create it for all your projects, not only this one
    #[arg(long)]
    user: bool,
}

const EXAMPLES: &str = "\
Examples:
  sortie agents new reviewer
  sortie agents new reviewer --user";

pub(super) fn run(NewArgs { name, user }: &NewArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let text = draft(name);
    check_name(name, &text)?;
    let folder = if *user { user_folder(settings)? } else { project_folder(&settings.places.workspace)? };
    let path = folder.join(format!("{name}.md"));
    let agents = wiring::agents(settings)?;
    let before = agents.current();
    write(&path, &text, settings)?;
    let shown = shown(&path, settings);
    let now = agents.current();
    let is_main = now.get(name).is_ok_and(|agent| !agent.delegable);
    let try_it = if is_main {
        format!("sortie run --agent {name} \"…\"")
    } else {
        format!("sortie task --agent {name} --description \"Try it\" --prompt \"…\"")
    };
    let next = format!("{shown} is created; describe the agent in it, then run\n  sortie agents check\n  {try_it}\n");
    io::stdout().lock().write_all(neutral::block(&next).as_bytes())?;
    if let Ok(other) = before.get(name) {
        say_who_counts(other, &now, &shown);
    }
    Ok(ExitCode::SUCCESS)
}

/// Warns that another agent has the name: one of the two files does not count.
fn say_who_counts(other: &AgentDefinition, now: &Registry, shown: &str) {
    let other_place = other.origin.path.as_deref().unwrap_or("built in");
    if now.get(&other.name).is_ok_and(|agent| agent.origin.path.as_deref() == Some(shown)) {
        return error::note(&format!("it replaces the agent `{}` ({other_place})", other.name));
    }
    let mut why = now.findings().iter().filter(|finding| finding.path == shown).peekable();
    if why.peek().is_none() {
        error::warn(&format!("it has no effect here: the agent `{}` ({other_place}) overrides it", other.name));
    }
    why.for_each(|finding| error::warn(&plainly(finding)));
}

/// Checks the name with the reader of agent files, which must read it back unchanged.
fn check_name(name: &str, text: &str) -> Result<(), CommandError> {
    let file = AgentFile {
        path: format!("{name}.md"),
        scope: Scope::User,
        dialect: Dialect::Ours,
        trusted: true,
        bytes: text.as_bytes().to_vec(),
    };
    let reading = sortie_agents::read(&file, &sortie_engine::tool_names());
    if reading.definition.is_some_and(|definition| definition.name == name) {
        return Ok(());
    }
    let why = reading.findings.iter().find(|finding| finding.is_error());
    let why = why.map_or_else(String::new, |finding| format!(": {}", finding.message));
    Err(CommandError::usage(format!("`{name}` cannot be an agent's name{why}"))
        .hint("a name begins with a lower-case letter, then letters, digits and hyphens, e.g. `code-reviewer`"))
}

fn user_folder(settings: &Settings) -> Result<PathBuf, CommandError> {
    settings.places.user.as_ref().map(|user| user.join("agents")).ok_or_else(|| {
        CommandError::config("there is no place for your own agents: HOME is not set")
            .hint("set XDG_CONFIG_HOME to a directory that you can write to")
    })
}

/// Folder of the project's agents; a link must not lead the new file outside the project.
fn project_folder(workspace: &Path) -> Result<PathBuf, CommandError> {
    let folders = [workspace.join(".sortie"), workspace.join(".sortie/agents")];
    for folder in &folders {
        if folder.is_symlink() {
            let message = format!("{} is a symbolic link; nothing is written through it", folder.display());
            return Err(CommandError::config(message).hint("make it a directory, or write the file yourself"));
        }
    }
    let [_, agents] = folders;
    Ok(agents)
}

/// Path as people know it: relative inside the project.
fn shown(path: &Path, settings: &Settings) -> String {
    path.strip_prefix(&settings.places.workspace).unwrap_or(path).display().to_string()
}

fn write(path: &Path, text: &str, settings: &Settings) -> Result<(), CommandError> {
    let name = shown(path, settings);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => CommandError::config(format!("{name} already exists and is left unchanged"))
            .hint("choose another name, or edit that file"),
        _ => CommandError::config(format!("{name} cannot be written: {error}")),
    };
    if let Some(folder) = path.parent() {
        let unmade = |error| CommandError::config(format!("{} cannot be made: {error}", shown(folder, settings)));
        fs::create_dir_all(folder).map_err(unmade)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}
