//! What a task may do, kept as separate layers so that every refusal can say whose layer refused.

use serde::{Deserialize, Serialize};

/// The authority of one task: the intersection of its layers, the root's first.
///
/// A child's grant is its parent's with layers added; nothing ever removes one. `sortie-policy` decides with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grant {
    pub layers: Vec<GrantLayer>,
}

/// One owner's say in a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantLayer {
    /// Whose layer it is, in words for people, e.g. `agent explore`.
    pub owner: String,
    /// The tools this layer admits. `None` admits every tool; an empty list admits none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
}
