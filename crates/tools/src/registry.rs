//! `Registry`: the tools by name, in the order in which models are offered them.
//!
//! It does not decide who may use a tool: an agent's configuration names its tools, and the gate checks each call.

use std::sync::Arc;

use sortie_protocol::ToolSpec;

use crate::call::tool::Tool;
use crate::tool::ask::Ask;
use crate::tool::bash::Bash;
use crate::tool::bash_output::BashOutput;
use crate::tool::edit::Edit;
use crate::tool::glob::Glob;
use crate::tool::grep::Grep;
use crate::tool::kill_shell::KillShell;
use crate::tool::ls::Ls;
use crate::tool::multi_edit::MultiEdit;
use crate::tool::note::NoteTool;
use crate::tool::read::Read;
use crate::tool::send_message::SendMessage;
use crate::tool::task_list::TaskList;
use crate::tool::task_output::TaskOutput;
use crate::tool::task_stop::TaskStop;
use crate::tool::todo_write::TodoWrite;
use crate::tool::web_fetch::WebFetch;
use crate::tool::write::Write;
use crate::web::web_rules::WebRules;
use sortie_protocol::nearest;

/// All tools of a process. Specs are built once, so that every request carries the same bytes.
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
    specs: Vec<ToolSpec>,
}

/// Presence of tools that run commands among the built-in ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commands {
    Offered,
    /// No task can run commands here.
    Absent,
}

impl Registry {
    /// Keeps the given order. A tool replaces an earlier one of the same name.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let mut registry = Self { tools: Vec::with_capacity(tools.len()), specs: Vec::with_capacity(tools.len()) };
        for tool in tools {
            let spec = tool.spec();
            if let Some(at) = registry.position(&spec.name) {
                (registry.tools[at], registry.specs[at]) = (tool, spec);
            } else {
                registry.tools.push(tool);
                registry.specs.push(spec);
            }
        }
        registry
    }

    /// The built-in tools. Read-only tools come first, so that agents with only these share a request prefix with
    /// agents that have more.
    pub fn standard(task_tool: Option<Arc<dyn Tool>>, commands: Commands) -> Self {
        let mut tools: Vec<Arc<dyn Tool>> =
            vec![Arc::new(Read), Arc::new(Ls), Arc::new(Glob), Arc::new(Grep), Arc::new(TodoWrite)];
        tools.push(Arc::new(WebFetch::new(WebRules::default())));
        tools.extend([Arc::new(Write) as Arc<dyn Tool>, Arc::new(Edit), Arc::new(MultiEdit)]);
        if commands == Commands::Offered {
            tools.extend([Arc::new(Bash) as Arc<dyn Tool>, Arc::new(BashOutput), Arc::new(KillShell)]);
        }
        tools.extend(task_tool);
        Self::new(tools)
    }

    /// Appends the tools that manage other tasks, for contracts that have companions.
    #[must_use]
    pub fn with_companions(self) -> Self {
        self.with(vec![
            Arc::new(TaskOutput),
            Arc::new(TaskStop),
            Arc::new(SendMessage::ToAll),
            Arc::new(TaskList),
            Arc::new(Ask),
            Arc::new(NoteTool),
        ])
    }

    /// Appends the tools with which sub-agents write to each other, for contracts without background work.
    #[must_use]
    pub fn with_messages(self) -> Self {
        self.with(vec![Arc::new(SendMessage::ToRunning), Arc::new(NoteTool)])
    }

    /// Appends more tools. A tool replaces an earlier one of the same name.
    #[must_use]
    pub fn with(self, more: Vec<Arc<dyn Tool>>) -> Self {
        if more.is_empty() { self } else { Self::new(self.tools.into_iter().chain(more).collect()) }
    }

    /// Appends more tools, none of which replaces another.
    #[must_use]
    pub fn and(&self, more: Vec<Arc<dyn Tool>>) -> Self {
        let mut registry = Self { tools: self.tools.clone(), specs: self.specs.clone() };
        for tool in more {
            let spec = tool.spec();
            if registry.position(&spec.name).is_none() {
                registry.tools.push(tool);
                registry.specs.push(spec);
            }
        }
        registry
    }

    /// Returns the tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.position(name).map(|at| &self.tools[at])
    }

    /// Returns the spec that models read, for the tool of exactly this name.
    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.position(name).map(|at| &self.specs[at])
    }

    /// All specs, in the order of offering.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.specs.iter().map(|spec| spec.name.as_str())
    }

    /// Returns the nearest known name, for an error that suggests it.
    pub fn suggest(&self, name: &str) -> Option<&str> {
        nearest(name, self.names())
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.specs.iter().position(|spec| spec.name == name)
    }
}
