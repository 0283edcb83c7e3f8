//! The tool of a call, in the forms that rules use.

use crate::rule::{ToolKind, ToolSet, canonical, canonical_in_any_case, kind};

/// A tool as rules know it, or any tool of a kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CalledTool<'a> {
    /// The canonical name; empty for any tool of a kind.
    pub(crate) name: &'a str,
    pub(crate) kind: ToolKind,
    /// Matched by exact name, for rules that permit. Empty for an unknown tool.
    pub(super) exactly: ToolSet,
    /// Matched in any letter case, for rules that forbid. Empty for an unknown tool.
    pub(super) roughly: ToolSet,
}

impl<'a> CalledTool<'a> {
    /// The tool of this name, which may be a contract's name for it.
    pub(crate) fn named(name: &'a str) -> Self {
        let name = canonical(name);
        let roughly = ToolSet::of(canonical_in_any_case(name));
        Self { name, kind: kind(name), exactly: ToolSet::of(name), roughly }
    }

    /// Any tool of a kind.
    pub(crate) fn any_of(kind: ToolKind) -> Self {
        let tools = ToolSet::of_kind(kind);
        Self { name: "", kind, exactly: tools, roughly: tools }
    }

    /// True if a rule that forbids could match it as an editing tool.
    pub(crate) fn may_edit(&self) -> bool {
        self.roughly.meets(ToolSet::of_kind(ToolKind::Editing))
    }
}
