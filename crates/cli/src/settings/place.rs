//! Where things lie: the workspace, the user's configuration, and what Sortie keeps.

use std::path::{Path, PathBuf};

use super::environment::Environment;
use crate::error::CommandError;

/// Directories and files of one run, all absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// The project root: tools see what is below it.
    pub(crate) workspace: PathBuf,
    /// Holds the journal and the reports.
    pub(crate) home: PathBuf,
    /// The user's configuration, whether it exists or not.
    pub(crate) config: Option<PathBuf>,
}

impl Places {
    pub(super) fn find(
        cwd: Option<&Path>,
        config: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, CommandError> {
        Ok(Self {
            workspace: workspace(cwd)?,
            home: home(environment)?,
            config: match config {
                Some(file) => Some(absolute(file)?),
                None => {
                    user_directory(environment, "XDG_CONFIG_HOME", ".config").map(|dir| dir.join("sortie/config.toml"))
                }
            },
        })
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.home.join("journal.db")
    }

    pub(crate) fn reports(&self) -> PathBuf {
        self.home.join("reports")
    }
}

/// The nearest ancestor of the starting directory with `.git` or `.sortie`, else that directory itself.
fn workspace(cwd: Option<&Path>) -> Result<PathBuf, CommandError> {
    let asked = cwd.unwrap_or(Path::new("."));
    let start = asked.canonicalize().map_err(|error| {
        CommandError::config(format!("the workspace {} cannot be used: {error}", asked.display()))
            .hint("name an existing directory with --cwd")
    })?;
    if !start.is_dir() {
        return Err(CommandError::config(format!("the workspace {} is not a directory", start.display()))
            .hint("name an existing directory with --cwd"));
    }
    let is_root = |dir: &&Path| [".git", ".sortie"].iter().any(|mark| dir.join(mark).exists());
    Ok(start.ancestors().find(is_root).map_or_else(|| start.clone(), Path::to_owned))
}

fn home(environment: &Environment) -> Result<PathBuf, CommandError> {
    if let Some(home) = environment.path("SORTIE_HOME") {
        return absolute(&home);
    }
    user_directory(environment, "XDG_STATE_HOME", ".local/state").map(|dir| dir.join("sortie")).ok_or_else(|| {
        CommandError::config("there is no place to keep the journal: HOME is not set")
            .hint("set SORTIE_HOME to a directory that you can write to")
    })
}

fn user_directory(environment: &Environment, variable: &str, below_home: &str) -> Option<PathBuf> {
    environment.absolute_path(variable).or_else(|| environment.absolute_path("HOME").map(|home| home.join(below_home)))
}

fn absolute(path: &Path) -> Result<PathBuf, CommandError> {
    std::path::absolute(path)
        .map_err(|error| CommandError::config(format!("the path {} cannot be used: {error}", path.display())))
}
