//! A temporary workspace with the tools in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sortie_protocol::{CallId, Failure, TaskOutcome, TaskRequest, ToolOutput};
use sortie_sandbox::Workspace;
use sortie_tools::{AnswerParts, BoxFuture, CallContext, Delegation, Registry};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct Project {
    directory: TempDir,
    workspace: Arc<Workspace>,
    registry: Registry,
    pub(crate) cancel: CancellationToken,
}

impl Project {
    /// A workspace with these files: path and content.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("project")).unwrap();
        let workspace = Arc::new(Workspace::open(&directory.path().join("project")).unwrap());
        let project =
            Self { directory, workspace, registry: Registry::standard(None), cancel: CancellationToken::new() };
        for (path, content) in files {
            project.write(path, content);
        }
        project
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.workspace.root().join(relative)
    }

    /// A path beside the workspace, which no tool may reach.
    pub(crate) fn outside(&self, relative: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(relative)
    }

    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, relative: &str) {
        std::os::unix::fs::symlink(target, self.path(relative)).unwrap();
    }

    pub(crate) fn fifo(&self, relative: &str) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, self.path(relative), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    }

    pub(crate) async fn run(&self, tool: &str, arguments: Value) -> ToolOutput {
        let call = CallId("call-1".to_owned());
        let context =
            CallContext { call: &call, workspace: &self.workspace, cancel: &self.cancel, delegation: &NoDelegation };
        self.registry.get(tool).unwrap().run(&arguments.to_string(), context).await
    }

    /// What the model reads when the call succeeds.
    pub(crate) async fn done(&self, tool: &str, arguments: Value) -> String {
        let output = self.run(tool, arguments).await;
        assert!(!output.failed, "{}", output.for_model);
        output.for_model
    }

    /// What the model reads when the call fails.
    pub(crate) async fn failed(&self, tool: &str, arguments: Value) -> String {
        let output = self.run(tool, arguments).await;
        assert!(output.failed, "{}", output.for_model);
        output.for_model
    }
}

struct NoDelegation;

impl Delegation for NoDelegation {
    fn delegate<'a>(&'a self, _: &'a CallId, _: TaskRequest) -> BoxFuture<'a, Result<TaskOutcome, Failure>> {
        unreachable!("no tool here delegates")
    }

    fn answer_parts(&self) -> AnswerParts<'_> {
        unreachable!("no tool here delegates")
    }
}
