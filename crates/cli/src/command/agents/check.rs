//! Check of agent files: every finding with its place and remedy, then a summary line.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use sortie_agents::{
    AgentDefinition, AgentFile, Dialect, Finding, MAX_FILE_BYTES, Registry, Scope, Severity, Weight,
    is_draft_description,
};

use super::with_unserved;
use crate::environment::Places;
use crate::error::{self, CommandError};
use crate::settings::Settings;
use crate::text::neutral;
use crate::wiring;

/// Checks every agent folder, and whether any route serves the models that agents name.
pub(super) fn folders(mut agents: Arc<Registry>, settings: &Settings) -> Result<ExitCode, CommandError> {
    match wiring::models(settings) {
        Ok(models) => agents = with_unserved(agents, &models),
        Err(error) => error::warn(&format!("the models of agents are not checked: {}", error.in_one_line())),
    }
    let mut findings = agents.findings().to_vec();
    findings.extend(agents.all().iter().filter_map(undescribed));
    tell(&findings, &sum(checked(&agents, &settings.places), &findings))
}

/// Finding about an agent whose description is still that of `sortie agents new`.
fn undescribed(agent: &AgentDefinition) -> Option<Finding> {
    let path = agent.origin.path.as_deref().filter(|_| is_draft_description(&agent.description))?;
    let text = std::fs::read_to_string(path).unwrap_or_default();
    Some(Finding {
        severity: Severity::Error,
        weight: Weight::Ordinary,
        path: path.to_owned(),
        line: text.lines().position(|line| line.starts_with("description:")).map(|before| before + 1),
        message: "`description` is still the one of the draft".to_owned(),
        fix: "say when to use the agent, and when not".to_owned(),
    })
}

/// Summary line of all folders: `12 agent files: 1 error, 2 warnings`.
pub(crate) fn sum_of(agents: &Registry, places: &Places) -> String {
    sum(checked(agents, places), agents.findings())
}

/// Number of agent files in all folders.
fn checked(agents: &Registry, places: &Places) -> usize {
    // Findings can also be about role prompts, templates and whole folders.
    let is_agent = |path: &&str| {
        let path = Path::new(path);
        let others = [places.prompts(), places.templates()].concat();
        path.extension().is_some() && !others.iter().any(|folder| path.starts_with(folder))
    };
    let sound = agents.all().iter().chain(agents.displaced()).filter_map(|agent| agent.origin.path.as_deref());
    let doubtful = agents.findings().iter().map(|finding| &*finding.path).filter(is_agent);
    let files: BTreeSet<&str> = sound.chain(doubtful).collect();
    files.len()
}

/// Checks the named files, each by itself.
pub(super) fn files(paths: &[PathBuf]) -> Result<ExitCode, CommandError> {
    let tools = sortie_engine::tool_names();
    let mut findings = Vec::new();
    for path in paths {
        match read(path) {
            Ok(file) => {
                let reading = sortie_agents::read(&file, &tools);
                findings.extend(reading.findings);
                findings.extend(reading.definition.as_ref().and_then(undescribed));
            }
            Err(finding) => findings.push(finding),
        }
    }
    tell(&findings, &sum(paths.len(), &findings))
}

fn tell(findings: &[Finding], sum: &str) -> Result<ExitCode, CommandError> {
    let mut text = String::new();
    for finding in findings {
        text += &neutral::line(&finding.to_string());
        text.push('\n');
    }
    text += sum;
    text.push('\n');
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(if findings.iter().any(Finding::is_error) { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn sum(files: usize, findings: &[Finding]) -> String {
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let counted = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let files = counted(files, "agent file");
    match (errors, findings.len() - errors) {
        (0, 0) => format!("{files}: no problems found"),
        (0, warnings) => format!("{files}: {}", counted(warnings, "warning")),
        (errors, 0) => format!("{files}: {}", counted(errors, "error")),
        (errors, warnings) => format!("{files}: {}, {}", counted(errors, "error"), counted(warnings, "warning")),
    }
}

fn read(path: &Path) -> Result<AgentFile, Finding> {
    let shown = path.display().to_string();
    let unread = |why: String| Finding {
        severity: Severity::Error,
        weight: Weight::Ordinary,
        path: shown.clone(),
        line: None,
        message: format!("it cannot be read: {why}"),
        fix: "name a Markdown file".to_owned(),
    };
    // Checked before opening: opening a pipe would wait for a writer.
    let metadata = path.metadata().map_err(|error| unread(error.to_string()))?;
    if !metadata.is_file() {
        return Err(unread("it is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    // Reads one byte more than the limit, to notice a definition that is too long.
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| unread(error.to_string()))?;
    let dialect = dialect(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    Ok(AgentFile { path: shown, scope: Scope::Project, dialect, trusted: true, bytes })
}

/// Dialect of an agent file, by its nearest agent folder.
fn dialect(path: &Path) -> Dialect {
    let mut folders = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    match folders.find(|name| [".claude", ".sortie"].contains(name)) {
        Some(".claude") => Dialect::Foreign,
        _ => Dialect::Ours,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_decides_the_dialect_of_a_file() {
        for (path, expected) in [
            ("/p/.claude/agents/a.md", Dialect::Foreign),
            ("/p/.claude/agents/team/a.md", Dialect::Foreign),
            ("/p/.sortie/agents/a.md", Dialect::Ours),
            ("/p/.claude/trees/x/.sortie/agents/a.md", Dialect::Ours),
            ("/p/.sortie/x/.claude/agents/a.md", Dialect::Foreign),
            ("/p/a.md", Dialect::Ours),
        ] {
            assert_eq!(dialect(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn the_sum_counts_files_errors_and_warnings() {
        let finding = |severity| Finding {
            severity,
            weight: Weight::Ordinary,
            path: String::new(),
            line: None,
            message: String::new(),
            fix: String::new(),
        };
        let (error, warning) = (finding(Severity::Error), finding(Severity::Warning));
        assert_eq!(sum(0, &[]), "0 agent files: no problems found");
        assert_eq!(sum(1, std::slice::from_ref(&warning)), "1 agent file: 1 warning");
        assert_eq!(sum(3, &[error.clone(), error.clone()]), "3 agent files: 2 errors");
        assert_eq!(sum(3, &[error, warning]), "3 agent files: 1 error, 1 warning");
    }
}
