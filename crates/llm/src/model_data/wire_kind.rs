//! Kinds of wires by name, each with the address of its provider.

use std::fmt;
use std::str::FromStr;

pub(crate) const ANTHROPIC: &str = "anthropic";
pub(crate) const GEMINI: &str = "gemini";
pub(crate) const OPENAI_CHAT: &str = "openai-chat";
pub(crate) const OPENAI_RESPONSES: &str = "openai-responses";

/// Cap on the output that the API requires; used if the route sets none.
pub(crate) const ANTHROPIC_MAX_OUTPUT: u64 = 16_000;

/// The wires by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireKind {
    Anthropic,
    Gemini,
    OpenAiChat,
    OpenAiResponses,
}

/// No wire has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown wire `{given}`; known wires: {}", WireKind::names())]
pub struct UnknownWire {
    given: String,
}

impl WireKind {
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::Gemini, Self::OpenAiChat, Self::OpenAiResponses];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => ANTHROPIC,
            Self::Gemini => GEMINI,
            Self::OpenAiChat => OPENAI_CHAT,
            Self::OpenAiResponses => OPENAI_RESPONSES,
        }
    }

    /// The address of the provider that the wire comes from.
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::OpenAiChat | Self::OpenAiResponses => "https://api.openai.com",
        }
    }

    /// True if both wires come from one provider.
    pub(crate) fn same_provider(self, other: Self) -> bool {
        self.default_base_url() == other.default_base_url()
    }

    /// Default cap on one reply if the wire requires one and none is set.
    pub(crate) fn default_max_output(self) -> Option<u64> {
        (self == Self::Anthropic).then_some(ANTHROPIC_MAX_OUTPUT)
    }

    fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

impl fmt::Display for WireKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for WireKind {
    type Err = UnknownWire;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownWire { given: text.to_owned() })
    }
}
