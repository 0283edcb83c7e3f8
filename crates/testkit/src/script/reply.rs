//! Constructors of scripted replies, so that a test reads as a sentence:
//! `reply::calls([reply::call("Read", json!({"path": "a.rs"}))]).after_ms(50)`.

use serde_json::Value;
use sortie_protocol::{StopReason, Usage};

use super::{Fault, ScriptedCall, ScriptedPart, ScriptedReply, StatusFault};

/// An answer in words, among which `<me>` and `<turn>` stand for what they do in [`call`].
pub fn text(text: impl Into<String>) -> ScriptedReply {
    ScriptedReply::default().text(text)
}

/// An answer that begins with reasoning.
pub fn reasoning(text: impl Into<String>) -> ScriptedReply {
    ScriptedReply::default().reasoning(text)
}

/// An answer that wants tools run, all at once.
pub fn calls(calls: impl IntoIterator<Item = ScriptedPart>) -> ScriptedReply {
    ScriptedReply::default().calls(calls)
}

/// One call, for [`calls`]. In its arguments `<task 1>` stands for the first task that the request tells of, `<task 2>`
/// for the second, `<last task>` for the one that it tells of last: a script knows no ids. `<me>` is the first word of
/// the prompt, `<turn>` how many replies the request already holds.
pub fn call(tool: impl Into<String>, arguments: Value) -> ScriptedPart {
    ScriptedPart::Call(ScriptedCall { tool: tool.into(), arguments, id: None })
}

/// One call with its arguments as text, valid JSON or not, for [`calls`].
pub fn raw_call(tool: impl Into<String>, arguments: impl Into<String>) -> ScriptedPart {
    ScriptedPart::RawCall(ScriptedCall { tool: tool.into(), arguments: arguments.into(), id: None })
}

/// Nothing but a fault.
pub fn fault(fault: Fault) -> ScriptedReply {
    ScriptedReply::default().fault(fault)
}

/// An HTTP error with the provider's usual words.
pub fn status(code: u16) -> ScriptedReply {
    fault(Fault::status(code))
}

/// An answer that never comes: to see that a call can be broken off.
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

    /// Holds the answer until the gate of that name lets it through.
    #[must_use]
    pub fn held_by(self, gate: impl Into<String>) -> Self {
        Self { gate: Some(gate.into()), ..self }
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
    /// An HTTP error with the provider's usual words.
    pub fn status(code: u16) -> Self {
        Self::Status(StatusFault { code, ..StatusFault::default() })
    }

    /// 429, with the `retry-after` header.
    pub fn rate_limited(retry_after: impl Into<String>) -> Self {
        Self::Status(StatusFault { code: 429, retry_after: Some(retry_after.into()), message: None })
    }
}
