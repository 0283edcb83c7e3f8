//! Inputs of a run other than settings files: environment variables, paths, source flags and local model servers.
//!
//! Nothing else in Sortie reads a variable.
//!
//! Values from `--env-file` or a trusted project's `.env` can set settings and hold keys. They never move a directory,
//! name a program or reach another process.

pub(crate) mod env_file;
pub(crate) mod local_server;
pub(crate) mod origin;
mod places;
mod secret_places;
mod sources;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sortie_mcp::LEVEL_VARIABLE;
use sortie_tools::TASK_VARIABLE;

use crate::error::CommandError;
use crate::text::terminal::TerminalKind;
use origin::{Origin, Owner};

pub(crate) use places::{Breadth, PROJECT_CONFIG, PROJECT_VARIABLES, Places, home};
pub(crate) use sources::{Assignment, CONTRACT, Confinement, SET_FLAG, Sources};

/// Variables that name directories or programs; only the process environment can set them.
const RESERVED: [&str; 10] =
    ["EDITOR", "HOME", "PAGER", "PATH", "SHELL", "SORTIE_HOME", LEVEL_VARIABLE, TASK_VARIABLE, "TERM", "VISUAL"];
const RESERVED_PREFIX: &str = "XDG_";

/// Variables of the process, overridden by `--env-file` and backed by those of a trusted project.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    own: Variables,
    project: Variables,
    /// Warnings about variables in files that are ignored.
    warnings: Vec<String>,
}

/// Variables of one precedence.
#[derive(Debug, Default)]
pub(crate) struct Variables(BTreeMap<String, (OsString, Origin)>);

/// A variable that is set and not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    pub(crate) origin: &'a Origin,
}

