//! Delegation: a parent's call becomes a child task. The same loop, a clean context, a narrower grant.

use std::sync::Arc;

use sortie_agents::AgentDefinition;
use sortie_protocol::{CallId, Failure, Grant, Job, TaskOutcome, TaskRequest};
use sortie_tools::{AnswerParts, BoxFuture, Delegation};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::account::Account;
use crate::end::{Ending, Tally};
use crate::engine::{EngineError, Inner};
use crate::rules::{Kind, serving};
use crate::sink::Sink;
use crate::slot::Slot;
use crate::subagents::Asked;
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

    fn answer_parts(&self) -> AnswerParts<'_> {
        let ids = &self.engine.ids;
        AnswerParts { cwd: &self.engine.rules.cwd, spare_id: ids.task(), mark: ids.mark() }
    }
}

impl Delegate {
    fn task(&self, call: &CallId, request: TaskRequest) -> Result<Task, Failure> {
        let engine = &self.engine;
        engine.rules.check_prompt(&request)?;
        let defaults = engine.contract.defaults();
        let roster = engine.rosters.current();
        let serving = serving(&roster.agents, &request, Kind::Delegated, defaults.best_match);
        if let Ok(serving) = &serving
            && defaults.refuses_circles
        {
            refuse_circle(&self.parent.config.chain, &serving.definition.name)?;
        }
        engine.rules.check_depth(self.parent.config.depth)?;
        let serving = serving?;
        if defaults.refuses_missing_tools {
            refuse_missing_tools(&self.parent.config.grant, serving.definition)?;
        }
        let from_parent = (Kind::Delegated, Some(&self.parent.config));
        let asked = Asked::from(&request);
        let (config, request) = engine.resolve(&roster, serving, from_parent, request)?;
        self.account.admit_child()?;

        let account = Account::below(&self.account, config.limits);
        let job = Arc::new(engine.job(request, config, Some(&self.parent)));
        let parent = Parent { sink: self.sink.clone(), call: call.clone(), deadline: self.deadline };
        Ok(Task {
            engine: Arc::clone(engine),
            roster,
            asked,
            sink: engine.sink(&job),
            job,
            account,
            cancel: self.cancel.child_token(),
            slot: Arc::new(Slot::of(Arc::clone(&engine.slots))),
            parent: Some(parent),
        })
    }
}

/// An agent that is already at work further up would wait for itself.
fn refuse_circle(chain: &[String], name: &str) -> Result<(), Failure> {
    let Some(first) = chain.iter().position(|above| above == name) else { return Ok(()) };
    let circle: Vec<&str> = chain[first..].iter().map(String::as_str).chain([name]).collect();
    let message = format!("`{name}` is already at work further up: {}; do this part yourself", circle.join(" -> "));
    Err(Failure::new("circular", message).about(circle))
}

/// A definition that asks for a tool by name is not run without it.
fn refuse_missing_tools(grant: &Grant, definition: &AgentDefinition) -> Result<(), Failure> {
    let denied = |tool: &&String| sortie_policy::decide(grant, tool) != sortie_policy::Decision::Allow;
    let missing: Vec<&str> = definition.tools.iter().flatten().filter(denied).map(String::as_str).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("`{}` needs tools that its parent may not use: {}", definition.name, missing.join(", "));
    Err(Failure::new("tool_access", message).about(missing))
}
