//! Settings for all tasks of one engine, and checks that need nothing started or opened.

use std::time::Duration;

use sortie_agents::AgentDefinition;
use sortie_contract::{Contract, Defaults};
use sortie_protocol::{AgentConfig, Failure, FailureCode, Limits, Money, TaskRequest};

use crate::resolve::instructions::InstructionRules;

/// Settings for all tasks of one engine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own, that a person turns by its name")]
pub struct EngineSettings {
    /// True if agents may delegate at all.
    pub delegation: bool,
    /// A task of this depth cannot delegate. A main agent has depth 0.
    pub max_depth: u32,
    /// Delegated tasks that work at the same time; more wait in order.
    pub max_concurrent: usize,
    /// Tasks that one tree may start.
    pub max_children: u32,
    /// Tasks that may be delegated within a minute, in all trees.
    pub delegations_per_minute: Option<u32>,
    /// Timeout of delegated tasks; a main agent has none unless its request sets one.
    pub default_timeout: Duration,
    /// Token limit of every delegated task with its descendants.
    pub max_tokens: Option<u64>,
    /// Cost limit of every delegated task with its descendants, in US dollars.
    pub max_cost: Option<Money>,
    /// Model of delegated tasks that name none themselves; the parent's model if absent.
    pub model: Option<String>,
    pub max_prompt_bytes: usize,
    /// True if a call may name the model of the task that it starts.
    pub allow_model_override: bool,
    /// True if a call may start a background task, in contracts that have such calls.
    pub background: bool,
    /// Time after its end in which a call may resume a task; `None` forbids it. A person may resume it at any time.
    pub resume_within: Option<Duration>,
    /// True if the built-in agents can be named even if the contract shows only those from files.
    pub builtin_agents: bool,
    pub instructions: InstructionRules,
    /// Working directory relative to the workspace, for contracts that mention it: `.` at the root.
    pub cwd: String,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            delegation: true,
            max_depth: 2,
            max_concurrent: 20,
            max_children: 200,
            delegations_per_minute: None,
            default_timeout: Duration::from_mins(5),
            max_tokens: None,
            max_cost: None,
            model: None,
            max_prompt_bytes: 1 << 20,
            allow_model_override: true,
            background: true,
            resume_within: Some(Duration::from_hours(7 * 24)),
            builtin_agents: false,
            instructions: InstructionRules::default(),
            cwd: ".".to_owned(),
        }
    }
}

/// Role in which a request is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskKind {
    /// As a main agent, which answers a person.
    Main,
    /// As a sub-agent, which reports to its caller.
    Delegated,
}

impl TaskKind {
    /// Returns the kind of a task at this depth.
    pub(crate) fn at(depth: u32) -> Self {
        if depth == 0 { Self::Main } else { Self::Delegated }
    }
}

/// Requester of a new task, as far as it matters for decisions about the task.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Requester<'a> {
    /// A person, who wants a main agent.
    Person,
    /// A program outside every task, at this depth.
    Program { depth: u32 },
    /// A task with this configuration.
    Task(&'a AgentConfig),
}

impl<'a> Requester<'a> {
    pub(crate) fn kind(self) -> TaskKind {
        match self {
            Self::Person => TaskKind::Main,
            Self::Program { .. } | Self::Task(_) => TaskKind::Delegated,
        }
    }

    pub(crate) fn parent(self) -> Option<&'a AgentConfig> {
        match self {
            Self::Person | Self::Program { .. } => None,
            Self::Task(parent) => Some(parent),
        }
    }

    /// Returns the depth from which it delegates. A program delegates as a main agent does, unless it
    /// works for a task of another process.
    pub(crate) fn depth(self) -> Option<u32> {
        match self {
            Self::Person => None,
            Self::Program { depth } => Some(depth),
            Self::Task(parent) => Some(parent.depth),
        }
    }

    /// Returns the depth of the new task.
    pub(crate) fn depth_of_task(self) -> u32 {
        self.depth().map_or(0, |depth| depth + 1)
    }
}

impl EngineSettings {
    /// Returns the default settings for this contract.
    pub fn of(contract: &dyn Contract) -> Self {
        let defaults = contract.defaults();
        let instructions =
            InstructionRules { for_children: defaults.inherit_context_files, ..InstructionRules::default() };
        Self {
            max_depth: defaults.max_depth,
            max_concurrent: defaults.max_concurrent,
            max_tokens: defaults.max_tokens,
            instructions,
            ..Self::default()
        }
    }

    /// Fails if delegation is switched off.
    pub fn check_switched_on(&self) -> Result<(), Failure> {
        let why = "delegation is switched off (`task_tool.enabled` is false)";
        if self.delegation {
            Ok(())
        } else {
            Err(Failure::new(FailureCode::DelegationOff, why).due_to("task_tool.enabled"))
        }
    }

