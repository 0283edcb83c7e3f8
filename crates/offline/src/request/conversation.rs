//! Conversation read from a request: the current prompt, and the rounds of calls made for it.
//!
//! The model is stateless; everything it knows is in here.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use sortie_protocol::{CallId, Message, Part};

use super::delegation::Delegation;
use super::{Calls, Request, json_outputs};

pub(crate) struct Conversation<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) rounds: Vec<Round<'a>>,
    /// No more calls are possible: the answer is due now.
    pub(crate) must_answer: bool,
    /// `None` for an agent that cannot delegate.
    pub(crate) delegation: Option<Delegation<'a>>,
    system: &'a str,
    tools: Vec<&'a str>,
}

/// The calls of one reply, each with its output.
pub(crate) struct Round<'a> {
    pub(crate) exchanges: Vec<Exchange<'a>>,
}

pub(crate) struct Exchange<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: Value,
    /// The output, in the words of the tool.
    pub(crate) text: Cow<'a, str>,
    pub(crate) failed: bool,
}

impl<'a> Conversation<'a> {
    pub(crate) fn read(request: &Request<'a>) -> Self {
        let must_answer = request.calls == Calls::Forbidden;
        let start = prompt_index(request.messages, must_answer);
        let prompt = match request.messages.get(start) {
            Some(Message::User { text }) => text,
            _ => "",
        };
        let since = request.messages.get(start..).unwrap_or_default();
        let tools = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        let delegation = Delegation::find(request.tools);
        Self { prompt, rounds: rounds(since), must_answer, delegation, system: request.system, tools }
    }

    pub(crate) fn offers(&self, tool: &str) -> bool {
        self.tools.contains(&tool)
    }

    /// Returns the first sentence of the role prompt in lower case, which names the kind of agent.
    pub(crate) fn role_sentence(&self) -> String {
        self.system.split(['.', '\n']).next().unwrap_or_default().to_lowercase()
    }

    /// Number of rounds that searched; rounds that only delegated do not count.
    pub(crate) fn search_rounds(&self) -> usize {
        let searched = |round: &&Round<'_>| round.exchanges.iter().any(|exchange| !self.delegates(exchange));
        self.rounds.iter().filter(searched).count()
    }

    /// True if the call started a sub-agent.
    pub(crate) fn delegates(&self, exchange: &Exchange<'_>) -> bool {
        self.delegation.as_ref().is_some_and(|delegation| delegation.tool == exchange.tool)
    }

    pub(crate) fn exchanges(&self) -> impl Iterator<Item = &Exchange<'a>> {
        self.rounds.iter().flat_map(|round| &round.exchanges)
    }
}

impl Exchange<'_> {
    /// Returns a string argument.
    pub(crate) fn argument(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Index of the newest user message. A final message that only asks for the report, at a limit, is skipped.
fn prompt_index(messages: &[Message], must_answer: bool) -> usize {
    let mut users = messages.iter().enumerate().filter(|(_, message)| matches!(message, Message::User { .. })).rev();
    let newest = users.next().map_or(0, |(index, _)| index);
    match users.next() {
        Some((earlier, _)) if must_answer && newest + 1 == messages.len() => earlier,
        _ => newest,
    }
}

fn rounds(messages: &[Message]) -> Vec<Round<'_>> {
    let mut rounds = Vec::new();
    let mut asked: HashMap<&CallId, (&str, &str)> = HashMap::new();
    for message in messages {
        match message {
            Message::User { .. } => {}
            Message::Assistant { parts } => {
                asked.clear();
                for part in parts {
                    if let Part::Call(call) = part {
                        asked.insert(&call.id, (&call.tool, &call.arguments));
                    }
                }
            }
            Message::Outputs { outputs } => {
                let exchanges = outputs.iter().filter_map(|bound| {
                    let (tool, arguments) = asked.get(&bound.call)?;
                    let arguments = serde_json::from_str(arguments).unwrap_or_default();
                    Some(Exchange {
                        tool,
                        arguments,
                        text: json_outputs::text(&bound.output),
                        failed: bound.output.failed,
                    })
                });
                rounds.push(Round { exchanges: exchanges.collect() });
            }
        }
    }
    rounds
}
