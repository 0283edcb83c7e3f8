//! The entry for a host: a program with a model of its own, whose Task calls start tasks without a parent.
//!
//! A host is not a task. It has no loop, no conversation, no inbox and no grant of ours. It sees the tasks that hosts
//! have delegated in its workspace, with their descendants, even after their processes are gone. It does not see a
//! person's runs. It keeps background tasks until they end, unless a process of their own runs them.

mod message;
mod read_reports;
mod visible;

use std::sync::{Arc, Mutex, PoisonError};

use sortie_policy::Possibility;
use sortie_protocol::{
    BackgroundOrder, CallId, Failure, FailureCode, Job, Launched, Limits, Resource, TaskId, TaskRequest, ToolOutput,
    ToolSpec,
};
use sortie_tools::{AnswerParts, BoxFuture, Delegated, Delegation, Glance, Stand};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::engine::Engine;
use crate::engine::host::read_reports::ReadReports;
use crate::gate::host_call::{HostCall, HostGate};
use crate::log::recorded_work::RecordedWork;
use crate::ports::background::BackgroundProcess;
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::tasks::relatives::{StatusReader as _, recorded_stand, stand_of};
use crate::tasks::resume::Resumption;
use crate::tasks::resume::follow_up::agent_of;
use crate::tasks::running::Running;
use crate::tasks::task::launched;

/// Companion tools that are of use to a caller without a tree.
const COMPANIONS: [&str; 4] = ["TaskOutput", "TaskStop", "SendMessage", "TaskList"];

/// Name prefix of the tools of MCP servers.
const SERVERS: &str = "mcp__";

/// Presence of a person who can be asked about a host's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    Present,
    Absent,
}

/// The most that the tasks of a host could do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostReach {
    /// True if a call could change something: a file, by a command, on a server.
    pub changes: bool,
    /// True if a page of the web could be fetched.
    pub fetches: bool,
}

/// One host. Cheap to clone; all clones are the same host.
#[derive(Clone)]
pub struct Host {
    engine: Engine,
    /// Background tasks.
    kept: TaskTracker,
    /// Stops the background tasks.
    end: CancellationToken,
    /// Process that runs the background tasks; `None` if they run here.
    background: Option<Arc<dyn BackgroundProcess>>,
    /// Reports that hosts have read.
    read: Arc<Mutex<ReadReports>>,
}

impl Host {
    pub(crate) fn of(engine: Engine) -> Self {
        let (kept, end) = (TaskTracker::new(), CancellationToken::new());
        Self { engine, kept, end, background: None, read: Arc::default() }
    }

    /// This host, with background tasks in a process of their own.
    #[must_use]
    pub fn with_background(self, process: Arc<dyn BackgroundProcess>) -> Self {
        Self { background: Some(process), ..self }
    }

    /// Starts a task, or resumes one that the host can see. Dropping the result stops the task.
    pub async fn start(&self, request: TaskRequest) -> Result<Running, Failure> {
        self.start_after(request, |_| ()).await
    }

    /// Starts or resumes a task. `before` hears its id before anything of it runs.
    pub async fn start_after(
        &self,
        request: TaskRequest,
        before: impl FnOnce(TaskId) + Send,
    ) -> Result<Running, Failure> {
        let Some(asked) = &request.resume else { return self.engine.task_after(request, before).await };
        let task = self.seen(asked).await?.task;
        if request.reads_only || !matches!(recorded_stand(&self.engine.state, task).await, Ok(Stand::Interrupted)) {
            return self.engine.task_after(request, before).await;
        }
        before(task);
        if request.limits != Limits::default() {
            let message = format!("{task} was interrupted and resumes with the limits it has left; give none");
            return Err(Failure::new(FailureCode::InvalidArguments, message));
        }
        self.revive(task, Some(request.prompt)).await
    }

    /// Starts a task in the background, or resumes one there: in a process of its own if the host has one. A task whose
    /// model the host lends stays here. If `withdrawn` is cancelled meanwhile, the task ends as soon as it has begun.
    /// `before` hears the id of one that runs here, before anything of it runs.
    pub async fn launch(
        &self,
        request: TaskRequest,
        withdrawn: &CancellationToken,
        before: impl FnOnce(TaskId) + Send,
    ) -> Result<Launched, Failure> {
        let Some(process) = self.background.as_ref().filter(|_| request.lent_model.is_none()) else {
            let running = self.start_after(request, before).await?;
            if withdrawn.is_cancelled() {
                running.stop();
            }
            return Ok(self.keep(running));
        };
        let order = BackgroundOrder::Start { request: Box::new(request) };
        let launched = self.kept.track_future(process.carry_out(order)).await?;
        if withdrawn.is_cancelled() {
            self.stop_anywhere(launched.task_id).await?;
        }
        Ok(launched)
    }

