//! Order of children in the inbox: by the call that started each child, not by arrival; adopted children last.

use sortie_protocol::{CallId, Reply};

use crate::messages::questions::ASK;

/// The tool that sends a message.
const WRITE: &str = "SendMessage";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InboxPosition {
    Call {
        turn: u32,
        /// Position among the calls of that turn.
        index: usize,
    },
    /// Adopted children, in order of arrival.
    Adopted,
}

/// The calls of a task's newest turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnCalls {
    turn: u32,
    calls: Vec<CallId>,
    /// Positions of calls that send a message.
    writing: Vec<usize>,
    /// Calls that will ask a question, but have not yet.
    asking: Vec<CallId>,
}

impl TurnCalls {
    pub(crate) fn of(turn: u32, reply: &Reply) -> Self {
        let asking = reply.calls().filter(|call| call.tool == ASK);
        let asking = asking.map(|call| call.id.clone()).collect();
        let writing = reply.calls().enumerate().filter(|(_, call)| call.tool == WRITE);
        let writing = writing.map(|(index, _)| index).collect();
        Self { turn, calls: reply.calls().map(|call| call.id.clone()).collect(), writing, asking }
    }

    /// True if all earlier calls have asked their questions.
    pub(crate) fn may_ask(&self, call: &CallId) -> bool {
        self.asking.iter().position(|asking| asking == call).is_none_or(|before| before == 0)
    }

    /// Notes that a call has asked, or will not; false if that was known.
    pub(crate) fn has_asked(&mut self, call: &CallId) -> bool {
        let before = self.asking.len();
        self.asking.retain(|asking| asking != call);
        self.asking.len() < before
    }

    /// True if the child at this position works because of a message sent in this turn.
    pub(crate) fn have_written(&self, place: InboxPosition) -> bool {
        matches!(place, InboxPosition::Call { turn, index } if turn == self.turn && self.writing.contains(&index))
    }

    /// Returns the position of a background child by the call that started it.
    pub(crate) fn place(&self, call: &CallId) -> InboxPosition {
        let index = self.calls.iter().position(|known| known == call);
        InboxPosition::Call { turn: self.turn, index: index.unwrap_or(self.calls.len()) }
    }
}
