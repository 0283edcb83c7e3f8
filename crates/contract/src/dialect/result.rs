//! `result`: success, content, error, shortResult. Agents from files, and errors in fixed words.
//!
//! The four fields have no place for the codes of these errors: [`http_code`] is for events and logs.

use serde_json::{Value, json};
use sortie_protocol::{Failure, TaskOutcome, TaskRequest};

use crate::json;
use crate::json::fields::{Fields, invalid};
use crate::outcome::cause::Cause;
use crate::outcome::ending::Ending;
use crate::port::agent_names;
use crate::{AgentLine, Answer, AtMaxDepth, Call, Contract, Defaults, ReportCap, Visible};

const NOT_DELEGATED: &str = "Task delegation failed";

/// Most characters of a brief error.
const BRIEF: usize = 80;

#[derive(Debug, Clone, Copy)]
pub struct ToolResult;

impl Contract for ToolResult {
    fn name(&self) -> &'static str {
        "result"
    }

    fn tool_name(&self) -> &'static str {
        "Task"
    }

    fn description(&self, agents: &[AgentLine]) -> String {
        let known = match agents {
            [] => "\nNone are configured, so every call fails.".to_owned(),
            agents => {
                let lines = agent_names::lines(agents.iter().map(agent_names::pair));
                match &agent_names::undescribed(agents)[..] {
                    [] => lines,
                    // No field of the schema lists them.
                    more => format!("{lines}\nand, by name alone: {}", more.join(", ")),
                }
            }
        };
        format!(
            "Delegate a specialized task to a configured subagent. It sees nothing of this conversation, so the prompt \
             has to say everything; its last message comes back as it is.\nSubagents:{known}"
        )
    }

    fn schema(&self, _agents: &[AgentLine]) -> Value {
        json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "A short (3-5 word) description of the task"},
                "prompt": {"type": "string", "description": "The task for the agent to perform"},
                "subagent_type": {
                    "type": "string",
                    "description": "The type of specialized agent to use for this task",
                },
            },
            "required": ["description", "prompt", "subagent_type"],
            "additionalProperties": false,
            "$schema": "http://json-schema.org/draft-07/schema#",
        })
    }

    fn output_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "success": {"type": "boolean"},
                "content": {"type": "string"},
                "error": {"type": "string"},
                "shortResult": {"type": "string"},
            },
            "required": ["success", "content", "shortResult"],
        })
    }

    fn defaults(&self) -> Defaults {
        Defaults {
            // This dialect has words for the refusal at the limit, and distinguishes a circle from mere depth.
            at_max_depth: AtMaxDepth::Refuses,
            max_concurrent: 5,
            refuses_circles: true,
            best_match: true,
            refuses_missing_tools: true,
            visible: Visible::Files,
            report_cap: ReportCap::None,
            ..Defaults::PLAIN
        }
    }

    fn decode(&self, arguments: &str) -> Result<TaskRequest, Failure> {
        let mut fields = Fields::read(arguments)?;
        let request = TaskRequest {
            title: fields.text("description")?,
            prompt: fields.text("prompt")?,
            agent: fields.text("subagent_type")?,
            ..TaskRequest::default()
        };
        match fields.first_left() {
            None => Ok(request),
            Some(key) => Err(invalid(format!(
                "`{key}` is not a field of this tool; there are description, prompt and subagent_type"
            ))),
        }
    }

    fn encode(&self, call: &Call<'_>, answer: Answer<'_>) -> Value {
        let (error, short) = match answer {
            Ok(outcome) => match Ending::of(outcome) {
                Ending::Completed => {
                    let short = format!("Task completed by {}", outcome.agent);
                    return json!({"success": true, "content": outcome.text, "shortResult": short});
                }
                ending => shortfall(outcome, ending),
            },
            Err(failure) => (rejection(call, failure), NOT_DELEGATED.to_owned()),
        };
        json!({"success": false, "content": "", "error": error, "shortResult": short})
    }

    fn is_error(&self, answer: Answer<'_>) -> bool {
        answer.map_or(true, |outcome| Ending::of(outcome) != Ending::Completed)
    }

    fn code(&self, answer: Answer<'_>) -> Option<u16> {
        match answer {
            Ok(outcome) => match Ending::of(outcome) {
                Ending::TimedOut { .. } => Some(408),
                Ending::Failed { .. } => outcome.error.as_ref().map(http_code),
                Ending::Completed | Ending::Limited(_) | Ending::Cancelled | Ending::Interrupted(_) => None,
            },
            Err(failure) => Some(http_code(failure)),
        }
    }
}

/// Returns the nearest HTTP status for a failure.
pub fn http_code(failure: &Failure) -> u16 {
    match Cause::of(failure) {
        Cause::Arguments => 400,
        Cause::ToolAccess | Cause::Depth | Cause::SwitchedOff | Cause::Refused => 403,
        Cause::NoAgents | Cause::UnknownAgent => 404,
        Cause::Timeout => 408,
        Cause::Circle => 409,
        Cause::TooMany => 429,
        Cause::UnusableAgent | Cause::UnknownModel | Cause::Route | Cause::Breakdown | Cause::Limit(_) => 500,
    }
}

/// Error and short result of a task that ran and did not complete.
fn shortfall(outcome: &TaskOutcome, ending: Ending<'_>) -> (String, String) {
    let why = ending.shortfall().unwrap_or_default();
    match ending {
        Ending::TimedOut { after_ms, .. } => (
            format!("Subagent task timed out after {after_ms}ms"),
            format!("Task failed: timed out after {after_ms}ms"),
        ),
        // The route never brought a single reply, so the sub-agent never came into being.
        Ending::Failed { cause: Cause::Route, message } if outcome.usage.turns == 0 => {
            (not_initialized(message), NOT_DELEGATED.to_owned())
        }
        Ending::Limited(_) => (
            format!("Subagent stopped early: {why}. What it had so far:\n\n{}", outcome.text),
            format!("Task failed: {}", brief(&why)),
        ),
        _ => (why.clone(), format!("Task failed: {}", brief(&why))),
    }
}

/// Error of a call that started nothing.
fn rejection(call: &Call<'_>, failure: &Failure) -> String {
    let listed = |separator| failure.details.join(separator);
    match Cause::of(failure) {
        Cause::NoAgents => "No subagents available for delegation".to_owned(),
        Cause::UnknownAgent => format!(
            "Subagent '{}' not found. Available: {}",
            json::text_field(call.arguments, "subagent_type"),
            listed(", ")
        ),
        Cause::Circle => format!("Circular delegation prevented: {}", listed(" -> ")),
        Cause::ToolAccess => format!("Subagent lacks permission for required tools: {}", listed(", ")),
        Cause::Depth => "maximum sub-agent depth exceeded".to_owned(),
        Cause::SwitchedOff | Cause::Refused => format!("{NOT_DELEGATED}: {}", failure.message),
        Cause::UnusableAgent | Cause::UnknownModel | Cause::Route | Cause::Breakdown => {
            not_initialized(&failure.message)
        }
        Cause::Arguments | Cause::TooMany | Cause::Timeout | Cause::Limit(_) => failure.message.clone(),
    }
}

fn not_initialized(details: &str) -> String {
    format!("Failed to initialize subagent: {details}")
}

/// Returns the first line, truncated.
fn brief(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    match line.char_indices().nth(BRIEF - 1) {
        Some((end, last)) if end + last.len_utf8() < line.len() => format!("{}…", &line[..end]),
        _ => line.to_owned(),
    }
}
