//! What bounds every task of an engine, whom to ask beyond it, and what nobody may see.

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
    /// What the settings of the user and of the project say. They bind every task before its agent does.
    pub layers: Vec<GrantLayer>,
    pub approver: Arc<dyn Approver>,
    /// Takes secrets out of what tools return, before anybody else reads it.
    pub redactor: Arc<Redactor>,
    /// What `~/` in a rule stands for.
    pub home: Option<PathBuf>,
    /// Directories of Sortie itself, with settings and state: no agent may change what is in there.
    pub own: Vec<PathBuf>,
    /// Those of them, and files, that hold keys and what was said: no command reads them, wherever they lie.
    pub private: Vec<PathBuf>,
    /// How long a question of a task in the background waits for an answer; then its call is refused.
    pub answer_within: Duration,
}

impl Permissions {
    /// No rules: every tool that a task is given may do all that it can. For programs that choose the tools themselves.
    pub fn unrestricted() -> Self {
        Self {
            layers: Vec::new(),
            approver: Arc::new(NoApprover),
            redactor: Arc::new(Redactor::new(Vec::new())),
            home: None,
            own: Vec::new(),
            private: Vec::new(),
            answer_within: Duration::from_mins(5),
        }
    }

    /// What lets through only what these settings let anybody read unasked.
    pub fn reading(&self, workspace: &Workspace) -> Result<Arc<dyn Guard>, RuleError> {
        let judge = self.judge(self.places(workspace))?;
        Ok(Arc::new(PathGuard::of_reading(judge)))
    }

    /// What these settings say of a call, before any agent has its say.
    pub(crate) fn judge(&self, places: Places) -> Result<Judge, RuleError> {
        Judge::new(&Grant { layers: self.layers.clone() }, places)
    }

    pub(crate) fn places(&self, workspace: &Workspace) -> Places {
        Places {
            root: Some(workspace.root().to_owned()),
            added: workspace.added().map(Path::to_owned).collect(),
            home: self.home.clone(),
            own: self.own.clone(),
        }
    }
}

/// Reading, notes and delegation; all else would have to be asked about, and there is nobody to ask.
impl Default for Permissions {
    fn default() -> Self {
        let layer = GrantLayer { mode: Some(Mode::Default), ..GrantLayer::new("the engine's default") };
        Self { layers: vec![layer], ..Self::unrestricted() }
    }
}

/// Nobody starts an agent that a rule denies. A question has been answered by then, or was never asked: whoever starts
/// a task of their own has said yes by doing so.
pub(crate) fn refuse_denied(judge: &Judge, contract: &dyn Contract, agent: &AgentDefinition) -> Result<(), Failure> {
    match judge.decide(contract.tool_name(), &agent.as_resource()) {
        Decision::Deny(ground) => {
            Err(Failure::new(FailureCode::Permission, format!("`{}` was not started: {ground}", agent.name)))
        }
        Decision::Allow | Decision::Ask(_) => Ok(()),
    }
}
