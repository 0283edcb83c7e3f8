//! A project whose task has a shell.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError};

use serde_json::{Value, json};
use sortie_sandbox::process::{Environment, Program, Tier, Walls, probe};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_tools::{Changes, NetworkReach, ShellReach, ShellSetup, Shells};

use crate::another_user::ALONE;
use crate::project::Project;

/// What the commands of a test may do.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    /// Relative to the root; nothing, where they write nothing.
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) network: NetworkReach,
}

impl Default for Reach {
    fn default() -> Self {
        Self { writable: vec![PathBuf::new()], network: NetworkReach::None }
    }
}

impl ShellReach for Reach {
    fn walls(&self, workspace: &Workspace) -> Result<Walls, String> {
        let root = workspace.root().to_owned();
        let writable = self.writable.iter().map(|path| root.join(path)).collect();
        Ok(Walls { writable, ..Walls::reading(root) })
    }

    fn reads_only(&self) -> Option<String> {
        self.writable.is_empty().then(|| "agent reader".to_owned())
    }

    fn network(&self) -> NetworkReach {
        self.network
    }

    fn may_reach(&self, host: &str) -> Result<(), String> {
        if host == "allowed.example" { Ok(()) } else { Err("no rule allows it".to_owned()) }
    }

    fn protects(&self, path: &Path) -> Option<String> {
        let is_protected = path.iter().any(|name| name == ".envrc" || name == ".editor");
        is_protected.then(|| "a file that steers a shell".to_owned())
    }
}

/// This program, as what runs commands.
pub(crate) fn program() -> Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    let start = || {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let program = Program::this().unwrap();
        assert_eq!(probe(&program).tier, Tier::Namespaces);
        program
    };
    PROGRAM.get_or_init(start).clone()
}

pub(crate) fn spill(project: &Project) -> PathBuf {
    project.outside("spill")
}

pub(crate) fn setup(project: &Project) -> ShellSetup {
    let spill = SpillDir::open(&spill(project)).unwrap();
    ShellSetup::new(program(), Environment::scrubbed([], &[]), Arc::new(spill))
}

pub(crate) fn shells(project: &Project, reach: Reach) -> Shells {
    Shells::new(Arc::new(setup(project)), Arc::new(reach), Arc::default())
}

/// The commands of two tasks of one engine.
pub(crate) fn two_shells(project: &Project) -> [Shells; 2] {
    let (setup, changes) = (Arc::new(setup(project)), Arc::new(Changes::default()));
    let shells = || Shells::new(Arc::clone(&setup), Arc::new(Reach::default()), Arc::clone(&changes));
    [shells(), shells()]
}

/// A project in which commands may write.
pub(crate) fn project(files: &[(&str, &str)]) -> Project {
    project_with(files, Reach::default())
}

pub(crate) fn project_with(files: &[(&str, &str)], reach: Reach) -> Project {
    let mut project = Project::new(files);
    project.shells = Some(shells(&project, reach));
    project
}

pub(crate) fn command(line: &str) -> Value {
    json!({"command": line})
}

pub(crate) fn in_background(line: &str) -> Value {
    json!({"command": line, "run_in_background": true})
}

/// A command that waits until a file is there.
pub(crate) fn wait_for(file: &str) -> String {
    format!("until [ -e {file} ]; do sleep 0.01; done")
}
