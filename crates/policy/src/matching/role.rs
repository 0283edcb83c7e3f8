//! The role of a rule in its layer, and how strictly names are compared in it.

use crate::text::Spelling;

/// The role of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// One of the tools that a layer admits: a bare name is that tool and no other.
    Admit,
    Allow,
    Ask,
    Deny,
}

impl Role {
    pub(super) fn forbids(self) -> bool {
        matches!(self, Self::Ask | Self::Deny)
    }

    /// The form in which names are compared: what permits takes them exactly.
    pub(super) fn spelling(self) -> Spelling {
        if self.forbids() { Spelling::Folded } else { Spelling::Exact }
    }
}
