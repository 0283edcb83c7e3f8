//! Diagnosis of agent files, and of the instructions that a run would read.

use std::sync::Arc;

use sortie_agents::{Agents as _, Finding, Registry, Scope};
use sortie_engine::{Instructions, NoApprover};

use super::diagnosis::Diagnosis;
use super::failed;
use crate::command::agents::{sum_of, with_unserved};
use crate::environment::Places;
use crate::error::CommandError;
use crate::settings::Settings;
use crate::wiring;

pub(super) fn agents(settings: &Settings) -> Vec<Diagnosis> {
    let workspace = match wiring::workspace(settings) {
        Ok(workspace) => workspace,
        Err(error) => return vec![failed("workspace", &error)],
    };
    let mut diagnoses = vec![Diagnosis::ok("workspace", workspace.root().display().to_string())];
    diagnoses.push(match wiring::agents(settings) {
        Ok(agents) => {
            let agents = agents.current();
            let agents = match wiring::models(settings) {
                Ok(models) => with_unserved(agents, &models),
                // Unusable routes have been reported already.
                Err(_) => agents,
            };
            registry(&agents, &settings.places)
        }
        Err(error) => failed("agents", &error),
    });
    diagnoses.extend(match wiring::permissions(settings, Arc::new(NoApprover)).reading(&workspace) {
        Ok(guard) => files(&Instructions::read(&workspace, &guard, &settings.rules().instructions)),
        Err(error) => vec![failed("instructions", &CommandError::config(error.to_string()))],
    });
    diagnoses
}

fn registry(agents: &Registry, places: &Places) -> Diagnosis {
    let count = |scope: Scope| agents.all().iter().filter(|agent| agent.origin.scope == scope).count();
    let displaced = agents.displaced().len();
    let text = format!(
        "{} built in, {} of the user{}, {} of the project",
        count(Scope::Builtin),
        count(Scope::User) + displaced,
        if displaced == 0 { String::new() } else { format!(" ({displaced} displaced by the project)") },
        count(Scope::Project)
    );
    let found = format!("{text}; {}", sum_of(agents, places));
    let advice = "`sortie agents check` says what is wrong";
    match agents.findings() {
        [] => Diagnosis::ok("agents", text),
        findings if findings.iter().any(Finding::is_error) => Diagnosis::error("agents", found, advice),
        _ => Diagnosis::warning("agents", found, advice),
    }
}

fn files(instructions: &Instructions) -> Vec<Diagnosis> {
    let named: Vec<String> =
        instructions.files.iter().map(|file| format!("{} ({} bytes)", file.path, file.text.len())).collect();
    let text = if named.is_empty() { "no file".to_owned() } else { named.join(", ") };
    let read = Diagnosis::ok("instructions", format!("the main agent reads {text}"));
    let left_out = instructions.notices.iter().map(|notice| Diagnosis::warning("instructions", notice.clone(), ""));
    [read].into_iter().chain(left_out).collect()
}
