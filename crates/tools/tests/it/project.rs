//! A temporary workspace with the tools in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sortie_protocol::{CallId, Failure, Resource, TaskRequest, ToolOutput};
use sortie_sandbox::{Guard, Workspace};
use sortie_tools::{
    Alone, AnswerParts, BoxFuture, CallContext, Commands, Delegated, Delegation, Kin, Progress, Registry, Seen, Shells,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct Project {
    directory: TempDir,
    workspace: Arc<Workspace>,
    registry: Registry,
    /// The files read by the task that makes the calls.
    pub(crate) seen: Seen,
    pub(crate) cancel: CancellationToken,
    /// The commands of that task.
    pub(crate) shells: Option<Shells>,
    pub(crate) progress: Option<Box<dyn Progress>>,
    delegation: Arc<dyn Delegation>,
    kin: Arc<dyn Kin>,
}

impl Project {
    /// A workspace with these files: path and content.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("project")).unwrap();
        let workspace = Arc::new(Workspace::open(&directory.path().join("project")).unwrap());
        let project = Self::of_task(directory, workspace);
        for (path, content) in files {
            project.write(path, content);
        }
        project
    }

    /// Adds a guard for file access.
    pub(crate) fn guarded(mut self, guard: Arc<dyn Guard>) -> Self {
        self.workspace = Arc::new(self.workspace.guarded(guard));
        self
    }

    /// Adds a directory next to the project.
    pub(crate) fn with_directory(mut self, relative: &str) -> Self {
        let workspace = Workspace::open(self.workspace.root()).unwrap();
        self.workspace = Arc::new(workspace.with_directories(&[self.outside(relative)]).unwrap());
        self
    }

    /// Another task in the same workspace. Ends before this one.
    pub(crate) fn sibling(&self) -> Self {
        Self::of_task(tempfile::tempdir().unwrap(), self.workspace.clone())
    }

    fn of_task(directory: TempDir, workspace: Arc<Workspace>) -> Self {
        Self {
            directory,
            workspace,
            registry: Registry::standard(None, Commands::Offered).with_companions(),
            seen: Seen::default(),
            cancel: CancellationToken::new(),
            shells: None,
            progress: None,
            delegation: Arc::new(NoDelegation),
            kin: Arc::new(Alone),
        }
    }

    /// Gives the task other tasks around it.
    pub(crate) fn among(self, family: &Arc<impl Kin + Delegation + 'static>) -> Self {
        Self { delegation: family.clone(), kin: family.clone(), ..self }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.workspace.root().join(relative)
    }

    /// A path next to the workspace, which no tool may reach.
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
        self.call(tool, &arguments, false).await
    }

    /// The output with its object besides the text.
    pub(crate) async fn structured(&self, tool: &str, arguments: Value) -> ToolOutput {
        self.call(tool, &arguments, true).await
    }

    /// Runs a call of another task, which has read other files.
    pub(crate) async fn run_as(&self, seen: &Seen, tool: &str, arguments: Value) -> ToolOutput {
        let call = CallId("call-1".to_owned());
        let context = CallContext { seen, ..self.context(&call, false) };
        self.registry.get(tool).unwrap().run(&arguments.to_string(), context).await
    }

    /// Runs a call with arguments that need not be JSON.
    pub(crate) async fn run_text(&self, tool: &str, arguments: &str) -> ToolOutput {
        let call = CallId("call-1".to_owned());
        self.registry.get(tool).unwrap().run(arguments, self.context(&call, false)).await
    }

    /// The resource that the grant decides on.
    pub(crate) fn resource(&self, tool: &str, arguments: &Value) -> Resource {
        let call = CallId("call-1".to_owned());
        self.registry.get(tool).unwrap().resource(&arguments.to_string(), self.context(&call, false))
    }

    /// The preview for a person who is asked about the call.
    pub(crate) async fn preview(&self, tool: &str, arguments: Value) -> Option<String> {
        let call = CallId("call-1".to_owned());
        self.registry.get(tool).unwrap().preview(&arguments.to_string(), self.context(&call, false)).await
    }

    async fn call(&self, tool: &str, arguments: &Value, structured: bool) -> ToolOutput {
        let call = CallId("call-1".to_owned());
        self.registry.get(tool).unwrap().run(&arguments.to_string(), self.context(&call, structured)).await
    }

    fn context<'a>(&'a self, call: &'a CallId, structured: bool) -> CallContext<'a> {
        let Self { workspace, cancel, seen, .. } = self;
        CallContext {
            call,
            // Lives as long as the test: each call has its own.
            decoded: Box::leak(Box::default()),
            workspace,
            cancel,
            delegation: self.delegation.as_ref(),
            kin: self.kin.as_ref(),
            structured,
            seen,
            assistant: None,
            lender: None,
            shells: self.shells.as_ref(),
            progress: self.progress.as_deref(),
        }
    }

    pub(crate) fn content(&self, relative: &str) -> Vec<u8> {
        fs::read(self.path(relative)).unwrap()
    }

    pub(crate) fn text(&self, relative: &str) -> String {
        String::from_utf8(self.content(relative)).unwrap()
    }

    /// Runs a call that must succeed and returns the text for the model.
    pub(crate) async fn done(&self, tool: &str, arguments: Value) -> String {
        let output = self.run(tool, arguments).await;
        assert!(!output.failed, "{}", output.for_model);
        output.for_model
    }

    /// Runs a call that must fail and returns the text for the model.
    pub(crate) async fn failed(&self, tool: &str, arguments: Value) -> String {
        let output = self.run(tool, arguments).await;
        assert!(output.failed, "{}", output.for_model);
        output.for_model
    }
}

pub(crate) struct NoDelegation;

impl Delegation for NoDelegation {
    fn delegate<'a>(&'a self, _: &'a CallId, _: TaskRequest) -> BoxFuture<'a, Result<Delegated, Failure>> {
        unreachable!("no tool here delegates")
    }

    fn agent_for(&self, _request: &TaskRequest) -> Resource {
        Resource::Nothing
    }

    fn answer_parts(&self) -> AnswerParts<'_> {
        unreachable!("no tool here delegates")
    }
}
