//! Forks: a sub-agent that begins with the conversation of its parent.
//!
//! The turn that makes the call is left out, so that no call in it needs an output. So the child's first request is the
//! parent's last one with the brief after it. A child that continues as its parent gets all of it. For another agent it
//! ends where the parent first learnt something that this agent could not have learnt itself. Whatever the parent wrote
//! later may repeat that.

use std::sync::Arc;

use serde_json::Value;
use sortie_llm::Terms;
use sortie_policy::{Decision, Judge};
use sortie_protocol::{
    AgentConfig, CallId, Failure, FailureCode, Fork, ForkedContext, Grant, Message, Part, Resource, ToolCall,
};
use sortie_sandbox::Workspace;

use crate::conversation::schema_answer::asked_for;
use crate::run::context_window::most_input;
use crate::tasks::scope::TaskScope;
use crate::tasks::start::check::ForkWish;

/// Words before the brief of a fork that continues as its parent.
const AS_PARENT: &str = "[From here on you are a sub-agent: a copy of the agent in the conversation above, which goes \
    on without you. Do only what follows. Your last message is your report to that agent.]";

/// Words before the brief of another agent.
const AS_ANOTHER: &str = "[The conversation above is that of the agent that calls you, for your information. You are \
    another agent, with the instructions and tools of your own. Do only what follows. Your last message is your report \
    to the calling agent.]";

/// Overrides the schema in a system prompt that the fork shares with its parent.
const PLAIN_ANSWER: &str = "[The JSON Schema in your instructions does not apply to this part: answer in plain text.]";

/// Returns the configuration of a task that continues as its parent, from the one that a new task would get.
pub(super) fn as_parent(config: AgentConfig, parent: &AgentConfig) -> AgentConfig {
    let AgentConfig { model, model_asked, limits, depth, chain, output_schema, .. } = config;
    AgentConfig { model, model_asked, limits, depth, chain, output_schema, ..parent.clone() }
}

/// A fork as decided, and notices about what it leaves out.
pub(super) struct Forked {
    pub(super) context: ForkedContext,
    pub(super) notices: Vec<String>,
}

/// Decides which part of the parent's conversation a task with this configuration begins with.
pub(super) fn forked(parent: &TaskScope, wish: ForkWish, config: &AgentConfig) -> Result<Forked, Failure> {
    let history = parent.record.history();
    let messages = history.messages();
    // The last message is the reply with this call.
    let whole = messages.len() - usize::from(history.ends_with_a_reply());
    let wanted_from = match wish.fork {
        Fork::Turns(turns) => start_of_turns(&messages[..whole], turns),
        Fork::Off | Fork::Whole => 1,
    };
    let mut context = ForkedContext {
        as_parent: wish.as_parent,
        skipped: wanted_from - 1,
        end: whole,
        withheld: Vec::new(),
        preface: if wish.as_parent { AS_PARENT } else { AS_ANOTHER }.to_owned(),
    };
    if !wish.as_parent {
        let Visible { end, withheld } =
            Reader::of(parent, config)?.visible(&messages[..whole], &parent.job.context_files);
        // Turns after the cut may repeat what was withheld, even if the turns before them are not wanted.
        let (skipped, end) = if end > wanted_from { (wanted_from - 1, end) } else { (0, 1) };
        context = ForkedContext { skipped, end, withheld, ..context };
    }
    let mut notices = Vec::new();
    let (skipped, cut) = (n_turns(&messages[1..=context.skipped]), n_turns(&messages[context.end..whole]));
    if skipped > 0 {
        context.preface += &format!("\n[Left out after its first message: {skipped} {}.]", turns(skipped));
    }
    if context.end < whole {
        let more = format!(
            "its rest, with {cut} {}, follows something that agent {} may not read itself",
            turns(cut),
            config.agent
        );
        context.preface += &format!("\n[It ends early: {more}, and is withheld.]");
        notices.push(format!("the fork of {} ends early: {more}", parent.job.task));
    }
    match (&config.output_schema, &parent.job.config.output_schema) {
        (Some(schema), _) if wish.as_parent => context.preface += &asked_for(schema)?,
        (None, Some(_)) if wish.as_parent => context.preface += &format!("\n{PLAIN_ANSWER}"),
        _ => {}
    }
    Ok(Forked { context, notices })
}

fn turns(count: usize) -> &'static str {
    if count == 1 { "turn" } else { "turns" }
}

fn n_turns(messages: &[Message]) -> usize {
    messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count()
}

