//! Assembles agents from files: which file wins, which is set aside, and the findings about it.

use std::collections::HashMap;

use crate::agent_file::read;
use crate::definition::{AgentDefinition, AgentFile, Dialect, Finding, PromptFile, Scope, Severity, Weight};
use crate::registry::builtin;
use crate::registry::name_claim::{self, Broken, Claim, Winner};
use crate::registry::unused_file::UnusedFile;
use crate::registry::{agent_rules, prompts};

/// Agents assembled from files.
pub(super) struct Assembled {
    pub(super) agents: Vec<AgentDefinition>,
    pub(super) findings: Vec<Finding>,
    pub(super) absent: Vec<Absent>,
    pub(super) displaced: Vec<AgentDefinition>,
    pub(super) unused: Vec<UnusedFile>,
}

/// A name claimed by a file that does not count.
#[derive(Debug, Clone)]
pub(super) struct Absent {
    pub(super) name: String,
    /// The reason.
    pub(super) finding: Finding,
}

pub(super) fn assemble(mut files: Vec<AgentFile>, prompts: Vec<PromptFile>, tools: &[String]) -> Assembled {
    // Winners come first: each later claim to a taken name loses.
    files.sort_by(|left, right| rank(left).cmp(&rank(right)));
    let mut assembly = Assembly { builtin: builtin::definitions(), ..Assembly::default() };
    for file in &files {
        assembly.add(file, tools);
    }
    assembly.finish(prompts)
}

/// Nearer scopes first, then our dialect, then by path.
fn rank(file: &AgentFile) -> (std::cmp::Reverse<Scope>, bool, &str) {
    (std::cmp::Reverse(file.scope), file.dialect == Dialect::Foreign, &file.path)
}

#[derive(Default)]
struct Assembly {
    builtin: Vec<AgentDefinition>,
    /// By lower-case name: names that differ only in case are the same.
    claims: HashMap<String, Claim>,
    findings: Vec<Finding>,
    absent: Vec<Absent>,
    displaced: Vec<AgentDefinition>,
    unused: Vec<UnusedFile>,
}

impl Assembly {
    fn add(&mut self, file: &AgentFile, tools: &[String]) {
        let reading = read(file, tools);
        let first_error = reading.findings.iter().find(|finding| finding.is_error()).cloned();
        self.findings.extend(reading.findings);
        let Some(name) = reading.name else { return };
        let key = name.to_ascii_lowercase();
        if let Some(finding) = name_claim::of_a_builtin_name(&self.builtin, file, &name) {
            self.unused.push(UnusedFile::set_aside(name.clone(), file, finding.message.clone()));
            self.set_aside(name, finding);
        } else if let Some(definition) = reading.definition {
            match self.claims.get(&key) {
                None => self.claim(key, Claim::Won(Winner::new(definition, file))),
                Some(claim) => {
                    self.unused.push(UnusedFile::set_aside(name, file, claim.taken_by()));
                    self.findings.extend(claim.against(file, &definition));
                    self.displaced.extend(claim.displaces(file).then_some(definition));
                }
            }
        } else if let Some(error) = first_error {
            self.unused.push(UnusedFile::broken(name.clone(), file, &error));
            self.claim(key, Claim::Blocked(Broken::new(error.clone(), file)));
            self.absent.push(Absent { name, finding: error });
        }
    }

    /// Claims a name, if it is free.
    fn claim(&mut self, key: String, claim: Claim) {
        self.claims.entry(key).or_insert(claim);
    }

    fn set_aside(&mut self, name: String, finding: Finding) {
        self.findings.push(finding.clone());
        self.absent.push(Absent { name, finding });
    }

    /// Adds the winners to the built-in agents, replacing those of the same name.
    fn finish(mut self, prompts: Vec<PromptFile>) -> Assembled {
        self.remove_blocked();
        let mut agents = self.builtin;
        let replaced = prompts::replace(&mut agents, prompts, &mut self.findings);
        let builtin_count = agents.len();
        let mut winners: Vec<AgentDefinition> = self.claims.into_values().filter_map(Claim::into_definition).collect();
        winners.sort_by(|left, right| left.name.cmp(&right.name));
        for definition in winners {
            let builtin = &mut agents[..builtin_count];
            if let Some(place) = builtin.iter_mut().find(|agent| agent.name.eq_ignore_ascii_case(&definition.name)) {
                let unused = replaced.iter().filter(|prompt| prompt.agent == place.name);
                self.findings.extend(unused.map(|prompt| without_effect(prompt, &definition)));
                let (aliases, delegable) = (std::mem::take(&mut place.aliases), place.delegable);
                *place = AgentDefinition { aliases, delegable, ..definition };
            } else {
                drop_alias(builtin, &definition.name);
                agents.push(definition);
            }
        }
        self.findings.extend(agent_rules::about_nobody(&agents));
        self.findings.sort_by(|left, right| (&left.path, left.line).cmp(&(&right.path, right.line)));
        let (absent, displaced, unused) = (self.absent, self.displaced, self.unused);
        Assembled { agents, findings: self.findings, absent, displaced, unused }
    }

    /// Removes built-in agents whose name a broken file has: its author meant something else to run.
    fn remove_blocked(&mut self) {
        for (key, claim) in &self.claims {
            let Claim::Blocked(Broken { error, .. }) = claim else { continue };
            drop_alias(&mut self.builtin, key);
            let Some(at) = self.builtin.iter().position(|agent| agent.name.eq_ignore_ascii_case(key)) else { continue };
            let agent = self.builtin.remove(at);
            let message = format!("the built-in agent `{}` does not replace this broken file", agent.name);
            let fix = "fix the file, or delete it".to_owned();
            let finding = Finding { severity: Severity::Warning, line: None, message, fix, ..error.clone() };
            self.findings.push(finding);
            let names = agent.aliases.into_iter();
            self.absent.extend(names.map(|name| Absent { name, finding: error.clone() }));
        }
    }
}

/// Removes an alias that is now the name of a new agent.
fn drop_alias(agents: &mut [AgentDefinition], name: &str) {
    for agent in agents {
        agent.aliases.retain(|alias| !alias.eq_ignore_ascii_case(name));
    }
}

/// Finding about a role prompt for an agent whose file has its own prompt.
fn without_effect(prompt: &prompts::Replaced, definition: &AgentDefinition) -> Finding {
    Finding {
        severity: Severity::Warning,
        weight: Weight::Ordinary,
        path: prompt.path.clone(),
        line: None,
        message: format!("without effect: `{}` is defined by {}", prompt.agent, definition.origin),
        fix: "delete one of the two files".to_owned(),
    }
}
