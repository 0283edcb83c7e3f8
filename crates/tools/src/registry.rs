//! `Registry`: the tools by name, in the order in which models are offered them.
//!
//! It does not decide who may use which tool: an agent's configuration names them, and the gate checks each call.

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

/// All tools of a process. Specs are made once, so that every request carries the same bytes.
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
    specs: Vec<ToolSpec>,
}

/// Whether tools that run commands are among the built-in ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commands {
    Offered,
    /// Nobody can run commands here.
    Absent,
}

impl Registry {
    /// Keeps the given order. A tool with the name of an earlier one takes that one's place.
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

    /// The built-in tools. The read-only ones come first, so that agents that have only those share a request prefix
    /// with agents that have more.
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

    /// The same tools and those that look after other tasks behind them, for contracts that have companions.
    #[must_use]
    pub fn with_companions(self) -> Self {
        self.with(vec![
            Arc::new(TaskOutput),
            Arc::new(TaskStop),
            Arc::new(SendMessage),
            Arc::new(TaskList),
            Arc::new(Ask),
            Arc::new(NoteTool),
        ])
    }

    /// The same tools and more behind them. One with a known name takes that one's place.
    #[must_use]
    pub fn with(self, more: Vec<Arc<dyn Tool>>) -> Self {
        if more.is_empty() { self } else { Self::new(self.tools.into_iter().chain(more).collect()) }
    }

    /// These tools and more behind them, none of which takes another's place.
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

    /// The tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.position(name).map(|at| &self.tools[at])
    }

    /// What models read of the tool of exactly this name.
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

    /// The name that someone who wrote `name` may have meant, for an error that suggests it.
    pub fn suggest(&self, name: &str) -> Option<&str> {
        nearest(name, self.names())
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.specs.iter().position(|spec| spec.name == name)
    }
}
