//! Delegation: a parent's call becomes a child task. The same loop, a clean context, a narrower grant.

use std::sync::{Arc, Mutex};

use sortie_protocol::{CallId, Fact, Failure, Job, Limits, TaskOutcome, TaskRequest, Usage};
use sortie_tools::{BoxFuture, Delegation};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::brood::Brood;
use crate::engine::{EngineError, Inner};
use crate::sink::Sink;
use crate::slot::Slot;
use crate::task::{Task, add_spending};

/// One task's door to children of its own.
pub(crate) struct Delegate {
    pub(crate) engine: Arc<Inner>,
    pub(crate) brood: Arc<Brood>,
    pub(crate) parent: Arc<Job>,
    pub(crate) sink: Sink,
    pub(crate) cancel: CancellationToken,
    pub(crate) deadline: Option<Instant>,
    /// What the parent's children have spent.
    pub(crate) spent: Arc<Mutex<Usage>>,
}

impl Delegation for Delegate {
    fn delegate<'a>(&'a self, call: &'a CallId, request: TaskRequest) -> BoxFuture<'a, Result<TaskOutcome, Failure>> {
        Box::pin(async move {
            let task = self.start(call, request).await?;
            // Should this future be dropped, the child is told to end, and does so by itself.
            let _child_ends_with_us = task.cancel.clone().drop_guard();
            let ended = task.spawn().await.unwrap_or(Err(EngineError::Aborted));
            let outcome = ended.map_err(|error| Failure::new("internal", error.to_string()))?;
            add_spending(&self.spent, outcome.usage);
            Ok(outcome)
        })
    }

    fn fresh_mark(&self) -> String {
        self.engine.ids.mark()
    }
}

impl Delegate {
    async fn start(&self, call: &CallId, request: TaskRequest) -> Result<Task, Failure> {
        let rules = &self.engine.rules;
        if self.parent.config.depth >= rules.max_depth {
            return Err(Failure::new("depth", "maximum sub-agent depth exceeded; do this part yourself"));
        }
        let TaskRequest { title, prompt, agent, model, limits, notices } = request;
        self.engine.check_prompt(&prompt)?;
        let agents = &self.engine.agents;
        let definition =
            agents.get_delegable(&agent).map_err(|error| Failure::new("unknown_agent", error.to_string()))?;
        let config = self.engine.resolve(definition, Some(&self.parent.config), model.as_deref(), limits)?;
        self.brood.admit()?;
        let brood = Brood::below(&self.brood, config.limits.max_children);

        let job = Arc::new(Job {
            task: self.engine.ids.task(),
            parent: Some(self.parent.task),
            root: self.parent.root,
            title,
            prompt,
            workspace: self.parent.workspace.clone(),
            config,
        });
        let sink = self.engine.sink(&job);
        let born = Fact::TaskStarted { job: Box::new(Job::clone(&job)) };
        let noted = Fact::ChildStarted { call: call.clone(), child: job.task };
        self.sink.append_with(noted, &sink, born).await.map_err(|error| Failure::new("journal", error.to_string()))?;
        Ok(Task {
            engine: Arc::clone(&self.engine),
            brood,
            job,
            sink,
            cancel: self.cancel.child_token(),
            slot: Arc::new(Slot::of(Arc::clone(&self.engine.slots))),
            parents_deadline: self.deadline,
            notices,
            report_cap: self.engine.contract.defaults().report_cap_bytes,
        })
    }
}

/// What holds for every delegated task unless its request tightens it.
pub(crate) fn delegated_limits(default_timeout: std::time::Duration, max_tokens: Option<u64>) -> Limits {
    Limits { timeout: Some(default_timeout), max_tokens, ..Limits::default() }
}
