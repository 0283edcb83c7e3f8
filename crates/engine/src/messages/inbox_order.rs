//! Where a child stands in the mail of the task that it works beside: as the calls stood that had it work there,
//! however they raced; and behind all of those if it was adopted.

use sortie_protocol::{CallId, Reply};

use crate::messages::questions::ASK;

/// The tool that sends a message.
const WRITE: &str = "SendMessage";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InboxPosition {
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
    /// The places of those that send a message.
    writing: Vec<usize>,
    /// Those that ask something, and have not done so.
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

    /// Whether all calls before this one have asked what they had to ask.
    pub(crate) fn may_ask(&self, call: &CallId) -> bool {
        self.asking.iter().position(|asking| asking == call).is_none_or(|before| before == 0)
    }

    /// A call has asked, or will not; false if that was known.
    pub(crate) fn has_asked(&mut self, call: &CallId) -> bool {
        let before = self.asking.len();
        self.asking.retain(|asking| asking != call);
        self.asking.len() < before
    }

    /// Whether a child that stands there works because one of them has sent it a message.
    pub(crate) fn have_written(&self, place: InboxPosition) -> bool {
        matches!(place, InboxPosition::Call { turn, index } if turn == self.turn && self.writing.contains(&index))
    }

    /// The place of a child that such a call has work beside the task.
    pub(crate) fn place(&self, call: &CallId) -> InboxPosition {
        let index = self.calls.iter().position(|known| known == call);
        InboxPosition::Call { turn: self.turn, index: index.unwrap_or(self.calls.len()) }
    }
}
