//! The registry of agents: which ones exist, and which one a name means.

mod agent_rules;
mod assemble;
mod builtin;
mod draft;
mod name_claim;
mod prompts;
mod unknown_agent;
mod unused_file;

use std::sync::Arc;

use sortie_protocol::{nearest, nearest_few};

pub use self::draft::{draft, is_draft_description};
pub use self::unknown_agent::UnknownAgent;
pub use self::unused_file::{Unused, UnusedFile};

use self::assemble::{Absent, Assembled};
use crate::definition::{AgentDefinition, AgentFile, Finding, PromptFile, Severity, TemplateFile, Weight};
use crate::templates::{Template, Templates};

/// Source of agents. Asked again for each new task: agents may change while a program runs.
pub trait Agents: Send + Sync {
    /// The current agents; the same [`Arc`] while nothing has changed.
    fn current(&self) -> Arc<Registry>;
}

/// Agents that never change.
impl Agents for Arc<Registry> {
    fn current(&self) -> Arc<Registry> {
        Self::clone(self)
    }
}

/// The known agents, in listing order: the built-in ones, then the others by name.
#[derive(Debug, Clone)]
pub struct Registry {
    agents: Vec<AgentDefinition>,
    findings: Vec<Finding>,
    /// Names claimed by files that do not count, to explain why when someone asks for one.
    absent: Vec<Absent>,
    /// Valid user definitions overridden by project files of the same name.
    displaced: Vec<AgentDefinition>,
    unused: Vec<UnusedFile>,
    templates: Arc<Templates>,
}

impl Registry {
    pub fn builtin() -> Self {
        Self {
            agents: builtin::definitions(),
            findings: Vec::new(),
            absent: Vec::new(),
            displaced: Vec::new(),
            unused: Vec::new(),
            templates: Arc::new(Templates::with_builtin(Vec::new()).0),
        }
    }

    /// Collects the built-in agents and those of the given files.
    ///
    /// A project's agent wins over a user's, and a user's over a built-in one. Within one scope our dialect wins over
    /// the foreign one. A broken file also wins: then the name has no agent, and the error says why. An untrusted
    /// project file cannot replace a built-in agent or its prompt, nor use a name that looks like a built-in one.
    /// `tools` are the names of all tools that exist. The order of the files does not matter.
    pub fn assemble(files: Vec<AgentFile>, prompts: Vec<PromptFile>, tools: &[String]) -> Self {
        let Assembled { agents, findings, absent, displaced, unused } = assemble::assemble(files, prompts, tools);
        Self { agents, findings, absent, displaced, unused, templates: Arc::default() }
    }

    /// Adds findings about agent files that could not even be read.
    #[must_use]
    pub fn with_unread(mut self, findings: Vec<Finding>) -> Self {
        self.unused.extend(findings.iter().filter(|finding| finding.is_error()).map(UnusedFile::unread));
        self.with_findings(findings)
    }

    /// Adds findings about further files.
    #[must_use]
    pub fn with_findings(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings.extend(findings);
        self.findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        self
    }

    /// Replaces the templates with the built-in ones and those of these files.
    #[must_use]
    pub fn with_templates(mut self, files: Vec<TemplateFile>) -> Self {
        let (templates, mut findings) = Templates::with_builtin(files);
        findings.extend(templates.all().iter().filter_map(|template| self.about_server_of(template)));
        self.templates = Arc::new(templates);
        self.with_findings(findings)
    }

    /// Finding about a template that names an unknown agent.
    fn about_server_of(&self, template: &Template) -> Option<Finding> {
        let named = template.agent.as_deref()?;
        let unknown = self.get(named).err()?;
        let fix = match nearest(named, unknown.known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`sortie agents list` shows the existing ones".to_owned(),
        };
        let message = format!(
            "`agent`: there is no agent `{named}`, so the template works only for callers that name another one"
        );
        let path = template.origin.path.clone().unwrap_or_default();
        Some(Finding { severity: Severity::Warning, weight: Weight::Ordinary, path, line: None, message, fix })
    }

    /// Changes each agent.
    #[must_use]
    pub fn recast(&self, change: impl Fn(&AgentDefinition) -> AgentDefinition) -> Self {
        Self { agents: self.agents.iter().map(change).collect(), ..self.clone() }
    }

    /// Makes this registry a source that never changes.
    pub fn fixed(self) -> Arc<dyn Agents> {
        Arc::new(Arc::new(self))
    }

    /// Findings about the files, in the order of their paths.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// All agents, the main agent included.
    pub fn all(&self) -> &[AgentDefinition] {
        &self.agents
    }

    /// Agent files that define no agent here.
    pub fn unused(&self) -> &[UnusedFile] {
        &self.unused
    }

    /// User definitions that do not count here, because the project has files of the same names.
    pub fn displaced(&self) -> &[AgentDefinition] {
        &self.displaced
    }

    /// The known templates.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// Agents that can be delegated to.
    pub fn delegable(&self) -> impl Iterator<Item = &AgentDefinition> {
        self.agents.iter().filter(|agent| agent.delegable)
    }

    /// Finds an agent by name: exact first, then by alias, ignoring case and surrounding space.
    pub fn get(&self, name: &str) -> Result<&AgentDefinition, UnknownAgent> {
        self.find(name, |_| true)
    }

    /// Finds an agent to delegate to, as [`get`](Self::get) does.
    pub fn get_delegable(&self, name: &str) -> Result<&AgentDefinition, UnknownAgent> {
        self.find(name, |agent| agent.delegable)
    }

    fn find(&self, name: &str, eligible: impl Fn(&AgentDefinition) -> bool) -> Result<&AgentDefinition, UnknownAgent> {
        let candidates = || self.agents.iter().filter(|agent| eligible(agent));
        let wanted = name.trim();
        candidates()
            .find(|agent| agent.name == wanted)
            .or_else(|| candidates().find(|agent| goes_by(agent, wanted)))
            .ok_or_else(|| {
                // Names that may have been meant come first; otherwise the order stays.
                let mut known: Vec<&str> = candidates().map(|agent| agent.name.as_str()).collect();
                let near = nearest_few(wanted, known.iter().copied(), usize::MAX);
                known.sort_by_key(|name| near.iter().position(|near| near == name).unwrap_or(usize::MAX));
                let claimed = self.absent.iter().filter(|absent| absent.name.eq_ignore_ascii_case(wanted));
                UnknownAgent {
                    asked: name.to_owned(),
                    known: known.into_iter().map(str::to_owned).collect(),
                    absent: claimed.map(|absent| absent.finding.clone()).collect(),
                }
            })
    }
}

fn goes_by(agent: &AgentDefinition, name: &str) -> bool {
    agent.name.eq_ignore_ascii_case(name) || agent.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
}
