//! The role of a rule in its layer, and how strictly names are compared in that role.

use crate::text::Spelling;

/// The role of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A tool that a layer admits: a bare name means exactly that tool.
    Admit,
    Allow,
    Ask,
    Deny,
}

impl Role {
    pub(super) fn forbids(self) -> bool {
        matches!(self, Self::Ask | Self::Deny)
    }

    /// The form in which names are compared: exact for roles that permit.
    pub(super) fn spelling(self) -> Spelling {
        if self.forbids() { Spelling::Folded } else { Spelling::Exact }
    }
}