/// Returns the position where the newest turns begin; the first message precedes all of them.
fn start_of_turns(messages: &[Message], turns: u32) -> usize {
    let replies = messages.iter().enumerate().rev().filter(|(_, message)| matches!(message, Message::Assistant { .. }));
    let newest = replies.map(|(at, _)| at).take(usize::try_from(turns).unwrap_or(usize::MAX));
    let start = newest.last().unwrap_or(messages.len());
    // With all turns, everything said before them is wanted too.
    if n_turns(&messages[..start]) == 0 && start < messages.len() { 1 } else { start.max(1) }
}

/// The part of a conversation that another agent may see.
struct Visible {
    end: usize,
    withheld: Vec<CallId>,
}

/// Judges the parent's calls by the grant of another agent.
struct Reader<'a> {
    judge: Judge,
    tools: &'a [String],
    workspace: Arc<Workspace>,
    /// True if the agent's own rules treat some files differently: then it would have found less in a directory.
    guards_files: bool,
}

impl<'a> Reader<'a> {
    fn of(parent: &TaskScope, config: &'a AgentConfig) -> Result<Self, Failure> {
        let engine = &parent.engine;
        let workspace = engine.workspace_of(&parent.job.reach);
        let places = engine.permissions.places(&workspace);
        let above = &parent.job.config.grant.layers;
        let own = config.grant.layers.iter().filter(|layer| !above.contains(layer)).cloned().collect();
        let unreadable = |error: sortie_policy::RuleError| Failure::new(FailureCode::Grant, error.to_string());
        let guards_files = Judge::new(&Grant { layers: own }, places.clone()).map_err(unreadable)?.guards_reads();
        let judge = Judge::new(&config.grant, places).map_err(unreadable)?;
        Ok(Self { judge, tools: &config.tools, workspace, guards_files })
    }

    /// Returns the part up to the first output that the agent may not see. Words that somebody else said to the parent
    /// (reports, messages, summaries) end it too.
    fn visible(&self, messages: &[Message], context_files: &[String]) -> Visible {
        let mut visible = Visible { end: messages.len(), withheld: Vec::new() };
        if !context_files.iter().all(|path| self.may_read("Read", path)) {
            visible.end = visible.end.min(1);
        }
        let mut calls: Vec<&ToolCall> = Vec::new();
        for (at, message) in messages.iter().enumerate().take(visible.end).skip(1) {
            match message {
                Message::User { .. } => visible.end = at,
                Message::Assistant { parts } => calls = parts.iter().filter_map(call_of).collect(),
                Message::Outputs { .. } => {
                    let hidden = calls.iter().filter(|call| !self.could_make(call));
                    visible.withheld = hidden.map(|call| call.id.clone()).collect();
                    if !visible.withheld.is_empty() {
                        visible.end = at + 1;
                    }
                }
            }
            if visible.end <= at + 1 {
                break;
            }
        }
        visible
    }

    /// True if the agent could have made this call, with the same output. That is known of reads only.
    fn could_make(&self, call: &ToolCall) -> bool {
        let arguments = serde_json::from_str::<Value>(&call.arguments).unwrap_or_default();
        match call.tool.as_str() {
            "Read" => arguments["file_path"].as_str().is_some_and(|path| self.may_read("Read", path)),
            "LS" | "Glob" | "Grep" => {
                !self.guards_files && self.may_read(&call.tool, arguments["path"].as_str().unwrap_or("."))
            }
            _ => false,
        }
    }

    fn may_read(&self, tool: &str, path: &str) -> bool {
        let is_offered = self.tools.iter().any(|offered| offered == tool);
        let Ok(path) = self.workspace.locate(path) else { return false };
        is_offered && matches!(self.judge.decide(tool, &Resource::Path(path)), Decision::Allow)
    }
}

fn call_of(part: &Part) -> Option<&ToolCall> {
    if let Part::Call(call) = part { Some(call) } else { None }
}

/// Refuses a fork that its model's window has no room for.
pub(crate) fn refuse_beyond_window(model: &str, input_tokens: u64, terms: &Terms) -> Result<(), Failure> {
    let Some(most) = terms.window.map(|window| most_input(window, terms)).filter(|most| input_tokens > *most) else {
        return Ok(());
    };
    let message = format!(
        "there is no room for a first model call: the request of this fork has about {input_tokens} tokens, and the \
         window of `{model}` has room for {most}; fork fewer turns, or start with a clean context"
    );
    Err(Failure::new(FailureCode::NoRoom, message))
}
