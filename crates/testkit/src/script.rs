//! Scripted replies and their conditions: one type for the in-memory model and for the HTTP server.
//!
//! A script is plain data, built in Rust or read from JSON. The first rule that matches a request serves it.
//! [`Playback`] counts how often each has served.

mod asked;
mod composition;
mod playback;
pub mod reply;
pub mod when;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sortie_protocol::{StopReason, Usage};

pub use asked::Asked;
pub(crate) use composition::{Composition, compose, tasks_for};
pub use playback::{NoRule, Playback};
pub use when::When;

/// Rules in order; the first that matches wins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub rules: Vec<Rule>,
}

/// A reply and a condition on its requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    #[serde(default)]
    pub when: When,
    /// Number of times that it may serve; then it is skipped. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    pub reply: ScriptedReply,
}

/// One reply of the model, and its delivery. Built with [`reply`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedReply {
    /// Time from the request's arrival to the first byte of the reply.
    #[serde(skip_serializing_if = "is_zero")]
    pub delay_ms: u64,
    /// Name of a gate that holds the reply until a test releases it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// Other replies that this one waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meeting: Option<Meeting>,
    pub parts: Vec<ScriptedPart>,
    /// Absent: `calls` if there is a call, else `end`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// Absent: a quarter of the bytes sent each way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Bytes of the body in each network chunk. Absent: the whole body at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// Replies that leave together. One that waits in vain becomes an error (400), which a client does not retry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meeting {
    pub name: String,
    /// Number of replies of this name that must wait at once.
    pub count: usize,
    pub within_ms: u64,
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptedPart {
    Text(String),
    Reasoning(String),
    Call(ScriptedCall<Value>),
    /// A call whose arguments are sent as this text, valid JSON or not.
    RawCall(ScriptedCall<String>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall<Arguments> {
    /// Name of the tool. `NAMESPACE/NAME` is a tool in a namespace, which only OpenAI Responses has.
    pub tool: String,
    pub arguments: Arguments,
    /// Absent: derived from the turn and the call's position in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// Fault in a reply. Bytes are counted in the body, without framing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// An HTTP error in the provider's own shape.
    Status(StatusFault),
    /// The connection breaks after this many bytes.
    CutAfter(usize),
    /// The response ends properly after this many bytes, and the rest is never sent.
    EndAfter(usize),
    /// Nothing follows after this many bytes, and the connection stays open.
    StallAfter(usize),
    /// Comments, pings and blank deltas for ever, never content.
    KeepAlivesOnly,
    /// No response at all, not even a status.
    Silence,
    /// Half of the reply, then something that is not JSON.
    Garbage,
    /// Half of the reply, then the provider's overload error inside the stream.
    OverloadedMidStream,
    /// A valid reply without content.
    Empty,
    /// The output cap cuts the last call's arguments.
    TruncatedArguments,
    /// The reply arrives complete, a few bytes at a time with pauses.
    SlowDrip { ms: u64 },
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusFault {
    pub code: u16,
    /// Value of the `retry-after` header: seconds or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<String>,
    /// Absent: the provider's usual message for the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Script {
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives one reply to every request.
    pub fn always(reply: ScriptedReply) -> Self {
        Self::new().otherwise(reply)
    }

    /// Gives these replies one after the other, to any requests; then nothing matches any more.
    pub fn in_order(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        replies.into_iter().fold(Self::new(), |script, reply| script.once(when::any(), reply))
    }

    /// Serves `reply` whenever `when` matches.
    #[must_use]
    pub fn on(self, when: When, reply: ScriptedReply) -> Self {
        self.with(Rule { when, times: None, reply })
    }

    /// Serves `reply` the first time that `when` matches.
    #[must_use]
    pub fn once(self, when: When, reply: ScriptedReply) -> Self {
        self.times(1, when, reply)
    }

    /// Serves `reply` the first `times` times that `when` matches.
    #[must_use]
    pub fn times(self, times: u32, when: When, reply: ScriptedReply) -> Self {
        self.with(Rule { when, times: Some(times), reply })
    }

    /// Serves `reply` to all requests that no earlier rule served.
    #[must_use]
    pub fn otherwise(self, reply: ScriptedReply) -> Self {
        self.on(when::any(), reply)
    }

    #[must_use]
    pub fn with(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}
