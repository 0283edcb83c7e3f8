//! Permissions: the user's rules for every task of an engine, the approver, and the secrets that nobody may see.

pub(crate) mod git_files;
pub(crate) mod path_guard;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sortie_agents::AgentDefinition;
use sortie_contract::Contract;
use sortie_policy::{Decision, Judge, Places, Redactor, RuleError};
use sortie_protocol::{Failure, FailureCode, Grant, GrantLayer, Mode};
use sortie_sandbox::{Guard, Workspace};

use crate::ports::approval::{Approver, NoApprover};
use crate::resolve::permissions::path_guard::PathGuard;

/// The user's side of every grant.
#[derive(Clone)]
pub struct Permissions {
    /// Layers from the settings of user and project. They bind every task before its agent's own.
    pub layers: Vec<GrantLayer>,
    pub approver: Arc<dyn Approver>,
    /// Removes secrets from tool outputs before anybody else reads them.
    pub redactor: Arc<Redactor>,
    /// The directory that `~/` in a rule stands for.
    pub home: Option<PathBuf>,
    /// Sortie's own directories, with settings and state: no agent may change anything in them.
    pub own: Vec<PathBuf>,
    /// Those directories and files that hold keys or conversations: no agent reads them, wherever they lie.
    pub private: Vec<PathBuf>,
    /// Places with the user's keys and passwords, in addition to the usual ones below `home`: no agent reads them
    /// either.
    pub secrets: Vec<PathBuf>,
    /// Home directories of other people. Those in a workspace keep their secrets from its tools and commands.
    pub other_homes: Vec<PathBuf>,
    /// Time that a background task waits for an approval; then its call is refused.
    pub answer_within: Duration,
}

impl Permissions {
    /// Returns permissions without rules, for programs that choose the tools themselves: every tool may do all it can.
    pub fn unrestricted() -> Self {
        Self {
            layers: Vec::new(),
            approver: Arc::new(NoApprover),
            redactor: Arc::new(Redactor::new(Vec::new())),
            home: None,
            own: Vec::new(),
            private: Vec::new(),
            secrets: Vec::new(),
            other_homes: Vec::new(),
            answer_within: Duration::from_mins(5),
        }
    }

    /// Returns a guard that allows only what these settings let everybody read without asking.
    pub fn reading(&self, workspace: &Workspace) -> Result<Arc<dyn Guard>, RuleError> {
        let judge = self.judge(self.places(workspace))?;
        Ok(Arc::new(PathGuard::of_reading(judge)))
    }

    /// Returns the judge for these settings alone, before any agent's layers.
    pub(crate) fn judge(&self, places: Places) -> Result<Judge, RuleError> {
        Judge::new(&Grant { layers: self.layers.clone() }, places)
    }

    pub(crate) fn places(&self, workspace: &Workspace) -> Places {
        let added: Vec<PathBuf> = workspace.added().map(Path::to_owned).collect();
        let is_here =
            |home: &&PathBuf| home.starts_with(workspace.root()) || added.iter().any(|top| home.starts_with(top));
        Places {
            other_homes: self.other_homes.iter().filter(is_here).cloned().collect(),
            root: Some(workspace.root().to_owned()),
            added,
            home: self.home.clone(),
            own: self.own.clone(),
            private: self.private.clone(),
            secrets: self.secrets.clone(),
        }
    }
}

/// Allows reading, notes and delegation; anything else would need approval, and there is nobody to ask.
impl Default for Permissions {
    fn default() -> Self {
        let layer = GrantLayer { mode: Some(Mode::Default), ..GrantLayer::new("the engine's default") };
        Self { layers: vec![layer], ..Self::unrestricted() }
    }
}

/// Refuses to start an agent that a rule denies. A needed approval has been given by now: a call was approved at the
/// gate, and a person's own start is a yes.
pub(crate) fn refuse_denied(judge: &Judge, contract: &dyn Contract, agent: &AgentDefinition) -> Result<(), Failure> {
    match judge.decide(contract.tool_name(), &agent.as_resource()) {
        Decision::Deny(ground) => {
            Err(Failure::new(FailureCode::Permission, format!("`{}` was not started: {ground}", agent.name)))
        }
        Decision::Allow | Decision::Ask(_) => Ok(()),
    }
}
