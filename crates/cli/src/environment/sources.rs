//! Sources of settings that the command line names.

use std::path::PathBuf;

/// Sources named on the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    pub(crate) config: Option<PathBuf>,
    pub(crate) env_file: Option<PathBuf>,
    pub(crate) cwd: Option<PathBuf>,
    /// Workspace that a host has named; no directory above it counts.
    pub(crate) root: Option<PathBuf>,
    pub(crate) set: Vec<Assignment>,
    /// True if the project is trusted for this run.
    pub(crate) trust: bool,
    pub(crate) contract: Option<String>,
    pub(crate) confinement: Confinement,
}

/// Walls around the commands of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Confinement {
    #[default]
    Walls,
    /// Commands can do whatever the user can.
    None,
}

impl Sources {
    /// These sources for the roots of a host: the first one is the workspace, and the others are added to it.
    pub(crate) fn at_roots(&self, roots: &[PathBuf]) -> Self {
        let mut sources = self.clone();
        sources.root = roots.first().cloned();
        sources.set.extend(roots.iter().skip(1).map(|root| Assignment {
            flag: ADDED_ROOT,
            path: ADD_DIRS.to_owned(),
            value: root.display().to_string(),
        }));
        sources
    }

    /// True if a flag names the contract.
    pub(crate) fn name_contract(&self) -> bool {
        self.replace(CONTRACT)
    }

    /// True if a flag sets the setting at `path`.
    pub(crate) fn replace(&self, path: &str) -> bool {
        let is_contract = self.contract.is_some() && path == CONTRACT;
        is_contract || self.set.iter().any(|assignment| assignment.path == path)
    }
}

/// Setting from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// Flag that gave it: [`SET_FLAG`], or one of its own.
    pub(crate) flag: &'static str,
    pub(crate) path: String,
    pub(crate) value: String,
}

/// Origin of directories that a host has named.
const ADDED_ROOT: &str = "a root of the host";

/// Path of the setting behind `--add-dir`.
const ADD_DIRS: &str = "permissions.add_dirs";

pub(crate) const SET_FLAG: &str = "--set";

/// Path of the setting behind `--contract`.
pub(crate) const CONTRACT: &str = "contract";
