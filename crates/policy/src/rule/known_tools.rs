//! Tools known to rules: their names, and which of them do the same to the same things.
//!
//! It knows names, not the tools themselves. A tool whose name is missing here is unknown.

use std::fmt;

use sortie_protocol::nearest;

/// Name prefix of every tool of an MCP server.
pub(crate) const MCP: &str = "mcp__";

/// The kind of a tool, as far as a decision depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// Shows the contents of files, or that they exist.
    Reading,
    Editing,
    Shell,
    Web,
    Delegating,
    /// Manages delegated tasks, or commands in the background.
    Companion,
    Notes,
    Mcp,
    Unknown,
}

const NAMES: [(&str, ToolKind); 19] = [
    ("Read", ToolKind::Reading),
    ("LS", ToolKind::Reading),
    ("Glob", ToolKind::Reading),
    ("Grep", ToolKind::Reading),
    ("Edit", ToolKind::Editing),
    ("Write", ToolKind::Editing),
    ("MultiEdit", ToolKind::Editing),
    ("Bash", ToolKind::Shell),
    ("BashOutput", ToolKind::Companion),
    ("KillShell", ToolKind::Companion),
    ("WebFetch", ToolKind::Web),
    ("Task", ToolKind::Delegating),
    ("SendMessage", ToolKind::Companion),
    ("TaskOutput", ToolKind::Companion),
    ("TaskStop", ToolKind::Companion),
    ("TaskList", ToolKind::Companion),
    ("Ask", ToolKind::Companion),
    ("Note", ToolKind::Companion),
    ("TodoWrite", ToolKind::Notes),
];

/// Tools that manage commands in the background.
pub(crate) const LOOKING_AFTER_COMMANDS: [&str; 2] = ["BashOutput", "KillShell"];

/// Other names for tools in contracts, and for hosts.
const ALIASES: [(&str, &str); 9] = [
    ("task", "Task"),
    ("Agent", "Task"),
    ("agent", "Task"),
    ("spawn_agent", "Task"),
    ("create_todo", "TodoWrite"),
    ("SubagentOutput", "TaskOutput"),
    ("SubagentStop", "TaskStop"),
    ("SubagentMessage", "SendMessage"),
    ("SubagentList", "TaskList"),
];

/// Returns the canonical name of a tool.
pub(crate) fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, known)| known)
}

/// Returns the canonical name of a tool in any letter case, for rules that forbid.
pub(crate) fn canonical_in_any_case(name: &str) -> &str {
    let known = NAMES.iter().map(|(known, _)| (*known, *known)).chain(ALIASES);
    known.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or(name, |(_, known)| known)
}

/// Returns the kind of the tool with this canonical name.
pub(crate) fn kind(canonical: &str) -> ToolKind {
    let known = NAMES.iter().find(|(name, _)| *name == canonical).map(|(_, kind)| *kind);
    known.unwrap_or(if canonical.starts_with(MCP) { ToolKind::Mcp } else { ToolKind::Unknown })
}

/// A set of the known tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ToolSet(u32);

impl ToolSet {
    /// The tool with this canonical name; empty if unknown.
    pub(crate) fn of(canonical: &str) -> Self {
        NAMES.iter().position(|(name, _)| *name == canonical).map_or_else(Self::default, |index| Self(1 << index))
    }

    pub(crate) fn of_kind(kind: ToolKind) -> Self {
        let named = NAMES.iter().filter(|(_, its)| *its == kind);
        named.fold(Self::default(), |set, (name, _)| set.with(Self::of(name)))
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// An unknown tool name, and the name that may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTool {
    pub name: String,
    pub nearest: Option<&'static str>,
}

impl UnknownTool {
    pub(crate) fn check(canonical: &str) -> Option<Self> {
        let known = || NAMES.iter().map(|(name, _)| *name);
        (kind(canonical) == ToolKind::Unknown)
            .then(|| Self { name: canonical.to_owned(), nearest: nearest(canonical, known()) })
    }
}

impl fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no tool `{}`", self.name)?;
        self.nearest.map_or(Ok(()), |nearest| write!(f, "; did you mean {nearest}?"))
    }
}
