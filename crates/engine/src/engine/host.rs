//! The door for a host: a program with a model of its own, whose Task calls start tasks without a parent.
//!
//! A host is no task. It has no loop, no conversation, no mail and no grant of ours. It sees the tasks that hosts have
//! delegated in its workspace, with all below them, also after their processes are gone. It does not see what a person
//! runs. It keeps background tasks until they end.

mod visible;

use std::sync::Arc;

use sortie_protocol::{
    CallId, Failure, FailureCode, Job, Launched, Limits, Resource, TaskId, TaskRequest, ToolOutput, ToolSpec,
};
use sortie_tools::{AnswerParts, BoxFuture, Delegated, Delegation, Glance, Stand};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::engine::Engine;
use crate::gate::host_call::{HostCall, HostGate};
use crate::ports::blocking::blocking;
use crate::tasks::relatives::{StatusReader as _, recorded_stand, stand_of};
use crate::tasks::resume::Resumption;
use crate::tasks::resume::follow_up::agent_of;
use crate::tasks::running::Running;
use crate::tasks::task::launched;

/// The tools that look after other tasks, as far as they are of use to somebody without a tree.
const COMPANIONS: [&str; 4] = ["TaskOutput", "TaskStop", "SendMessage", "TaskList"];

/// One from outside. Cheap to clone; all clones are the same one.
#[derive(Clone)]
pub struct Host {
    engine: Engine,
    /// What works on by itself.
    kept: TaskTracker,
    /// Ends it.
    end: CancellationToken,
}

impl Host {
    pub(crate) fn of(engine: Engine) -> Self {
        Self { engine, kept: TaskTracker::new(), end: CancellationToken::new() }
    }

    /// Starts a task, or goes on with one that it can see. Whoever drops what this returns stops it.
    pub async fn start(&self, request: TaskRequest) -> Result<Running, Failure> {
        let Some(asked) = &request.resume else { return self.engine.task(request).await };
        let task = self.seen(asked).await?.task;
        if !matches!(recorded_stand(&self.engine.state, task).await, Ok(Stand::Interrupted)) {
            return self.engine.task(request).await;
        }
        if request.limits != Limits::default() {
            let message = format!("{task} was interrupted and goes on within the limits that it has left; name none");
            return Err(Failure::new(FailureCode::InvalidArguments, message));
        }
        self.revive(task, Some(request.prompt)).await
    }

    /// Lets a task work on by itself, and says what is told of it.
    pub fn keep(&self, running: Running) -> Launched {
        let job = running.job();
        let running_task = self.engine.state.present.find(running.task);
        let launched = launched(&job, running_task.and_then(|running_task| running_task.sink.output_path()));
        let (end, stop) = (self.end.clone(), running.stopper());
        self.kept.spawn(async move {
            let mut ended = std::pin::pin!(running.outcome());
            tokio::select! {
                // How it ended is in the journal.
                _ = &mut ended => {}
                () = end.cancelled() => {
                    stop.cancel();
                    ended.await.ok();
                }
            }
        });
        launched
    }

    /// Goes on, by itself, with a task that nobody runs any more.
    pub async fn go_on(&self, task: TaskId, prompt: Option<String>) -> Result<Launched, Failure> {
        self.seen(&task.to_string()).await?;
        Ok(self.keep(self.revive(task, prompt).await?))
    }

    async fn revive(&self, task: TaskId, prompt: Option<String>) -> Result<Running, Failure> {
        self.engine.state.rules.check_resume()?;
        self.engine.resume(task, Resumption { prompt, ..Resumption::default() }).await
    }

    /// How a task stands that works here; nothing is read for it.
    pub fn glimpse(&self, task: TaskId) -> Option<Glance> {
        let running_task = self.engine.state.present.find(task)?;
        let Job { parent, title, config, .. } = running_task.job.as_ref();
        let (agent, title) = (config.agent.clone(), title.clone());
        Some(Glance { task, parent: *parent, agent, title, stand: stand_of(&running_task) })
    }