    /// Returns the time after its end in which a call may resume a task, or fails if calls may not.
    pub(crate) fn check_resume(&self) -> Result<Duration, Failure> {
        let why = "resuming a task is switched off (`task_tool.resume` is false); start a new one";
        self.resume_within.ok_or_else(|| Failure::new(FailureCode::ResumeOff, why).due_to("task_tool.resume"))
    }

    /// Fails if a task of this depth may not delegate.
    pub(crate) fn check_depth(&self, depth: u32) -> Result<(), Failure> {
        self.check_switched_on()?;
        if depth >= self.max_depth {
            return Err(Failure::new(FailureCode::Depth, "maximum sub-agent depth exceeded; do this part yourself"));
        }
        Ok(())
    }

    pub(crate) fn check_prompt(&self, request: &TaskRequest) -> Result<(), Failure> {
        self.check_words(&request.prompt)?;
        self.check_size("description", &request.title)
    }

    /// Fails if this prompt cannot be given to a task.
    pub(crate) fn check_words(&self, prompt: &str) -> Result<(), Failure> {
        if prompt.trim().is_empty() {
            return Err(Failure::new(FailureCode::EmptyPrompt, "the prompt is empty; say what is to be done"));
        }
        self.check_size("prompt", prompt)
    }

    fn check_size(&self, what: &str, text: &str) -> Result<(), Failure> {
        let (size, max) = (text.len(), self.max_prompt_bytes);
        if size <= max {
            return Ok(());
        }
        let message = format!("the {what} has {size} bytes; the limit is {max} (`task_tool.max_prompt_bytes`)");
        Err(Failure::new(FailureCode::PromptTooLong, message).due_to("task_tool.max_prompt_bytes"))
    }

    /// Returns the limits of a whole tree.
    pub(crate) fn of_tree(&self) -> Limits {
        Limits { max_children: Some(self.max_children), ..Limits::default() }
    }

    /// Returns the default limits of a task, which its request can tighten.
    pub(crate) fn limits(&self, kind: TaskKind) -> Limits {
        match kind {
            TaskKind::Main => Limits::default(),
            TaskKind::Delegated => Limits {
                timeout: Some(self.default_timeout),
                max_tokens: self.max_tokens,
                max_cost: self.max_cost,
                ..Limits::default()
            },
        }
    }
}

/// Returns the turn limit for a request, and a notice if it is lower than requested.
///
/// The number in an agent file is its author's limit. Without one, and for built-in agents, the number is only a
/// default, and a call may choose up to the contract's maximum. A main agent's number is its own.
pub(crate) fn turns(
    definition: &AgentDefinition,
    asked: Option<u32>,
    defaults: &Defaults,
    kind: TaskKind,
) -> (Option<u32>, Option<String>) {
    let (usual, most_asked) = match kind {
        TaskKind::Main => (definition.limits.max_turns, None),
        TaskKind::Delegated => (definition.limits.max_turns.or(Some(defaults.max_turns)), defaults.max_turns_asked),
    };
    let is_bound = definition.origin.path.is_some() && definition.limits.max_turns.is_some();
    let bound = most_asked.filter(|_| asked.is_some() && !is_bound).max(usual);
    let notice = match (asked, bound) {
        (Some(asked), Some(bound)) if asked > bound => {
            // A number too large to count was stored as the largest one.
            let asked = if asked == u32::MAX { format!("{asked} or more") } else { asked.to_string() };
            Some(format!("{asked} turns were asked for; `{}` has {bound}", definition.name))
        }
        _ => None,
    };
    (bound, notice)
}

/// Returns notices for limits that were lowered, except turns, which [`turns`] covers.
pub(crate) fn lowered(asked: Limits, given: Limits) -> impl Iterator<Item = String> {
    fn less<T: PartialOrd>(asked: Option<T>, given: Option<T>, said: impl Fn(T) -> String) -> Option<String> {
        let (asked, given) = (asked?, given?);
        (asked > given).then(|| format!("requested {}; capped at {}", said(asked), said(given)))
    }
    let seconds = |time: Duration| format!("{} seconds", time.as_secs_f64());
    let notices = [
        less(asked.max_tokens, given.max_tokens, |tokens| format!("{tokens} tokens")),
        less(asked.max_cost, given.max_cost, |cost| cost.to_string()),
        less(asked.timeout, given.timeout, seconds),
        less(asked.max_children, given.max_children, |children| format!("{children} sub-agents")),
        less(asked.idle, given.idle, |idle| format!("{} seconds of silence", idle.as_secs_f64())),
    ];
    notices.into_iter().flatten()
}
