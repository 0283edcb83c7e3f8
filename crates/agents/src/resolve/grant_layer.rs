//! The layer that a definition adds to a grant: allowed and denied tools, and its mode.

use sortie_policy::Rule;
use sortie_protocol::{Grant, GrantLayer};

use crate::agent_file::matches;
use crate::definition::AgentDefinition;

/// In a deny rule these stand for all tools of their kind; in a definition a bare name means that tool alone.
const WHOLE_KINDS: [&str; 2] = ["Read", "Edit"];

/// The layer that the agent adds below `inherited`. `tools` names the tools that exist for it.
pub(crate) fn layer(definition: &AgentDefinition, inherited: &Grant, tools: &[String]) -> GrantLayer {
    let is_alone = |rule: &String| WHOLE_KINDS.contains(&rule.as_str());
    let (alone, deny): (Vec<String>, Vec<String>) = denied(definition, tools).into_iter().partition(is_alone);
    GrantLayer {
        tools: admitted(definition, &alone, tools),
        deny,
        allow: if definition.mode.is_some() { allowed_above(inherited) } else { Vec::new() },
        shares_allow: definition.mode.is_some(),
        mode: definition.mode,
        approves_reads: definition.approves_reads,
        never_asks: definition.never_asks,
        ..GrantLayer::new(format!("agent {}", definition.name))
    }
}

/// The denied tools, as rules. Names with `*` stand for the tools that they match.
fn denied(definition: &AgentDefinition, tools: &[String]) -> Vec<String> {
    let mut denied: Vec<String> = Vec::new();
    for text in &definition.disallowed_tools {
        if text.parse::<Rule>().is_ok() {
            denied.push(text.clone());
        } else {
            let pattern = text.to_ascii_lowercase();
            denied.extend(tools.iter().filter(|tool| matches(&pattern, &tool.to_ascii_lowercase())).cloned());
        }
    }
    denied
}

/// The allowed tools, as rules; `None` admits every tool.
///
/// A deny rule cannot express a denial `alone`, so it is subtracted from the list of all tools instead. That never
/// widens: a tool that does not exist for this task does not exist for its descendants either.
fn admitted(definition: &AgentDefinition, alone: &[String], tools: &[String]) -> Option<Vec<String>> {
    if alone.is_empty() {
        return definition.tools.clone();
    }
    let names = |rule: &String| rule.split_once('(').map_or(rule.as_str(), |(name, _)| name).to_owned();
    let admitted = definition.tools.as_deref().unwrap_or(tools);
    Some(admitted.iter().filter(|rule| !alone.contains(&names(rule))).cloned().collect())
}

/// The allow rules of the layers above. A mode is about calls that match no rule, so an agent's own mode does not
/// affect them.
fn allowed_above(inherited: &Grant) -> Vec<String> {
    let mut allowed: Vec<String> = Vec::new();
    for rule in inherited.layers.iter().flat_map(|layer| &layer.allow) {
        if !allowed.contains(rule) {
            allowed.push(rule.clone());
        }
    }
    allowed
}
