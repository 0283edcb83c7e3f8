//! Our own dialect: the union of the others, with limits and the full outcome.

use std::time::Duration;

use serde_json::{Map, Value, json};
use sortie_protocol::{Failure, Limits, Status, TaskOutcome, TaskRequest};

use crate::json::{self, INVALID};
use crate::{AgentLine, Contract, Defaults};

const DEFAULT_AGENT: &str = "general-purpose";

/// Fields of the dialect that no version of the engine serves yet. Asking for them is refused, never ignored.
const NOT_YET: [&str; 4] = ["run_in_background", "resume", "isolation", "output_schema"];

/// About 2,000 tokens at four bytes each.
const REPORT_CAP_BYTES: usize = 8000;

#[derive(Debug, Clone, Copy)]
pub struct Sortie;

impl Contract for Sortie {
    fn name(&self) -> &'static str {
        "sortie"
    }

    fn tool_name(&self) -> &'static str {
        "Task"
    }

    fn description(&self, agents: &[AgentLine]) -> String {
        let mut text = String::from(
            "Send a sub-agent to do one self-contained piece of work in a context of its own; only its report comes \
             back. Worth it for work that takes many tool calls. Calls made in one turn run in parallel. It sees \
             nothing of this conversation: give it file names, identifiers and what to report.\nAgents:",
        );
        for agent in agents {
            text += &format!("\n{}: {}", agent.name, agent.description);
        }
        text
    }

    fn schema(&self, agents: &[AgentLine]) -> Value {
        let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
        json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "3-5 words"},
                "prompt": {"type": "string", "description": "The whole brief"},
                "subagent_type": {"type": "string", "enum": names, "default": DEFAULT_AGENT},
                "model": {"type": "string", "description": "Only on request"},
                "limits": {
                    "type": "object",
                    "properties": {
                        "max_turns": {"type": "integer"},
                        "max_tokens": {"type": "integer"},
                        "timeout_seconds": {"type": "number"},
                        "max_children": {"type": "integer"},
                    },
                },
            },
            "required": ["description", "prompt"],
        })
    }

    fn defaults(&self) -> Defaults {
        Defaults { report_cap_bytes: Some(REPORT_CAP_BYTES) }
    }

    fn decode(&self, arguments: &str) -> Result<TaskRequest, Failure> {
        let mut fields = json::object(arguments)?;
        for name in NOT_YET {
            match fields.remove(name) {
                // Asking for what happens anyway is no request for the feature.
                None | Some(Value::Null | Value::Bool(false)) => {}
                Some(Value::String(none)) if name == "isolation" && none == "none" => {}
                Some(_) => {
                    let message = format!("`{name}` is not available in this version; call again without it");
                    return Err(Failure::new("unsupported", message));
                }
            }
        }
        let request = TaskRequest {
            title: required_text(&mut fields, "description")?,
            prompt: required_text(&mut fields, "prompt")?,
            agent: optional_text(&mut fields, "subagent_type")?.unwrap_or_else(|| DEFAULT_AGENT.to_owned()),
            model: optional_text(&mut fields, "model")?,
            limits: limits(fields.remove("limits"))?,
            notices: fields.keys().map(|key| format!("unknown key `{key}` was ignored")).collect(),
        };
        Ok(request)
    }

    fn encode(&self, outcome: &TaskOutcome) -> Value {
        // The outcome's own serialisation is this contract; it cannot fail, since all its keys are strings.
        serde_json::to_value(outcome).unwrap_or_default()
    }

    fn encode_rejection(&self, failure: &Failure) -> Value {
        json!({"status": Status::Rejected, "error": failure})
    }

    fn encode_for_model(&self, outcome: &TaskOutcome, mark: &str) -> String {
        let mut text = format!("{} {} {}", outcome.task_id, outcome.agent, outcome.status);
        if let Some(limit) = outcome.reason {
            text += &format!(" (limit: {limit})");
        }
        let usage = &outcome.usage;
        text += &format!(
            ", {} calls, {} tokens, {:.1} s",
            usage.tool_calls,
            usage.total_tokens(),
            usage.duration_ms as f64 / 1000.0
        );
        if let Some(error) = &outcome.error {
            text += &format!("\nerror {}: {}", error.code, error.message);
        }
        for notice in &outcome.notices {
            text += &format!("\nnotice: {notice}");
        }
        if !outcome.text.is_empty() {
            text += &format!("\n[report {mark}]\n{}\n[end {mark}]", outcome.text);
        }
        if let Some(path) = &outcome.full_text_path {
            text += &format!("\nThe report was cut; the whole is in {path}");
        }
        text
    }

    fn rejection_for_model(&self, failure: &Failure) -> String {
        format!("No sub-agent was started ({}): {}", failure.code, failure.message)
    }
}

fn required_text(fields: &mut Map<String, Value>, name: &str) -> Result<String, Failure> {
    optional_text(fields, name)?
        .ok_or_else(|| Failure::new(INVALID, format!("`{name}` is missing; it must be a non-empty string")))
}

fn optional_text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, Failure> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => {
            Err(Failure::new(INVALID, format!("`{name}` is empty; it must be a non-empty string")))
        }
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            Err(Failure::new(INVALID, format!("`{name}` must be a non-empty string, not {}", json::kind(&other))))
        }
    }
}

fn limits(value: Option<Value>) -> Result<Limits, Failure> {
    let mut fields = match value {
        None | Some(Value::Null) => return Ok(Limits::default()),
        Some(Value::Object(fields)) => fields,
        Some(other) => {
            return Err(Failure::new(INVALID, format!("`limits` must be an object, not {}", json::kind(&other))));
        }
    };
    let limits = Limits {
        max_turns: positive(&mut fields, "max_turns")?,
        max_tokens: positive(&mut fields, "max_tokens")?,
        timeout: seconds(&mut fields)?,
        max_children: whole(&mut fields, "max_children")?,
    };
    // A limit that would not be kept must not look as if it were.
    match fields.keys().next() {
        None => Ok(limits),
        Some(key) => Err(Failure::new(
            INVALID,
            format!(
                "`limits.{key}` is not a limit of this version; there are max_turns, max_tokens, timeout_seconds \
                 and max_children"
            ),
        )),
    }
}

fn whole<T: TryFrom<u64>>(fields: &mut Map<String, Value>, name: &str) -> Result<Option<T>, Failure> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64().and_then(|number| T::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(Failure::new(INVALID, format!("`limits.{name}` must be a whole number, not {value}"))),
        },
    }
}

fn positive<T: TryFrom<u64> + PartialEq + From<u8>>(
    fields: &mut Map<String, Value>,
    name: &str,
) -> Result<Option<T>, Failure> {
    match whole(fields, name)? {
        Some(number) if number == T::from(0) => {
            Err(Failure::new(INVALID, format!("`limits.{name}` must be at least 1")))
        }
        other => Ok(other),
    }
}

fn seconds(fields: &mut Map<String, Value>) -> Result<Option<Duration>, Failure> {
    let Some(value) = fields.remove("timeout_seconds").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    match value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(duration) if !duration.is_zero() => Ok(Some(duration)),
        _ => Err(Failure::new(
            INVALID,
            format!("`limits.timeout_seconds` must be a positive number of seconds, not {value}"),
        )),
    }
}