    /// Spawns work that counts as a background task until it ends.
    pub fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.kept.spawn(work)
    }

    /// Carries out an order, in the process that it was handed to.
    pub async fn carry_out(&self, order: BackgroundOrder) -> Result<Launched, Failure> {
        match order {
            BackgroundOrder::Start { request } => Ok(self.keep(self.start(*request).await?)),
            BackgroundOrder::Resume { task, prompt } => self.resume(task, prompt).await,
        }
    }

    /// Keeps a task running in the background, and returns its launch message.
    pub fn keep(&self, running: Running) -> Launched {
        let job = running.job();
        let running_task = self.engine.state.present.find(running.task);
        let launched = launched(&job, running_task.and_then(|running_task| running_task.sink.output_path()));
        let (end, stop) = (self.end.clone(), running.stopper());
        self.kept.spawn(async move {
            let mut ended = std::pin::pin!(running.outcome());
            tokio::select! {
                // The journal has its outcome.
                _ = &mut ended => {}
                () = end.cancelled() => {
                    stop.cancel();
                    ended.await.ok();
                }
            }
        });
        launched
    }

    /// Resumes a task that nobody runs any more, in the background.
    pub async fn resume(&self, task: TaskId, prompt: Option<String>) -> Result<Launched, Failure> {
        self.seen(&task.to_string()).await?;
        if let Some(process) = &self.background {
            return self.kept.track_future(process.carry_out(BackgroundOrder::Resume { task, prompt })).await;
        }
        Ok(self.keep(self.revive(task, prompt).await?))
    }

    pub(super) async fn revive(&self, task: TaskId, prompt: Option<String>) -> Result<Running, Failure> {
        self.engine.state.rules.check_resume()?;
        self.engine.resume(task, Resumption { prompt, ..Resumption::default() }).await
    }

    /// Returns the status of a task that runs here, without reading anything.
    pub fn glimpse(&self, task: TaskId) -> Option<Glance> {
        let running_task = self.engine.state.present.find(task)?;
        Some(glance_at(&running_task.job, stand_of(&running_task)))
    }

    /// Returns an observer of a task, wherever it runs.
    pub fn observe(&self, task: TaskId) -> TaskObserver {
        TaskObserver { host: self.clone(), task, recorded: None }
    }

    /// True if a task could start to work now, as far as slots go.
    pub fn has_free_slot(&self) -> bool {
        self.engine.state.slots.available_permits() > 0
    }

    /// Returns the status of a task.
    pub async fn look(&self, task: TaskId) -> Result<Glance, Failure> {
        self.glance(self.seen(&task.to_string()).await?).await
    }

    /// Returns true if the host can see the task.
    pub async fn sees(&self, task: TaskId) -> bool {
        self.seen(&task.to_string()).await.is_ok()
    }

    /// True if there are no background tasks.
    pub fn is_idle(&self) -> bool {
        self.kept.is_empty()
    }

    /// Waits until all background tasks have ended.
    pub async fn idle(&self) {
        self.kept.close();
        self.kept.wait().await;
        self.kept.reopen();
    }

    /// Stops all background tasks, present and future.
    pub fn end_all(&self) {
        self.end.cancel();
    }

    /// Returns the agents that it can delegate to, as the contract has them.
    pub fn agents(&self) -> Arc<sortie_agents::Registry> {
        Arc::clone(&self.engine.state.rosters.current().agents)
    }

    /// Returns the delegation tool, the one that only reads, and their companions, as far as the contract has them;
    /// nothing if delegation is switched off.
    pub fn tools(&self) -> Vec<ToolSpec> {
        let state = &self.engine.state;
        if !state.rules.delegation {
            return Vec::new();
        }
        let roster = state.rosters.current();
        let delegating =
            roster.tools.spec(state.contract.tool_name()).map(|spec| state.contract.for_host(spec.clone()));
        let reading = delegating.as_ref().and_then(|_| state.contract.reading_tool());
        let companions = self.companions().iter().filter_map(|name| {
            let spec = roster.tools.spec(name)?.clone();
            Some(ToolSpec { name: state.contract.host_name(name).to_owned(), ..spec })
        });
        delegating.into_iter().chain(reading).chain(companions).collect()
    }

    /// Returns our own name of a companion, given the host's; `None` if there is none of this name.
    pub fn companion(&self, name: &str) -> Option<&'static str> {
        self.companions().iter().copied().find(|ours| self.engine.state.contract.host_name(ours) == name)
    }

    /// Returns the most that a host's tasks could do under the rules, whichever agents serve.
    pub fn reach(&self, person: Person) -> HostReach {
        let state = &self.engine.state;
        // A grant that cannot be read starts nothing.
        let Ok(judge) = state.permissions.judge(state.places.clone()) else { return HostReach::default() };
        let roster = state.rosters.current();
        let defaults = state.contract.defaults();
        let is_among = |names: &[&str], tool: &str| names.iter().any(|name| name.eq_ignore_ascii_case(tool));
        let exists = |tool: &&str| {
            !is_among(defaults.denied_tools, tool) && defaults.only_tools.is_none_or(|only| is_among(only, tool))
        };
        let happens = |possible: Possibility| match possible {
            Possibility::Allowed => true,
            Possibility::Asked => person == Person::Present,
            Possibility::Never => false,
        };
        let has_servers = defaults.only_tools.is_none() && state.remote_tools.may_have_some(&roster.agents);
        let of_servers = judge.names().filter(|name| name.starts_with(SERVERS)).chain([SERVERS]);
        let of_servers = of_servers.filter(|_| has_servers);
        let mut tools = roster.tools.names().filter(exists).chain(of_servers);
        HostReach {
            fetches: exists(&"WebFetch") && happens(judge.possibility("WebFetch")),
            changes: tools.any(|tool| judge.change_by(tool).is_some_and(happens)),
        }
    }

    /// Fails if delegation is switched off.
    pub fn check_switched_on(&self) -> Result<(), Failure> {
        self.engine.state.rules.check_switched_on()
    }

    /// Returns the companions of a contract with background work; without it a host waits for every task.
    fn companions(&self) -> &'static [&'static str] {
        let state = &self.engine.state;
        let has_any = state.rules.delegation && state.contract.defaults().companions.allow_background();
        if has_any { &COMPANIONS } else { &[] }
    }

    /// Calls a companion tool; `None` if there is none of this name.
    ///
    /// Only the user's own rules apply, since there is no grant, and nobody is asked: delegating from outside counts as
    /// a yes. A denial by the user still holds.
    pub async fn call(&self, tool: &str, arguments: &str, cancel: &CancellationToken) -> Option<ToolOutput> {
        let state = &self.engine.state;
        let roster = state.rosters.current();
        let ours = self.companion(tool)?;
        let known = roster.tools.get(ours).map(Arc::clone)?;
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
        let output = gate.pass(call).await;
        // Not worth an error: at worst a report is offered once more.
        ReadReports::add(&self.read, &state.journal, &output.mail.reports).await.ok();
        Some(output)
    }

    /// Stops an open task and its descendants, wherever it runs. Its status shows when it has ended.
    pub async fn stop(&self, task: TaskId) -> Result<(), Failure> {
        self.seen(&task.to_string()).await?;
        self.stop_anywhere(task).await
    }

    /// Interrupts a task that runs here, with its tree: work stops where it is, and a resume continues it.
    pub async fn interrupt(&self, running: &Job) {
        self.engine.state.present.interrupt(|job| job.root == running.root).await;
    }

    /// Returns the parts of a call's answer besides the outcome.
    pub fn answer_parts(&self) -> AnswerParts<'_> {
        let state = &self.engine.state;
        AnswerParts { cwd: &state.rules.cwd, spare_id: state.ids.task(), mark: state.ids.mark() }
    }
}

