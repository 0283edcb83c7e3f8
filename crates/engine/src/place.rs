//! Where a child stands in the mail of the task that it works beside: as the calls stood that had it work there, however
//! they raced; and behind all of those if it was adopted.

use sortie_protocol::{CallId, Reply};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Call {
        turn: u32,
        /// Among the calls of that turn.
        index: usize,
    },
    /// As many as there are, in the order of their coming.
    Adopted,
}

/// The calls of a task's newest turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnCalls {
    turn: u32,
    calls: Vec<CallId>,
}

impl TurnCalls {
    pub(crate) fn of(turn: u32, reply: &Reply) -> Self {
        Self { turn, calls: reply.calls().map(|call| call.id.clone()).collect() }
    }

    /// The place of a child that such a call has work beside the task.
    pub(crate) fn place(&self, call: &CallId) -> Place {
        let index = self.calls.iter().position(|known| known == call);
        Place::Call { turn: self.turn, index: index.unwrap_or(self.calls.len()) }
    }
}