impl Environment {
    /// Reads the process's variables. Those of `file` override them, since it was named for this run.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self, CommandError> {
        let mut own = Variables::default();
        for (name, value) in std::env::vars_os() {
            // Nothing here asks for a name that is not UTF-8.
            if let Ok(name) = name.into_string() {
                own.0.insert(name.clone(), (value, Origin::Variable { name, file: None, owner: Owner::User }));
            }
        }
        let mut environment = Self { own, ..Self::default() };
        if let Some(path) = file {
            let assignments = environment.without_reserved(path, env_file::read(path)?);
            environment.own.put(path, Owner::User, assignments);
        }
        Ok(environment)
    }

    /// Adds a trusted project's `.env`. The process's own variables override it, even empty ones.
    pub(crate) fn add_project(&mut self, path: &Path, assignments: Vec<env_file::FileVariable>) {
        let mut assignments = self.without_reserved(path, assignments);
        assignments.retain(|assignment| !self.is_set(&assignment.name));
        self.project.put(path, Owner::Project, assignments);
    }

    fn without_reserved(
        &mut self,
        path: &Path,
        assignments: Vec<env_file::FileVariable>,
    ) -> Vec<env_file::FileVariable> {
        let (reserved, others): (Vec<_>, Vec<_>) =
            assignments.into_iter().partition(|assignment| is_reserved(&assignment.name));
        let names: Vec<&str> = reserved.iter().map(|assignment| assignment.name.as_str()).collect();
        if !names.is_empty() {
            let (path, names) = (path.display(), names.join(", "));
            self.warnings.push(format!(
                "{path} cannot set {names}: paths and programs come from the process's own environment alone"
            ));
        }
        others
    }

    /// Takes the warnings about files.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Text of a variable. An empty one counts as not set.
    pub(crate) fn text(&self, name: &str) -> Result<Option<Variable<'_>>, CommandError> {
        match self.own.text(name)? {
            Some(variable) => Ok(Some(variable)),
            None => self.project.text(name),
        }
    }

    /// True if the process or `--env-file` sets the variable, even to nothing.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.own.0.contains_key(name)
    }

    /// The variables by precedence, lowest first.
    pub(crate) fn by_standing(&self) -> [&Variables; 2] {
        [&self.project, &self.own]
    }

    /// Every variable that is text; the process's own override a trusted project's.
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        let all = self.by_standing().into_iter().flat_map(|variables| {
            let set = |name: &str| Some((name.to_owned(), variables.text(name).ok()??.value.to_owned()));
            variables.names().filter_map(set).collect::<Vec<_>>()
        });
        all.collect()
    }

    /// Absolute path in a variable. An empty or relative one counts as not set, as XDG asks.
    pub(crate) fn absolute_path(&self, name: &str) -> Option<PathBuf> {
        self.path(name).filter(|path| path.is_absolute())
    }

    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.own.0.get(name).map(|(value, _)| PathBuf::from(value)).filter(|path| !path.as_os_str().is_empty())
    }

    /// True if this process is a command that a task runs.
    pub(crate) fn is_of_a_command(&self) -> bool {
        self.own.0.contains_key(TASK_VARIABLE)
    }

    /// Number of Sortie processes above this one that use it as an MCP server, directly or through others. An
    /// unreadable number counts as more than any limit.
    pub(crate) fn nesting_level(&self) -> u32 {
        let level =
            self.own.0.get(LEVEL_VARIABLE).map(|(level, _)| level.to_str().and_then(|level| level.parse().ok()));
        level.map_or(0, |level| level.unwrap_or(u32::MAX))
    }

    /// Home directory of the user, as a real path.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.absolute_path("HOME").and_then(|home| home.canonicalize().ok())
    }

    /// Command line of the user's editor.
    pub(crate) fn editor(&self) -> OsString {
        let named = |name| self.path(name).map(PathBuf::into_os_string);
        named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".into())
    }

    /// Command line of the user's pager; without one, `less` or a plain copy.
    pub(crate) fn pager(&self) -> OsString {
        let usual = "if command -v less >/dev/null; then LESS=-S exec less; else exec cat; fi";
        self.path("PAGER").map_or_else(|| usual.into(), PathBuf::into_os_string)
    }

    /// Variables of the process itself, for programs that it starts; none from files.
    pub(crate) fn of_the_process(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let own = |origin: &Origin| matches!(origin, Origin::Variable { file: None, .. });
        let process = self.own.0.iter().filter(move |(_, (_, origin))| own(origin));
        process.map(|(name, (value, _))| (name.into(), value.clone()))
    }

    /// Another program's variable. One that is empty or not text counts as not set.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.own.0.get(name).and_then(|(value, _)| value.to_str()).filter(|value| !value.is_empty())
    }

    /// Kind of terminal, by `TERM`.
    pub(crate) fn terminal(&self) -> TerminalKind {
        let term = self.own.0.get("TERM").filter(|(term, _)| term != "dumb" && !term.is_empty());
        term.map_or(TerminalKind::Dumb, |_| TerminalKind::Smart)
    }
}

/// True if only the process environment can set this variable.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || name.starts_with(RESERVED_PREFIX)
}

impl Variables {
    fn put(&mut self, path: &Path, owner: Owner, assignments: Vec<env_file::FileVariable>) {
        for env_file::FileVariable { name, value, line } in assignments {
            let origin = Origin::Variable { name: name.clone(), file: Some((path.to_owned(), line)), owner };
            self.0.insert(name, (value.into(), origin));
        }
    }

    /// Text of a variable. An empty one counts as not set.
    pub(crate) fn text(&self, name: &str) -> Result<Option<Variable<'_>>, CommandError> {
        let Some((name, (value, origin))) = self.0.get_key_value(name) else { return Ok(None) };
        match value.to_str() {
            Some("") => Ok(None),
            Some(value) => Ok(Some(Variable { name, value, origin })),
            None => Err(CommandError::config(format!("the variable {origin} is not valid UTF-8"))),
        }
    }

    /// Names of all variables that are set and not empty.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, (value, _))| !value.is_empty()).map(|(name, _)| &**name)
    }
}
