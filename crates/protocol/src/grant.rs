//! What a task may do, kept as separate layers so that every refusal can say whose layer refused.
//!
//! Plain data: `sortie-policy` reads the rules and decides with them.

use std::fmt;
use std::ops::Not;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The authority of one task: the intersection of its layers, the root's first.
///
/// A child's grant is its parent's with layers added; nothing ever removes one. `sortie-policy` decides with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grant {
    pub layers: Vec<GrantLayer>,
}

/// One owner's say in a grant. Rules are text: `Tool` or `Tool(pattern)`.
///
/// A stored layer with a field that is not known here is not read: it may say something that narrows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of its own, said or not said")]
pub struct GrantLayer {
    /// Whose layer it is, in words for people, e.g. `agent explore`.
    pub owner: String,
    /// The rules of which one must cover a call. `None` admits every call; an empty list admits none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// What is refused, whatever else is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// What needs a person's approval, also where `allow` names it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// What needs no approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Whether `allow` was taken from the layers above, so that a rule which is added there will be here, too. It
    /// decides nothing; it is for saying what would help.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub shares_allow: bool,
    /// What holds for calls that no rule here mentions; `None` admits them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Reading that layers before this one would ask about needs no approval. A denial stays one.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub approves_reads: bool,
    /// What this layer and those before it would ask about is refused instead.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub never_asks: bool,
    /// Of a task that goes on: what was said when it was started. It decides nothing; it is for saying that what is
    /// allowed since does not help.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub as_started: bool,
}

impl GrantLayer {
    /// A layer that admits everything, to be narrowed field by field.
    pub fn new(owner: impl Into<String>) -> Self {
        Self { owner: owner.into(), ..Self::default() }
    }
}

/// What holds for calls that no rule mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reading, notes and delegation are allowed; the rest asks.
    Default,
    /// As `Default`, but nothing may be changed: edits, commands and MCP tools are refused, allow rules or not.
    Plan,
    /// As `Default`, and files may be edited.
    AcceptEdits,
    /// Everything is allowed.
    Bypass,
}

impl Mode {
    pub const ALL: [Self; 4] = [Self::Default, Self::Plan, Self::AcceptEdits, Self::Bypass];

    /// The name in settings, flags and journals.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Plan => "plan",
            Self::AcceptEdits => "accept-edits",
            Self::Bypass => "bypass",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no mode has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no mode `{name}`; use default, plan, accept-edits or bypass")]
pub struct ModeError {
    pub name: String,
}

impl FromStr for Mode {
    type Err = ModeError;

    fn from_str(name: &str) -> Result<Self, ModeError> {
        let known = Self::ALL.into_iter().find(|mode| mode.name() == name);
        known.ok_or_else(|| ModeError { name: name.to_owned() })
    }
}

/// What one call would touch, resolved: links followed, spellings gone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Nothing that a pattern could speak of, or nothing that could be found out.
    Nothing,
    /// Relative to the workspace root; absolute in an added directory.
    Path(PathBuf),
    /// A shell command line as it would be run, and the directory that it would run in: relative to the workspace root,
    /// so that an empty path is the root itself; absolute in an added directory.
    Command { line: String, directory: PathBuf },
    /// The host of a parsed URL.
    Host(String),
    /// The agent that would work. A rule that names it by an alias is about it, too.
    Agent { name: String, aliases: Vec<String> },
}
