//! Deciding one call, and adding a layer.

use sortie_protocol::{Grant, GrantLayer};

/// The answer for one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Allow,
    /// Refused by the named owner's layer.
    Deny {
        owner: String,
    },
}

/// Decides whether a task with this grant may call this tool.
pub fn decide(grant: &Grant, tool: &str) -> Decision {
    match grant.layers.iter().find(|layer| !admits(layer, tool)) {
        None => Decision::Allow,
        Some(layer) => Decision::Deny { owner: layer.owner.clone() },
    }
}

/// The grant of a child: all that bound its parent, and one layer more.
pub fn narrow(parent: &Grant, layer: GrantLayer) -> Grant {
    let mut layers = parent.layers.clone();
    layers.push(layer);
    Grant { layers }
}

fn admits(layer: &GrantLayer, tool: &str) -> bool {
    layer.tools.as_ref().is_none_or(|tools| tools.iter().any(|name| name == tool))
}
