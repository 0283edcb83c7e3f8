//! Constructors of scripted replies, so that a test reads as a sentence: `reply::calls([reply::call("Read",
//! json!({"path": "a.rs"}))]).after_ms(50)`.

use std::time::Duration;

use serde_json::Value;
use sortie_protocol::{StopReason, Usage};

use super::{Fault, Meeting, ScriptedCall, ScriptedPart, ScriptedReply, StatusFault};

/// A reply with text, in which `<me>` and `<turn>` mean the same as in [`call`].
pub fn text(text: impl Into<String>) -> ScriptedReply {
    ScriptedReply::default().text(text)
}

/// A reply that begins with reasoning.
pub fn reasoning(text: impl Into<String>) -> ScriptedReply {
    ScriptedReply::default().reasoning(text)
}

/// A reply with tool calls, all at once.
pub fn calls(calls: impl IntoIterator<Item = ScriptedPart>) -> ScriptedReply {
    ScriptedReply::default().calls(calls)
}

/// One call, for [`calls`]. A script knows no ids, so its arguments may have placeholders. `<task 1>` is the first task
/// that the request mentions, `<task 2>` the second, `<last task>` the one mentioned last. `<me>` is the first word of
/// the prompt, `<turn>` the number of replies already in the request.
pub fn call(tool: impl Into<String>, arguments: Value) -> ScriptedPart {
    ScriptedPart::Call(ScriptedCall { tool: tool.into(), arguments, id: None })
}

/// One call with its arguments as text, valid JSON or not, for [`calls`].
pub fn raw_call(tool: impl Into<String>, arguments: impl Into<String>) -> ScriptedPart {
    ScriptedPart::RawCall(ScriptedCall { tool: tool.into(), arguments: arguments.into(), id: None })
}

/// A reply that is only a fault.
pub fn fault(fault: Fault) -> ScriptedReply {
    ScriptedReply::default().fault(fault)
}

/// An HTTP error with the provider's usual message.
pub fn status(code: u16) -> ScriptedReply {
    fault(Fault::status(code))
}

/// A reply that never comes, to test that a call can be aborted.
pub fn never() -> ScriptedReply {
    fault(Fault::Silence)
}

impl ScriptedReply {
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.part(ScriptedPart::Text(text.into()))
    }

    #[must_use]
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        self.part(ScriptedPart::Reasoning(text.into()))
    }

    #[must_use]
    pub fn calls(mut self, calls: impl IntoIterator<Item = ScriptedPart>) -> Self {
        self.parts.extend(calls);
        self
    }

    #[must_use]
    pub fn part(mut self, part: ScriptedPart) -> Self {
        self.parts.push(part);
        self
    }

    #[must_use]
    pub fn after_ms(self, delay_ms: u64) -> Self {
        Self { delay_ms, ..self }
    }

    /// Holds the reply until the gate of this name releases it.
    #[must_use]
    pub fn held_by(self, gate: impl Into<String>) -> Self {
        Self { gate: Some(gate.into()), ..self }
    }

    /// Holds the reply until this many of the name wait at once, or for `within`, after which it becomes an error.
    #[must_use]
    pub fn meets(self, name: impl Into<String>, count: usize, within: Duration) -> Self {
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        Self { meeting: Some(Meeting { name: name.into(), count, within_ms }), ..self }
    }

    #[must_use]
    pub fn stop(self, stop: StopReason) -> Self {
        Self { stop: Some(stop), ..self }
    }

    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    #[must_use]
    pub fn in_chunks_of(self, bytes: usize) -> Self {
        Self { chunk: Some(bytes), ..self }
    }

    #[must_use]
    pub fn fault(self, fault: Fault) -> Self {
        Self { fault: Some(fault), ..self }
    }
}

impl Fault {
    /// An HTTP error with the provider's usual message.
    pub fn status(code: u16) -> Self {
        Self::Status(StatusFault { code, ..StatusFault::default() })
    }

    /// 429, with the `retry-after` header.
    pub fn rate_limited(retry_after: impl Into<String>) -> Self {
        Self::Status(StatusFault { code: 429, retry_after: Some(retry_after.into()), message: None })
    }
}
