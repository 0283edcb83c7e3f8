//! Paths of a run: the workspace, the user's configuration, and the files that Sortie keeps.

mod protected;

use std::path::{Path, PathBuf};

use sortie_mcp::TokenStore;

use super::Environment;
use super::sources::Sources;
use crate::error::CommandError;

/// Path of the project's configuration, in the project.
pub(crate) const PROJECT_CONFIG: &str = ".sortie/config.toml";
/// Path of the project's variables, in the project.
pub(crate) const PROJECT_VARIABLES: &str = ".env";

/// Directories and files of one run, all absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// Project root: tools see everything below it.
    pub(crate) workspace: PathBuf,
    /// Current directory, relative to the workspace; empty at its root.
    pub(crate) start: PathBuf,
    /// Extent of the workspace if it is more than a project.
    pub(crate) breadth: Option<Breadth>,
    /// The workspace, and each directory above it that is also a project, except the user's home.
    projects: Vec<PathBuf>,
    /// Directory of the journal and the reports.
    pub(crate) home: PathBuf,
    /// Configuration of the user, whether it exists or not.
    pub(crate) config: Option<PathBuf>,
    /// File of `--env-file`.
    env_file: Option<PathBuf>,
    /// Directory of the user's agents and prompts, whether it exists or not.
    pub(crate) user: Option<PathBuf>,
    /// Usual places of state and settings, where earlier runs may have left them.
    usual: Vec<PathBuf>,
    /// Directory of another program with the user's agents, whether it exists or not.
    pub(crate) foreign: Option<PathBuf>,
}

/// Workspace that holds far more than a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breadth {
    /// `/`, with everything on the machine.
    Machine,
    /// The user's home directory.
    Home,
    /// A directory above the home directory.
    Homes,
}

impl Breadth {
    /// Extent of a real path; `None` if it may be a project. `home` is the user's home directory.
    pub(crate) fn of(workspace: &Path, home: Option<&Path>) -> Option<Self> {
        match home {
            _ if workspace.parent().is_none() => Some(Self::Machine),
            Some(home) if home == workspace => Some(Self::Home),
            Some(home) if home.starts_with(workspace) => Some(Self::Homes),
            _ => None,
        }
    }

    /// Content of the workspace, in words.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Machine => "all files of this machine",
            Self::Home => "your home directory",
            Self::Homes => "the directory above your home directory",
        }
    }
}

impl Places {
    pub(crate) fn find(sources: &Sources, environment: &Environment) -> Result<Self, CommandError> {
        let start = start(sources.cwd.as_deref())?;
        let root = sources.root.as_deref().map(|root| self::start(Some(root))).transpose()?;
        let start = root.as_ref().filter(|root| !start.starts_with(root)).cloned().unwrap_or(start);
        let around: Vec<&Path> = start.ancestors().filter(is_project).collect();
        // The nearest project is the workspace, or else the starting directory; unless a host has named it.
        let workspace = root.as_deref().or(around.first().copied()).unwrap_or(&start).to_owned();
        // A home directory under version control belongs to its user, and contains everything else of theirs.
        let own = environment.absolute_path("HOME").and_then(|home| home.canonicalize().ok());
        let is_above = |directory: &&Path| *directory != workspace && workspace.starts_with(directory);
        let above = around.iter().copied().filter(is_above).filter(|directory| own.as_deref() != Some(directory));
        // A workspace that was named is meant.
        let is_named = sources.cwd.is_some() && workspace == start;
        let breadth = Breadth::of(&workspace, own.as_deref()).filter(|_| !is_named);
        let projects = [&*workspace].into_iter().chain(above).map(Path::to_owned).collect();
        let user = user_directory(environment, "XDG_CONFIG_HOME", ".config").map(|dir| dir.join("sortie"));
        Ok(Self {
            start: start.strip_prefix(&workspace).unwrap_or(Path::new("")).to_owned(),
            workspace,
            breadth,
            projects,
            home: home(environment)?,
            config: match &sources.config {
                Some(file) => Some(absolute(file)?),
                None => user.as_ref().map(|dir| dir.join("config.toml")),
            },
            env_file: sources.env_file.as_deref().map(absolute).transpose()?,
            usual: usual(environment),
            user,
            foreign: environment.absolute_path("HOME").map(|home| home.join(".claude")),
        })
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.home.join("journal.db")
    }