    /// How a task stands.
    pub async fn look(&self, task: TaskId) -> Result<Glance, Failure> {
        self.glance(self.seen(&task.to_string()).await?).await
    }

    /// Whether a task is one that it can look at.
    pub async fn sees(&self, task: TaskId) -> bool {
        self.seen(&task.to_string()).await.is_ok()
    }

    /// Whether nothing works on by itself.
    pub fn is_idle(&self) -> bool {
        self.kept.is_empty()
    }

    /// Waits until all that works on by itself has ended.
    pub async fn idle(&self) {
        self.kept.close();
        self.kept.wait().await;
        self.kept.reopen();
    }

    /// Ends all that works on by itself, now and from here on.
    pub fn end_all(&self) {
        self.end.cancel();
    }

    /// The agents that it can delegate to, as the contract has them.
    pub fn agents(&self) -> Arc<sortie_agents::Registry> {
        Arc::clone(&self.engine.state.rosters.current().agents)
    }

    /// The tool that delegates, and those that look after what it started, where the contract has them.
    pub fn tools(&self) -> Vec<ToolSpec> {
        let state = &self.engine.state;
        let roster = state.rosters.current();
        let names = [state.contract.tool_name()].into_iter().chain(COMPANIONS);
        names.filter_map(|name| roster.tools.spec(name)).cloned().collect()
    }

    /// Calls one of the tools beside the one that delegates; `None` if there is none of this name.
    ///
    /// There is no grant to judge by but the user's own rules, and nobody to ask: whoever delegates from outside has
    /// said yes by doing so, but what the user denies stays denied.
    pub async fn call(&self, tool: &str, arguments: &str, cancel: &CancellationToken) -> Option<ToolOutput> {
        let state = &self.engine.state;
        let roster = state.rosters.current();
        let known = COMPANIONS.contains(&tool).then(|| roster.tools.get(tool)).flatten().map(Arc::clone)?;
        let id = CallId::from(format!("visit-{}", state.ids.mark()).as_str());
        let judge = match state.permissions.judge(state.places.clone()) {
            Ok(judge) => judge,
            Err(error) => return Some(ToolOutput::not_run(format!("{tool} was not run: {error}"))),
        };
        let gate = HostGate {
            judge: &judge,
            redactor: &state.permissions.redactor,
            workspace: &state.workspace,
            delegation: self,
            relatives: self,
        };
        let call = HostCall { id, tool: known.as_ref(), name: tool, arguments, cancel };
        Some(gate.pass(call).await)
    }

    /// Ends an open task with all below it, wherever it runs. That it has ended shows when it is looked at.
    pub async fn stop(&self, task: TaskId) -> Result<(), Failure> {
        self.seen(&task.to_string()).await?;
        self.stop_anywhere(task).await
    }

    /// What the answer to a call is made with besides the outcome.
    pub fn answer_parts(&self) -> AnswerParts<'_> {
        let state = &self.engine.state;
        AnswerParts { cwd: &state.rules.cwd, spare_id: state.ids.task(), mark: state.ids.mark() }
    }
}

impl Delegation for Host {
    /// The companions delegate nothing.
    fn delegate<'a>(&'a self, _: &'a CallId, _: TaskRequest) -> BoxFuture<'a, Result<Delegated, Failure>> {
        Box::pin(async { Err(Failure::new(FailureCode::NoTask, "a host's tools delegate nothing")) })
    }

    /// The agent of the task that is written to: it may be denied.
    fn agent_for(&self, request: &TaskRequest) -> Resource {
        request.resume.as_ref().map_or(Resource::Nothing, |asked| agent_of(&self.engine.state, asked))
    }

    fn answer_parts(&self) -> AnswerParts<'_> {
        Host::answer_parts(self)
    }
}
