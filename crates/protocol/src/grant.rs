//! Permissions of a task, kept as separate layers so that every refusal can name the layer that refused.
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
/// A stored layer with an unknown field is refused: the field may restrict something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of its own, said or not said")]
pub struct GrantLayer {
    /// The layer's owner, in words for people, e.g. `agent explore`.
    pub owner: String,
    /// Rules of which at least one must cover a call. `None` admits every call; an empty list admits none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Rules that refuse, whatever else the layer contains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Rules that require a person's approval, even where `allow` matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// Rules that need no approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// True if `allow` came from the layers above, so that a rule added there also applies here. Never decides; only
    /// used to suggest a remedy.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub shares_allow: bool,
    /// Mode for calls that match no rule; `None` admits them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Reads that an earlier layer would ask about need no approval. Denials stay.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub approves_reads: bool,
    /// Refuses calls that this layer or an earlier one would ask about.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub never_asks: bool,
    /// The layer of a resumed task, as it was at the start. Never decides; it explains why a permission added since has
    /// no effect.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub as_started: bool,
}

impl GrantLayer {
    /// A layer that admits everything, to be narrowed field by field.
    pub fn new(owner: impl Into<String>) -> Self {
        Self { owner: owner.into(), ..Self::default() }
    }
}

/// Decision on calls that match no rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reading, notes and delegation are allowed; the rest asks.
    Default,
    /// As `Default`, but nothing may be changed: edits, commands and MCP tools are refused even if a rule allows them.
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

/// An unknown mode name.
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

/// The target of a call, resolved: links followed, spellings normalised.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Nothing that a pattern could match, or nothing that could be determined.
    Nothing,
    /// Relative to the workspace root; absolute in an added directory.
    Path(PathBuf),
    /// A shell command line, and the directory it runs in. The path is relative to the workspace root, so an empty path
    /// is the root itself. In an added directory it is absolute.
    Command { line: String, directory: PathBuf },
    /// The host of a parsed URL.
    Host(String),
    /// The agent to run. A rule that names it by an alias also matches.
    Agent { name: String, aliases: Vec<String> },
}
