//! A project for a task with a shell.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError};

use serde_json::{Value, json};
use sortie_policy::Redactor;
use sortie_protocol::TaskId;
use sortie_sandbox::process::{Environment, Program, Tier, Walls, probe};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_tools::{Changes, NetworkReach, Repositories, ShellReach, ShellSetup, Shells, Writable};

use crate::another_user::ALONE;
use crate::project::Project;

/// A secret that nobody may see.
pub(crate) const KEY: &str = "the-key-of-the-users-own-route";

/// The reach of a test's commands.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    /// Relative to the root; empty if they write nothing.
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) network: NetworkReach,
}

impl Default for Reach {
    fn default() -> Self {
        Self { writable: vec![PathBuf::new()], network: NetworkReach::None }
    }
}

impl ShellReach for Reach {
    fn writable(&self, workspace: &Workspace) -> Writable {
        let directories = self.writable.iter().map(|path| workspace.root().join(path).components().collect());
        Writable { directories: directories.collect(), notes: Vec::new() }
    }

    fn walls(&self, workspace: &Workspace, writable: &[PathBuf], _: &Repositories) -> Result<Walls, String> {
        Ok(Walls { writable: writable.to_vec(), ..Walls::reading(workspace.root().to_owned()) })
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
}

/// This test program, to run commands with.
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
    shells_of(setup(project), reach)
}

/// The commands of a new task.
pub(crate) fn shells_of(setup: ShellSetup, reach: impl ShellReach + 'static) -> Shells {
    Shells::new(Arc::new(setup), Arc::new(reach), Arc::default(), redactor(), task())
}

/// The task that names long outputs.
pub(crate) fn task() -> TaskId {
    TaskId::from_random([0; 12])
}

/// A redactor that knows a key.
fn redactor() -> Arc<Redactor> {
    Arc::new(Redactor::new(vec![KEY.to_owned()]))
}

/// The commands of two tasks of one engine.
pub(crate) fn two_shells(project: &Project) -> [Shells; 2] {
    let (setup, changes) = (Arc::new(setup(project)), Arc::new(Changes::default()));
    let reach = || Arc::new(Reach::default());
    let shells = || Shells::new(Arc::clone(&setup), reach(), Arc::clone(&changes), redactor(), task());
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

/// A command that waits for a file to appear.
pub(crate) fn wait_for(file: &str) -> String {
    format!("until [ -e {file} ]; do sleep 0.01; done")
}
