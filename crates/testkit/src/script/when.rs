//! Conditions on the requests of a rule.
//!
//! The free functions begin a condition and the methods narrow it: `when::prompt_contains("login").turn(0)`.

use serde::{Deserialize, Serialize};

use super::Asked;

/// A condition on a request: all fields that are set must match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_contains: Option<String>,
    /// Text in the first user message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_contains: Option<String>,
    /// Text in the last message of any kind; all outputs of one turn are one message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_contains: Option<String>,
    /// Number of the model's replies already in the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// The complete model id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

pub fn any() -> When {
    When::default()
}

pub fn system_contains(text: impl Into<String>) -> When {
    any().system_contains(text)
}

pub fn prompt_contains(text: impl Into<String>) -> When {
    any().prompt_contains(text)
}

pub fn last_contains(text: impl Into<String>) -> When {
    any().last_contains(text)
}

pub fn turn(turn: u32) -> When {
    any().turn(turn)
}

pub fn model(id: impl Into<String>) -> When {
    any().model(id)
}

impl When {
    #[must_use]
    pub fn system_contains(self, text: impl Into<String>) -> Self {
        Self { system_contains: Some(text.into()), ..self }
    }

    #[must_use]
    pub fn prompt_contains(self, text: impl Into<String>) -> Self {
        Self { prompt_contains: Some(text.into()), ..self }
    }

    #[must_use]
    pub fn last_contains(self, text: impl Into<String>) -> Self {
        Self { last_contains: Some(text.into()), ..self }
    }

    #[must_use]
    pub fn turn(self, turn: u32) -> Self {
        Self { turn: Some(turn), ..self }
    }

    #[must_use]
    pub fn model(self, id: impl Into<String>) -> Self {
        Self { model: Some(id.into()), ..self }
    }

    pub fn matches(&self, asked: &Asked<'_>) -> bool {
        self.turn.is_none_or(|turn| turn == asked.turn)
            && self.model.as_deref().is_none_or(|id| id == asked.model)
            && found(self.prompt_contains.as_deref(), &asked.prompt)
            && found(self.last_contains.as_deref(), &asked.last)
            && found(self.system_contains.as_deref(), &asked.system)
    }
}

fn found(wanted: Option<&str>, texts: &[&str]) -> bool {
    wanted.is_none_or(|wanted| texts.iter().any(|text| text.contains(wanted)))
}
