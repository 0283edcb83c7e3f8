//! Grants derived from grants: for a child and for a resumed task. Both only narrow.

use sortie_mutant::is_out;
use sortie_protocol::{Grant, GrantLayer};

/// Returns the grant of a child: all layers of its parent, and one more.
pub fn narrow(parent: &Grant, layer: GrantLayer) -> Grant {
    let mut layers = if is_out("parents-layers") { Vec::new() } else { parent.layers.clone() };
    layers.push(layer);
    Grant { layers }
}

/// Returns the grant of a resumed task: its original grant, within today's.
///
/// Today's layers come first, as they would at a start. A stored grant without any layer was never given to a task; it
/// admits nothing.
pub fn intersect(stored: &Grant, current_root_layers: &[GrantLayer]) -> Grant {
    let mut layers = current_root_layers.to_vec();
    if stored.layers.is_empty() {
        layers.push(GrantLayer { tools: Some(Vec::new()), ..GrantLayer::new("the stored grant, which is empty") });
    }
    // A repeated layer adds nothing unless an approval lies in between. Without this, a task would gain layers with
    // every resume.
    let mut nothing_approved = !current_root_layers.iter().any(|layer| layer.approves_reads);
    for layer in &stored.layers {
        nothing_approved &= !layer.approves_reads;
        let repeats = nothing_approved && !layer.never_asks && current_root_layers.contains(layer);
        if !repeats {
            layers.push(GrantLayer { as_started: true, ..layer.clone() });
        }
    }
    Grant { layers }
}
