//! Delegation: a parent's call becomes a child task. The same loop, a clean context, a narrower grant.

use std::sync::Arc;

use sortie_protocol::{CallId, Failure, Job, TaskOutcome, TaskRequest};
use sortie_tools::{BoxFuture, Delegation};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::account::Account;
use crate::end::{Ending, Tally};
use crate::engine::{EngineError, Inner};
use crate::rules::{Kind, definition};
use crate::sink::Sink;
use crate::slot::Slot;
use crate::task::{Parent, Task};

/// One task's door to children of its own.
pub(crate) struct Delegate {
    pub(crate) engine: Arc<Inner>,
    pub(crate) parent: Arc<Job>,
    pub(crate) account: Arc<Account>,
    pub(crate) sink: Sink,
    pub(crate) cancel: CancellationToken,
    pub(crate) deadline: Option<Instant>,
}

impl Delegation for Delegate {
    fn delegate<'a>(&'a self, call: &'a CallId, request: TaskRequest) -> BoxFuture<'a, Result<TaskOutcome, Failure>> {
        Box::pin(async move {
            let task = self.task(call, request)?;
            // Should this future be dropped, the child is told to end, and does so by itself.
            let _child_ends_with_us = task.cancel.clone().drop_guard();
            let (job, account) = (Arc::clone(&task.job), Arc::clone(&task.account));
            let started = task.start().await.map_err(|error| Failure::new("journal", error.to_string()))?;
            Ok(match started.await.unwrap_or(Err(EngineError::Aborted)) {
                Ok(outcome) => outcome,
                // It ran, but its ending could not be recorded. What it spent is known all the same.
                Err(error) => {
                    let failure = Failure::new("internal", error.to_string());
                    Tally::new(&account, &job.notices).outcome(&job, Ending::Failed { failure, text: String::new() })
                }
            })
        })
    }

    fn fresh_mark(&self) -> String {
        self.engine.ids.mark()
    }
}

impl Delegate {
    fn task(&self, call: &CallId, request: TaskRequest) -> Result<Task, Failure> {
        let engine = &self.engine;
        if self.parent.config.depth >= engine.rules.max_depth {
            return Err(Failure::new("depth", "maximum sub-agent depth exceeded; do this part yourself"));
        }
        engine.rules.check_prompt(&request.prompt)?;
        let roster = engine.rosters.current();
        let definition = definition(&roster.agents, &request.agent, Kind::Delegated)?;
        let from_parent = (Kind::Delegated, Some(&self.parent.config));
        let (config, request) = engine.resolve(&roster, definition, from_parent, request)?;
        self.account.admit_child()?;

        let account = Account::below(&self.account, config.limits);
        let job = Arc::new(engine.job(request, config, Some(&self.parent)));
        let parent = Parent { sink: self.sink.clone(), call: call.clone(), deadline: self.deadline };
        Ok(Task {
            engine: Arc::clone(engine),
            roster,
            sink: engine.sink(&job),
            job,
            account,
            cancel: self.cancel.child_token(),
            slot: Arc::new(Slot::of(Arc::clone(&engine.slots))),
            parent: Some(parent),
        })
    }
}
