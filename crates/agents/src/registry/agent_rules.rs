//! Finds rules about unknown agents: they have no effect, and their author should know.

use sortie_policy::Rule;
use sortie_protocol::nearest;

use crate::definition::{AgentDefinition, Finding, Severity, Weight};

/// A warning for each rule about an agent that is not among these.
pub(super) fn about_nobody(agents: &[AgentDefinition]) -> Vec<Finding> {
    let names = || agents.iter().flat_map(AgentDefinition::names);
    let mut findings = Vec::new();
    for agent in agents {
        let Some(path) = &agent.origin.path else { continue };
        let mut told: Vec<&str> = Vec::new();
        for text in agent.tools.iter().flatten().chain(&agent.disallowed_tools) {
            let is_about = text.parse::<Rule>().ok().and_then(|rule| rule.is_about_agent(names()));
            // A denial has one rule for each name of the tool.
            let pattern = text.split_once('(').map_or("", |(_, pattern)| pattern.trim_end_matches(')'));
            if is_about != Some(false) || told.contains(&pattern) {
                continue;
            }
            told.push(pattern);
            let fix = match nearest(pattern, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "name an existing one, or delete it".to_owned(),
            };
            findings.push(Finding {
                severity: Severity::Warning,
                weight: Weight::Ordinary,
                path: path.clone(),
                line: None,
                message: format!("`{text}` names no existing agent"),
                fix,
            });
        }
    }
    findings
}
