//! Reply that asks for several sub-agents, held back until each of its calls has started one or failed to.
//!
//! The few events in between are also held back, so that the announcement is right.

use sortie_protocol::{CallId, Event, Fact, Reply, TaskId};

pub(super) struct ParallelStart {
    parent: TaskId,
    /// Calls in the order of the reply.
    calls: Vec<(CallId, Fate)>,
    held: Vec<Event>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Open,
    Started(TaskId),
    /// Refused, or answered without a sub-agent.
    NotStarted,
}

impl ParallelStart {
    /// Begins to hold back a reply, if it asks for several sub-agents by calls of this tool.
    pub(super) fn begin(parent: TaskId, reply: &Reply, tool: &str) -> Option<Self> {
        let asking = reply.calls().filter(|call| call.tool == tool);
        let calls: Vec<_> = asking.map(|call| (call.id.clone(), Fate::Open)).collect();
        (calls.len() > 1).then_some(Self { parent, calls, held: Vec::new() })
    }

    /// Holds an event back, and returns true if the hold is over. It is over if every call has started a sub-agent or
    /// failed to, if a person is asked, or if another task has ended.
    pub(super) fn hold(&mut self, event: &Event) -> bool {
        self.held.push(event.clone());
        match &event.fact {
            Fact::ChildStarted { call, child, .. } => self.settle(event.task_id, call, Fate::Started(*child)),
            Fact::CallFinished { output, .. } => self.settle(event.task_id, &output.call, Fate::NotStarted),
            Fact::TaskEnded { .. } if event.parent_id != Some(self.parent) => return true,
            Fact::ApprovalAsked { .. } => return true,
            _ => {}
        }
        self.calls.iter().all(|(_, fate)| *fate != Fate::Open)
    }

    fn settle(&mut self, task: TaskId, call: &CallId, became: Fate) {
        let open = self.calls.iter_mut().find(|(known, fate)| known == call && *fate == Fate::Open);
        if let Some((_, fate)) = open.filter(|_| task == self.parent) {
            *fate = became;
        }
    }

    /// Task of the reply, its sub-agents in the order of their calls, and the events held back.
    pub(super) fn into_parts(self) -> (TaskId, Vec<TaskId>, Vec<Event>) {
        let started = self.calls.iter().filter_map(|(_, fate)| match fate {
            Fate::Started(child) => Some(*child),
            Fate::Open | Fate::NotStarted => None,
        });
        (self.parent, started.collect(), self.held)
    }
}
