//! A request as seen by the rules of a script, independent of its wire.

use sortie_llm::ModelRequest;
use sortie_protocol::{Message, Part};

/// Input for the conditions of a script. Texts are borrowed; a message with several blocks has several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked<'a> {
    pub model: &'a str,
    pub system: Vec<&'a str>,
    pub prompt: Vec<&'a str>,
    pub last: Vec<&'a str>,
    pub turn: u32,
}

impl<'a> Asked<'a> {
    /// First word of the prompt, which an agent can use as its own name.
    pub(crate) fn me(&self) -> &'a str {
        self.prompt.iter().find_map(|text| text.split_whitespace().next()).unwrap_or_default()
    }
}

impl<'a> From<&ModelRequest<'a>> for Asked<'a> {
    fn from(request: &ModelRequest<'a>) -> Self {
        let messages = request.messages;
        let first_user = messages.iter().find(|message| matches!(message, Message::User { .. }));
        Self {
            model: request.model,
            system: vec![request.system],
            prompt: first_user.map(texts).unwrap_or_default(),
            last: messages.last().map(texts).unwrap_or_default(),
            turn: turn_of(messages),
        }
    }
}

/// Number of the model's replies in the history.
pub(crate) fn turn_of(messages: &[Message]) -> u32 {
    messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count() as u32
}

fn texts(message: &Message) -> Vec<&str> {
    match message {
        Message::User { text } => vec![text],
        Message::Outputs { outputs } => outputs.iter().map(|output| output.output.for_model.as_str()).collect(),
        Message::Assistant { parts } => parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                Part::Reasoning(_) | Part::Call(_) => None,
            })
            .collect(),
    }
}
