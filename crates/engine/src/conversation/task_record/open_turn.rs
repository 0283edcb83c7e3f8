//! Progress of the calls in the newest reply.

use std::collections::HashMap;
use std::sync::Arc;

use sortie_protocol::{CallId, CallOutput, Fact, Reply, TaskId, Timestamp, ToolCall};

use crate::conversation::unanswered_calls;

/// A reply with calls, some of them without an output.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenTurn {
    pub(crate) reply: Arc<Reply>,
    pub(crate) outputs: HashMap<CallId, CallOutput>,
    pub(crate) started: HashMap<CallId, Started>,
}

/// A call that was about to run when the log ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) idempotent: bool,
    pub(crate) at: Option<Timestamp>,
    /// Its last progress line.
    pub(crate) progress: Option<String>,
    /// The task that answers it.
    pub(crate) child: Option<TaskId>,
    /// The leg of that task that has answered it.
    pub(crate) ended_leg: Option<u32>,
    /// The call does not wait for the child.
    pub(crate) is_released: bool,
}

/// The child that answers a call without an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attached {
    pub(crate) child: TaskId,
    /// The leg that has answered it, if any.
    pub(crate) ended_leg: Option<u32>,
    /// The call does not wait for the child.
    pub(crate) is_released: bool,
}

impl OpenTurn {
    pub(super) fn of(reply: Arc<Reply>) -> Self {
        Self { reply, outputs: HashMap::new(), started: HashMap::new() }
    }

    /// Applies a fact about a call.
    pub(super) fn apply(&mut self, fact: Fact, time: Timestamp) {
        match fact {
            Fact::CallStarted { call, idempotent } => {
                let started = self.started(call.id);
                (started.idempotent, started.at) = (idempotent, Some(time));
            }
            Fact::CallProgressed { call, text } => self.started(call).progress = Some(text),
            Fact::ChildStarted { call, child, background } => {
                let started = self.started(call);
                (started.child, started.is_released) = (Some(child), background);
            }
            Fact::ChildReleased { call, .. } => self.started(call).is_released = true,
            Fact::ChildEnded { call, child, child_leg } => {
                // The mail covers children in the background.
                let waiting = |started: &&mut Started| started.child == Some(child) && !started.is_released;
                if let Some(started) = self.started.get_mut(&call).filter(waiting) {
                    started.ended_leg = Some(child_leg);
                }
            }
            _ => {}
        }
    }

    fn started(&mut self, call: CallId) -> &mut Started {
        self.started.entry(call).or_default()
    }

    /// Returns a call of the reply.
    pub(super) fn call(&self, id: &CallId) -> Option<&ToolCall> {
        self.reply.calls().find(|call| call.id == *id)
    }

    /// Returns the calls without an output.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = &ToolCall> {
        self.reply.calls().filter(|call| !self.outputs.contains_key(&call.id))
    }

    /// Returns the children that answer these calls.
    pub(super) fn attached(&self) -> HashMap<CallId, Attached> {
        let unanswered = self.started.iter().filter(|(call, _)| !self.outputs.contains_key(*call));
        unanswered
            .filter_map(|(call, started)| {
                let Started { child, ended_leg, is_released, .. } = *started;
                Some((call.clone(), Attached { child: child?, ended_leg, is_released }))
            })
            .collect()
    }

    /// Returns the outputs in the order of the calls; the log has them in the order in which they finished.
    pub(super) fn into_outputs(self) -> Vec<CallOutput> {
        let Self { reply, mut outputs, started } = self;
        let output = |call: &ToolCall| {
            let answered = outputs.remove(&call.id);
            answered.unwrap_or_else(|| unanswered_calls::unanswered(call, started.get(&call.id)))
        };
        reply.calls().map(output).collect()
    }
}
