//! The tool of a call, in the forms in which rules know it.

use crate::rule::{ToolKind, ToolSet, canonical, canonical_in_any_case, kind};

/// A tool as rules know it, or any tool of a kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CalledTool<'a> {
    /// The canonical name; empty where it is any tool of a kind.
    pub(crate) name: &'a str,
    pub(crate) kind: ToolKind,
    /// By its exact name: for what permits. Empty for a tool that is not known.
    pub(super) exactly: ToolSet,
    /// By its name in any letter case: for what forbids. Empty for a tool that is not known.
    pub(super) roughly: ToolSet,
}

impl<'a> CalledTool<'a> {
    /// The tool of this name, which may be one that a contract has for it.
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

    /// Whether a rule that forbids could mean it by the name of a tool that edits.
    pub(crate) fn may_edit(&self) -> bool {
        self.roughly.meets(ToolSet::of_kind(ToolKind::Editing))
    }
}