/// Observer of one task of a host. It reads no part of a log twice.
pub struct TaskObserver {
    host: Host,
    task: TaskId,
    /// Known once the task was seen to run elsewhere.
    recorded: Option<Arc<Mutex<(Job, RecordedWork)>>>,
}

impl TaskObserver {
    /// Returns the current status, if the task works or waits for a slot.
    pub async fn glance(&mut self) -> Option<Glance> {
        if let Some(glance) = self.host.glimpse(self.task) {
            return Some(glance);
        }
        let state = &self.host.engine.state;
        if !matches!(recorded_stand(state, self.task).await, Ok(Stand::Elsewhere { .. })) {
            return None;
        }
        let (journal, now, task, known) =
            (Arc::clone(&state.journal), state.clock.now(), self.task, self.recorded.clone());
        let read = move || {
            let recorded = if let Some(recorded) = known {
                recorded
            } else {
                let job = journal.beginning(task).map_err(journal_failure)?;
                Arc::new(Mutex::new((job, RecordedWork::new(task))))
            };
            let mut current = recorded.lock().unwrap_or_else(PoisonError::into_inner);
            current.1.read_on(journal.as_ref()).map_err(journal_failure)?;
            let glance = glance_at(&current.0, current.1.work(now).map_or(Stand::Waits, Stand::Works));
            drop(current);
            Ok((recorded, glance))
        };
        let (recorded, glance) = blocking(read).await.ok()?;
        self.recorded = Some(recorded);
        Some(glance)
    }
}

fn glance_at(job: &Job, stand: Stand) -> Glance {
    let Job { task, parent, title, config, .. } = job;
    Glance { task: *task, parent: *parent, agent: config.agent.clone(), title: title.clone(), stand }
}

impl Delegation for Host {
    /// The companions delegate nothing.
    fn delegate<'a>(&'a self, _: &'a CallId, _: TaskRequest) -> BoxFuture<'a, Result<Delegated, Failure>> {
        Box::pin(async { Err(Failure::new(FailureCode::NoTask, "a host's tools delegate nothing")) })
    }

    /// The agent of the message's recipient, which a rule may deny.
    fn agent_for(&self, request: &TaskRequest) -> Resource {
        request.resume.as_ref().map_or(Resource::Nothing, |asked| agent_of(&self.engine.state, asked))
    }

    fn answer_parts(&self) -> AnswerParts<'_> {
        Host::answer_parts(self)
    }
}
