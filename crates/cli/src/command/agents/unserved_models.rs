//! Warnings about agents whose model no route serves.

use std::sync::Arc;

use sortie_agents::{AgentDefinition, Finding, Registry, Severity, Weight};
use sortie_llm::route::AUTO;
use sortie_llm::{Models, UnknownModel};

/// Values by which an agent file leaves the choice of the model to others.
const NO_MODELS: [&str; 2] = ["inherit", AUTO];

/// Adds a warning for each file whose model none of `models` serves.
pub(crate) fn with_unserved(agents: Arc<Registry>, models: &dyn Models) -> Arc<Registry> {
    let findings: Vec<Finding> = agents.all().iter().filter_map(|agent| unserved(agent, models)).collect();
    if findings.is_empty() { agents } else { Arc::new(Registry::clone(&agents).with_findings(findings)) }
}

fn unserved(agent: &AgentDefinition, models: &dyn Models) -> Option<Finding> {
    let path = agent.origin.path.clone()?;
    let model = agent.model.as_deref().filter(|model| !NO_MODELS.contains(model))?;
    let (message, fix) = match models.choose(Some(model), None).err()? {
        UnknownModel::Nobody { hint, .. } => (format!("nothing here serves the model `{model}`"), hint),
        UnknownModel::NotSet => {
            (format!("nothing here serves the model `{model}`"), "set one (`sortie models --help`)".to_owned())
        }
        UnknownModel::Unusable { problem, .. } => (format!("the model `{model}` cannot be used here"), problem),
    };
    Some(Finding { severity: Severity::Warning, weight: Weight::Ordinary, path, line: None, message, fix })
}
