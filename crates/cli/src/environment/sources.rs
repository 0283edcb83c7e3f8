//! Sources of settings that the command line names.

use std::path::PathBuf;

/// Where to look, as the command line says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    pub(crate) config: Option<PathBuf>,
    pub(crate) env_file: Option<PathBuf>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) set: Vec<Assignment>,
    /// Whether the project is trusted for this run.
    pub(crate) trust: bool,
    pub(crate) contract: Option<String>,
    pub(crate) confinement: Confinement,
}

/// Walls around the commands of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Confinement {
    #[default]
    Walls,
    /// They can do whatever the user can.
    None,
}

impl Sources {
    /// Whether a flag says which contract holds.
    pub(crate) fn name_contract(&self) -> bool {
        self.replace(CONTRACT)
    }

    /// Whether a flag says what the setting at `path` is.
    pub(crate) fn replace(&self, path: &str) -> bool {
        let is_contract = self.contract.is_some() && path == CONTRACT;
        is_contract || self.set.iter().any(|assignment| assignment.path == path)
    }
}

/// A setting given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// How it was given: by [`SET_FLAG`], or by a flag of its own.
    pub(crate) flag: &'static str,
    pub(crate) path: String,
    pub(crate) value: String,
}

pub(crate) const SET_FLAG: &str = "--set";

/// Path of the setting that has a flag of its own, `--contract`.
pub(crate) const CONTRACT: &str = "contract";
