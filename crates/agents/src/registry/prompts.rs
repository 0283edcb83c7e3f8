//! Files that replace built-in role prompts.

use crate::definition::files::{MAX_FILE_BYTES, TOO_LARGE};
use crate::definition::{AgentDefinition, Finding, PromptFile, Scope, Severity, Weight};
use crate::registry::builtin::{self, PROMPT_FILES};
use sortie_protocol::nearest;

/// A replaced role prompt, kept for a finding in case an agent file makes it pointless.
pub(super) struct Replaced {
    pub(super) agent: &'static str,
    pub(super) path: String,
}

/// Puts the texts into the built-in definitions; a project's wins over a user's.
pub(super) fn replace(
    agents: &mut [AgentDefinition],
    mut files: Vec<PromptFile>,
    findings: &mut Vec<Finding>,
) -> Vec<Replaced> {
    files.sort_by(|left, right| (left.scope, &left.path).cmp(&(right.scope, &right.path)));
    let mut replaced: Vec<Replaced> = Vec::new();
    for file in files {
        match accept(&file) {
            Ok((agent, text)) => {
                replaced.retain(|earlier| earlier.agent != agent);
                replaced.push(Replaced { agent, path: file.path });
                agents.iter_mut().filter(|known| known.name == agent).for_each(|known| known.prompt.clone_from(&text));
            }
            Err(finding) => findings.push(finding),
        }
    }
    replaced
}

/// The owner of the prompt, and its text.
fn accept(file: &PromptFile) -> Result<(&'static str, String), Finding> {
    let finding = |severity, message: String, fix: String| {
        Err(Finding { severity, weight: Weight::Ordinary, path: file.path.clone(), line: None, message, fix })
    };
    let Some(&(_, agent)) = PROMPT_FILES.iter().find(|(name, _)| *name == file.name) else {
        let names: Vec<&str> = PROMPT_FILES.iter().map(|&(name, _)| name).collect();
        let fix = match nearest(&file.name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the names are {}", names.join(", ")),
        };
        return finding(Severity::Warning, format!("no role prompt has the name `{}`", file.name), fix);
    };
    if file.scope == Scope::Project && !file.trusted {
        return Err(Finding {
            severity: Severity::Warning,
            weight: Weight::SetAside,
            path: file.path.clone(),
            line: None,
            message: format!("`{agent}` is a built-in agent, so this project's prompt for it is set aside"),
            fix: "review it, then run `sortie trust`".to_owned(),
        });
    }
    if file.bytes.len() > MAX_FILE_BYTES {
        return finding(Severity::Error, TOO_LARGE.to_owned(), "shorten it".to_owned());
    }
    match str::from_utf8(&file.bytes).map(builtin::text) {
        Err(_) => finding(Severity::Error, "not UTF-8".to_owned(), "save it as UTF-8".to_owned()),
        Ok(text) if text.is_empty() => {
            finding(Severity::Error, "an empty role prompt".to_owned(), "write one, or delete the file".to_owned())
        }
        Ok(text) => Ok((agent, text)),
    }
}
