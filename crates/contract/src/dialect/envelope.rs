//! `envelope`: status, data, text, error, stats, context. Four fixed types, two models, read-only tools.
//!
//! Every answer follows the general tool protocol that the dialect refers to; `envelope/` writes its contents.

mod answer;
mod fallback;
mod object;
mod output;
mod shortened;
mod truncation;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sortie_protocol::{Failure, TaskRequest, ToolOutput};

use crate::json::fields::Fields;
use crate::outcome::without_success;
use crate::port::agent_names;
use crate::{AgentLine, Answer, Call, Contract, Defaults, OutputCall, ReportCap, SystemPrompt, TypeDefaults, Visible};

const TYPES: &[TypeDefaults] = &[
    of_type("general-purpose", "general", MAIN, "any focused piece of work that needs no writing"),
    of_type("explore", "explore", LIGHT, "finds things in the workspace"),
    of_type("summary", "summary", LIGHT, "sums up files or texts"),
    of_type("plan", "plan", MAIN, "plans a change from the code"),
];

const MAIN: &str = "main";
const LIGHT: &str = "light";
const MODELS: [&str; 2] = [MAIN, LIGHT];

const TOOLS: &[&str] = &["LS", "TodoWrite", "Glob", "Grep", "Read"];
const DENIED: &[&str] = &["Task", "Write", "Edit", "MultiEdit", "Bash"];

const MAX_LINES: usize = 2000;
const MAX_BYTES: usize = 51_200;

#[derive(Debug, Clone, Copy)]
pub struct Envelope;

/// The types differ only in their prompts, and in the default model.
const fn of_type(
    agent: &'static str,
    name: &'static str,
    model: &'static str,
    description: &'static str,
) -> TypeDefaults {
    TypeDefaults {
        name,
        description: Some(description),
        tools: Some(TOOLS),
        model: Some(model),
        ..TypeDefaults::plain(agent)
    }
}

impl Contract for Envelope {
    fn name(&self) -> &'static str {
        "envelope"
    }

    fn tool_name(&self) -> &'static str {
        "Task"
    }

    fn description(&self, agents: &[AgentLine]) -> String {
        format!(
            "Delegate focused work to a subagent. It works in a session of its own with read-only tools, sees nothing \
             of this conversation, and returns its final text.\n\
             - Use Task for complex or parallelizable work.\n\
             - Prefer model `light` for simpler tasks: summaries, quick lookups.\n\
             - Prefer model `main` for complex reasoning or plan-heavy tasks.\n\
             Subagent types:{}",
            agent_names::lines(agent_names::types(TYPES, agents))
        )
    }

    fn schema(&self, _agents: &[AgentLine]) -> Value {
        json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "Short summary of the task"},
                "prompt": {"type": "string", "description": "Full instructions for the subagent"},
                "subagent_type": {
                    "type": "string",
                    "enum": agent_names::names(TYPES),
                    "description": "Type of subagent",
                },
                "model": {
                    "type": "string",
                    "enum": MODELS,
                    "description": "`light` for simple tasks, `main` for complex ones; by type if not given",
                },
            },
            "required": ["description", "prompt", "subagent_type"],
        })
    }

    fn output_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "status": {"enum": ["success", "partial", "error"]},
                "data": {"type": "object", "properties": without_success::schemas()},
                "text": {"type": "string"},
                "error": {"type": "object"},
                "stats": {"type": "object"},
                "context": {"type": "object"},
            },
            "required": ["status", "data", "text", "stats", "context"],
        })
    }

    fn defaults(&self) -> Defaults {
        Defaults {
            max_depth: 1,
            max_concurrent: 1,
            visible: Visible::Types,
            types: TYPES,
            denied_tools: DENIED,
            only_tools: Some(TOOLS),
            structured_outputs: true,
            system: SystemPrompt::RoleAndTitle,
            report_cap: ReportCap::LinesOrBytes { lines: MAX_LINES, bytes: MAX_BYTES },
            ..Defaults::PLAIN
        }
    }

    fn decode(&self, arguments: &str) -> Result<TaskRequest, Failure> {
        let mut fields = Fields::read(arguments)?;
        let (title, prompt) = (fields.text("description")?, fields.text("prompt")?);
        let agent = agent_names::fixed_type(&self.defaults(), "subagent_type", &fields.text("subagent_type")?)?;
        let model = fields.optional_choice("model", &MODELS)?;
        let agent = agent.agent.to_owned();
        Ok(TaskRequest { title, prompt, agent, model, notices: fields.into_notices(), ..TaskRequest::default() })
    }

    fn encode(&self, call: &Call<'_>, answer: Answer<'_>) -> Value {
        answer::object(call, answer).into_value()
    }

    fn encode_text(&self, call: &Call<'_>, answer: Answer<'_>) -> String {
        answer::object(call, answer).into_text()
    }

    fn is_error(&self, answer: Answer<'_>) -> bool {
        answer.map_or(true, |outcome| answer::error(outcome).is_some())
    }

    fn encode_output(&self, call: &OutputCall<'_>, output: &ToolOutput) -> String {
        output::encode(call, output).into_text()
    }

    fn must_spill(&self, output: &ToolOutput) -> bool {
        output::is_too_long(output)
    }
}

/// Splits off the figures about the call itself, which differ from call to call. Any other output is returned whole.
pub fn substance(output: &str) -> (&str, &str) {
    #[derive(Deserialize)]
    struct Figures<'a> {
        #[serde(borrow)]
        stats: &'a RawValue,
    }
    let Ok(Figures { stats }) = serde_json::from_str(output) else { return (output, "") };
    // The figures are a part of the output, so their place in memory is their place in it.
    let start = stats.get().as_ptr() as usize - output.as_ptr() as usize;
    (&output[..start], &output[start + stats.get().len()..])
}

/// Turns a message into part of a sentence.
fn sentence(message: &str) -> &str {
    message.trim().trim_end_matches('.')
}