    /// Marker whose modification time is the last removal of old tasks.
    pub(crate) fn pruned(&self) -> PathBuf {
        self.home.join("journal.db.pruned")
    }

    pub(crate) fn reports(&self) -> PathBuf {
        self.home.join("reports")
    }

    /// Index of reusable results; without it, the work is done again.
    pub(crate) fn cache(&self) -> PathBuf {
        self.home.join("cache")
    }

    /// Standard error of MCP servers.
    pub(crate) fn server_logs(&self) -> PathBuf {
        self.home.join("mcp-logs")
    }

    /// Tokens of sign-ins at MCP servers.
    pub(crate) fn sign_ins(&self) -> TokenStore {
        TokenStore::new(self.home.join("mcp-auth"))
    }

    /// The user's own list of models, next to the configuration.
    pub(crate) fn models(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|config| config.with_file_name("models.toml"))
    }

    /// Files that the command line may have named.
    pub(crate) fn named(&self) -> Vec<&Path> {
        self.config.iter().chain(&self.env_file).map(PathBuf::as_path).collect()
    }

    /// Folders of role prompts as shown to people: the project's relative to it, the user's absolute.
    pub(crate) fn prompts(&self) -> Vec<PathBuf> {
        self.folders("prompts")
    }

    /// Folders of templates as shown to people: the project's relative to it, the user's absolute.
    pub(crate) fn templates(&self) -> Vec<PathBuf> {
        self.folders("templates")
    }

    fn folders(&self, name: &str) -> Vec<PathBuf> {
        self.user.iter().map(PathBuf::as_path).chain([Path::new(".sortie")]).map(|home| home.join(name)).collect()
    }

    /// Configuration of the project, whether it exists or not.
    pub(crate) fn project_config(&self) -> PathBuf {
        self.workspace.join(self::PROJECT_CONFIG)
    }

    /// Project that contains Sortie's home or part of the path to it: the project itself may have put it there.
    pub(crate) fn project_with_home(&self) -> Option<&Path> {
        // Checks each directory on the way: a link in a project may lead out of it again. The home need not exist yet.
        let on_the_way: Vec<PathBuf> =
            self.home.ancestors().filter_map(|directory| directory.canonicalize().ok()).collect();
        let holds = |root: &&PathBuf| on_the_way.iter().any(|directory| directory.starts_with(root));
        self.projects.iter().find(holds).map(PathBuf::as_path)
    }
}

/// Named or current directory, as a real path.
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

/// True if the directory has what marks a project root.
fn is_project(directory: &&Path) -> bool {
    [".git", ".sortie"].iter().any(|mark| directory.join(mark).exists())
}

/// Directory of Sortie's own data.
pub(crate) fn home(environment: &Environment) -> Result<PathBuf, CommandError> {
    if let Some(home) = environment.path("SORTIE_HOME") {
        return absolute(&home);
    }
    user_directory(environment, "XDG_STATE_HOME", ".local/state").map(|dir| dir.join("sortie")).ok_or_else(|| {
        CommandError::config("there is no place to keep the journal: HOME is not set")
            .hint("set SORTIE_HOME to a directory that you can write to")
    })
}

/// Places of state and of settings with keys in them if no variable named others.
fn usual(environment: &Environment) -> Vec<PathBuf> {
    let state = user_directory(environment, "XDG_STATE_HOME", ".local/state").map(|dir| dir.join("sortie"));
    let settings = user_directory(environment, "XDG_CONFIG_HOME", ".config").map(|dir| dir.join("sortie/config.toml"));
    let below = |home: &PathBuf| [".local/state/sortie", ".config/sortie/config.toml"].map(|place| home.join(place));
    state.into_iter().chain(settings).chain(environment.homes().iter().flat_map(below)).collect()
}

fn user_directory(environment: &Environment, variable: &str, below_home: &str) -> Option<PathBuf> {
    environment.absolute_path(variable).or_else(|| environment.absolute_path("HOME").map(|home| home.join(below_home)))
}

fn absolute(path: &Path) -> Result<PathBuf, CommandError> {
    std::path::absolute(path)
        .map_err(|error| CommandError::config(format!("the path {} cannot be used: {error}", path.display())))
}
