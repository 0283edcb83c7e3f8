//! The messages of a sub-agent, rebuilt from the facts of its log.

use sortie_protocol::{CallId, CallOutput, Fact, Message, Status, TaskOutcome};

/// Status of a sub-agent. From its being added until it gets a slot it has none: it is being initialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubagentStatus {
    Active,
    Completed,
    /// It failed, or a limit ended it: an unfinished report is not a success.
    Error,
    /// Someone stopped it.
    Aborted,
}

/// The messages so far, and outputs that have not yet become one.
#[derive(Debug)]
pub(super) struct Conversation {
    messages: Vec<Message>,
    /// Calls of the last reply, in order.
    calls: Vec<CallId>,
    /// Their outputs, in order of arrival.
    outputs: Vec<CallOutput>,
}

impl SubagentStatus {
    /// True if nothing follows.
    pub fn is_terminal(self) -> bool {
        self != Self::Active
    }

    fn of(outcome: &TaskOutcome) -> Self {
        match outcome.status {
            Status::Completed => Self::Completed,
            Status::Cancelled | Status::Interrupted => Self::Aborted,
            Status::Partial | Status::Failed | Status::Rejected => Self::Error,
        }
    }
}

impl Conversation {
    /// Starts with the brief, and the engine's note if there is one.
    pub(super) fn begin(brief: &str, note: Option<&str>) -> Self {
        let messages = [brief].into_iter().chain(note).map(Message::user).collect();
        Self { messages, calls: Vec::new(), outputs: Vec::new() }
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Applies the next fact. Returns a status if there is news for observers.
    pub(super) fn take(&mut self, fact: Fact) -> Option<SubagentStatus> {
        match fact {
            // The brief is the first message.
            Fact::TaskAdmitted => {}
            Fact::ModelReplied { reply, .. } => {
                self.calls = reply.calls().map(|call| call.id.clone()).collect();
                if reply.parts.is_empty() {
                    return None;
                }
                self.messages.push(Message::Assistant { parts: reply.parts });
            }
            Fact::LimitReached { text, .. } | Fact::AnswerReturned { text } | Fact::Reminded { text, .. } => {
                self.messages.push(Message::User { text });
            }
            Fact::CallFinished { output, .. } => {
                self.outputs.push(output);
                if self.outputs.len() < self.calls.len() {
                    return None;
                }
                self.settle();
            }
            Fact::TaskEnded { outcome } => {
                // Interrupted calls have no output, but the others of their turn do.
                self.settle();
                return Some(SubagentStatus::of(&outcome));
            }
            _ => return None,
        }
        Some(SubagentStatus::Active)
    }

    /// Turns the outputs of one reply into one message, in the order of the calls.
    fn settle(&mut self) {
        let mut outputs = std::mem::take(&mut self.outputs);
        outputs.sort_by_key(|output| self.calls.iter().position(|call| *call == output.call));
        if !outputs.is_empty() {
            self.messages.push(Message::Outputs { outputs });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sortie_protocol::{Part, Reply, StopReason, ToolCall, ToolOutput, Usage};

    use super::*;

    fn call(id: &str) -> Part {
        Part::Call(ToolCall { id: id.into(), tool: "Read".to_owned(), arguments: "{}".to_owned() })
    }

    #[test]
    fn an_output_arrives_at_the_end_even_if_another_call_never_finished() {
        let mut conversation = Conversation::begin("the piece", None);
        let parts = vec![call("one"), call("other")];
        let reply = Reply {
            parts,
            stop: StopReason::Calls,
            usage: Usage::default(),
            usage_doubted: false,
            usage_high: false,
            model: "m".to_owned(),
        };
        let output = CallOutput { call: "other".into(), output: ToolOutput::failure("broken") };
        let outcome = json!({
            "task_id": "agent-aaaaaaaaaaaa", "agent": "explore", "status": "failed", "text": "",
            "model": { "route": "r", "id": "m" }, "usage": Usage::default(),
        });
        let outcome = serde_json::from_value(outcome).expect("an outcome");

        let finished = Fact::CallFinished { output: output.clone(), refused: false };
        assert_eq!(conversation.take(Fact::ModelReplied { turn: 1, reply }), Some(SubagentStatus::Active));
        assert_eq!(conversation.take(finished), None);
        assert_eq!(conversation.take(Fact::TaskEnded { outcome: Box::new(outcome) }), Some(SubagentStatus::Error));
        assert_eq!(conversation.messages().last(), Some(&Message::Outputs { outputs: vec![output] }));
    }
}
