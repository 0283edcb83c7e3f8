//! Paths of a run: the workspace, the user's configuration, and the files that Sortie keeps.

mod protected;

use std::path::{Path, PathBuf};

use super::Environment;
use super::sources::Sources;
use crate::error::CommandError;

/// The project's configuration, in the project.
pub(crate) const PROJECT_CONFIG: &str = ".sortie/config.toml";
/// The project's variables, in the project.
pub(crate) const PROJECT_VARIABLES: &str = ".env";

/// Directories and files of one run, all absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// The project root: tools see what is below it.
    pub(crate) workspace: PathBuf,
    /// Where in it the person is, relative to it; empty at its root.
    pub(crate) start: PathBuf,
    /// The workspace, and each directory above it that is a project, too, except the user's home.
    projects: Vec<PathBuf>,
    /// Holds the journal and the reports.
    pub(crate) home: PathBuf,
    /// The user's configuration, whether it exists or not.
    pub(crate) config: Option<PathBuf>,
    /// The variables that were named for this run.
    env_file: Option<PathBuf>,
    /// The user's own directory for Sortie, which holds agents and prompts; whether it exists or not.
    pub(crate) user: Option<PathBuf>,
    /// Where another program keeps the user's agents; whether it exists or not.
    pub(crate) foreign: Option<PathBuf>,
}

impl Places {
    pub(crate) fn find(sources: &Sources, environment: &Environment) -> Result<Self, CommandError> {
        let start = start(sources.cwd.as_deref())?;
        let around: Vec<&Path> = start.ancestors().filter(is_project).collect();
        // The nearest one is the workspace; where there is none, the starting directory is.
        let workspace = around.first().copied().unwrap_or(&start).to_owned();
        // A home directory under version control is its owner's own, and everything of theirs lies in it.
        let own = environment.absolute_path("HOME").and_then(|home| home.canonicalize().ok());
        let above = around.iter().skip(1).copied().filter(|directory| own.as_deref() != Some(directory));
        let projects = [&*workspace].into_iter().chain(above).map(Path::to_owned).collect();
        let user = user_directory(environment, "XDG_CONFIG_HOME", ".config").map(|dir| dir.join("sortie"));
        Ok(Self {
            start: start.strip_prefix(&workspace).unwrap_or(Path::new("")).to_owned(),
            workspace,
            projects,
            home: home(environment)?,
            config: match &sources.config {
                Some(file) => Some(absolute(file)?),
                None => user.as_ref().map(|dir| dir.join("config.toml")),
            },
            env_file: sources.env_file.as_deref().map(absolute).transpose()?,
            user,
            foreign: environment.absolute_path("HOME").map(|home| home.join(".claude")),
        })
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.home.join("journal.db")
    }

    /// Its time is when old tasks were last removed.
    pub(crate) fn pruned(&self) -> PathBuf {
        self.home.join("journal.db.pruned")
    }

    pub(crate) fn reports(&self) -> PathBuf {
        self.home.join("reports")
    }

    /// Which tasks have answered what; whoever loses it does the work again.
    pub(crate) fn cache(&self) -> PathBuf {
        self.home.join("cache")
    }

    /// What MCP servers wrote to their standard error.
    pub(crate) fn server_logs(&self) -> PathBuf {
        self.home.join("mcp-logs")
    }

    /// The user's own list of models, beside the configuration.
    pub(crate) fn models(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|config| config.with_file_name("models.toml"))
    }

    /// The files that may have been named for this run.
    pub(crate) fn named(&self) -> Vec<&Path> {
        self.config.iter().chain(&self.env_file).map(PathBuf::as_path).collect()
    }

    /// The folders of role prompts as paths in them are shown: the project's relative to it, the user's absolute.
    pub(crate) fn prompts(&self) -> Vec<PathBuf> {
        self.folders("prompts")
    }

    /// The same of templates.
    pub(crate) fn templates(&self) -> Vec<PathBuf> {
        self.folders("templates")
    }

    fn folders(&self, name: &str) -> Vec<PathBuf> {
        self.user.iter().map(PathBuf::as_path).chain([Path::new(".sortie")]).map(|home| home.join(name)).collect()
    }

    /// The project's configuration, whether it exists or not.
    pub(crate) fn project_config(&self) -> PathBuf {
        self.workspace.join(self::PROJECT_CONFIG)
    }

    /// The project in which what Sortie keeps lies, or which the way there leads through: it may have been put there by
    /// the project itself.
    pub(crate) fn project_with_home(&self) -> Option<&Path> {
        // Each directory on the way: a link in a project may lead out of it again. The home need not exist yet.
        let on_the_way: Vec<PathBuf> =
            self.home.ancestors().filter_map(|directory| directory.canonicalize().ok()).collect();
        let holds = |root: &&PathBuf| on_the_way.iter().any(|directory| directory.starts_with(root));
        self.projects.iter().find(holds).map(PathBuf::as_path)
    }
}

/// The directory that was named, or the current one, by its real path.
fn start(cwd: Option<&Path>) -> Result<PathBuf, CommandError> {
    let asked = cwd.unwrap_or(Path::new("."));
    let start = asked.canonicalize().map_err(|error| {
        CommandError::config(format!("the workspace {} cannot be used: {error}", asked.display()))
            .hint("name an existing directory with --cwd")
    })?;
    if !start.is_dir() {
        return Err(CommandError::config(format!("the workspace {} is not a directory", start.display()))
            .hint("name an existing directory with --cwd"));
    }
    Ok(start)
}

/// Whether it has what makes a directory the root of a project.
fn is_project(directory: &&Path) -> bool {
    [".git", ".sortie"].iter().any(|mark| directory.join(mark).exists())
}

/// The directory in which Sortie keeps things.
pub(crate) fn home(environment: &Environment) -> Result<PathBuf, CommandError> {
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
