//! Our own dialect: the union of the others, with limits and the full outcome.

pub(crate) mod for_hosts;

use std::time::Duration;

use serde_json::{Value, json};
use sortie_protocol::{Failure, Fork, Launched, Limit, Limits, Money, Status, TaskOutcome, TaskRequest, ToolSpec};

use crate::json;
use crate::json::fields::{Fields, invalid, unsupported};
use crate::outcome::ending::refused_calls;
use crate::port::agent_names;
use crate::{AgentLine, Answer, Call, Companions, Contract, Defaults, HostAnswer};

const DEFAULT_AGENT: &str = "general-purpose";

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
        let mut text = format!(
            "Have a sub-agent do self-contained work; only its report comes back. Worth it for many tool \
             calls. Calls of one turn run in parallel. {} sees nothing of this conversation: give it files, names and \
             what to report.\nAgents:",
            for_hosts::UNLESS_FORKED
        );
        for agent in agents.iter().filter(|agent| !agent.description.is_empty()) {
            text += &format!("\n{}: {}", agent.name, agent.description);
        }
        text + &agent_names::named_in_schema(agents)
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
                "run_in_background": {"type": "boolean", "description": "Its report comes later"},
                "resume": {"type": "string", "description": "Ended task to resume with this prompt"},
                // Parsing checks their types; in the schema they would only cost tokens.
                "limits": {
                    "type": "object",
                    "description": "max_turns, max_tokens, max_cost_usd, timeout_seconds, max_children",
                },
                "output_schema": {"type": "object", "description": "JSON Schema for its answer"},
                "fork": {"description": "true, or N: it has this conversation (last N turns)"},
                "context_files": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["description", "prompt"],
        })
    }

    /// A task that did not start has no id, and one in the background has no text yet.
    fn output_schema(&self) -> Value {
        for_hosts::output_schema()
    }

    fn defaults(&self) -> Defaults {
        Defaults { companions: Companions::All, ends_loops: true, ..Defaults::PLAIN }
    }

    fn decode(&self, arguments: &str) -> Result<TaskRequest, Failure> {
        let mut fields = Fields::read(arguments)?;
        // No version of the engine implements it yet. A request for it is refused, never ignored; a request for the
        // normal behaviour is none.
        match fields.take("isolation") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::String(none)) if none == "none" => {}
            Some(_) => return Err(unsupported("isolation")),
        }
        // Callers that fill in every field leave it empty.
        fields.drop_empty("resume");
        let agent = fields.optional_text("subagent_type")?;
        Ok(TaskRequest {
            title: fields.text("description")?,
            prompt: fields.text("prompt")?,
            agent_is_usual: agent.is_none(),
            agent: agent.unwrap_or_else(|| DEFAULT_AGENT.to_owned()),
            model: fields.optional_text("model")?,
            background: fields.flag("run_in_background")?,
            resume: fields.optional_text("resume")?,
            limits: limits(fields.take("limits"))?,
            output_schema: output_schema(fields.take("output_schema"))?,
            fork: fork(fields.take("fork"))?,
            context_files: context_files(fields.take("context_files"))?,
            notices: fields.into_notices(),
            ..TaskRequest::default()
        })
    }

    fn encode(&self, _call: &Call<'_>, answer: Answer<'_>) -> Value {
        match answer {
            Ok(outcome) => outcome_object(outcome),
            Err(failure) => unstarted_object(failure),
        }
    }

    fn encode_for_model(&self, _call: &Call<'_>, answer: Answer<'_>, mark: &str) -> String {
        match answer {
            Ok(outcome) => compact_report(outcome, mark),
            Err(failure) => unstarted_text(failure),
        }
    }

    fn encode_for_host(&self, _call: &Call<'_>, answer: Answer<'_>, mark: &str) -> HostAnswer {
        match answer {
            Ok(outcome) => for_hosts::reported(outcome, mark),
            Err(failure) => for_hosts::rejected(failure),
        }
    }

    fn encode_launched_for_host(&self, launched: &Launched) -> HostAnswer {
        for_hosts::launched(launched)
    }

    fn host_name<'a>(&self, tool: &'a str) -> &'a str {
        for_hosts::name(tool)
    }

    fn for_host(&self, tool: ToolSpec) -> ToolSpec {
        for_hosts::adapted(tool)
    }

    fn reading_tool(&self) -> Option<ToolSpec> {
        Some(for_hosts::reading_tool())
    }

    fn encode_launched(&self, launched: &Launched) -> Value {
        let mut outcome = json!({"task_id": launched.task_id, "agent": launched.agent, "status": "running"});
        if let (Some(outcome), Value::Object(told)) = (outcome.as_object_mut(), json!(launched)) {
            outcome.extend(told);
        }
        outcome
    }

    fn encode_launched_for_model(&self, launched: &Launched) -> String {
        let Launched { task_id, agent, output_file, notices, .. } = launched;
        let mut text = format!(
            "{task_id} {agent} running in the background. Go on with other work; do not poll. Its report is delivered to \
             you when it ends."
        );
        if let Some(file) = output_file {
            text += &format!("\noutput file, for people: {file}");
        }
        for notice in notices {
            text += &format!("\nnotice: {notice}");
        }
        text
    }

    fn is_error(&self, answer: Answer<'_>) -> bool {
        !answer.is_ok_and(|outcome| matches!(outcome.status, Status::Completed | Status::Partial))
    }
}

/// An outcome as programs read it, in this contract and in the JSON formats of the command line.
pub fn outcome_object(outcome: &TaskOutcome) -> Value {
    public(serde_json::to_value(outcome).unwrap_or_default())
}

/// The outcome of a task that was not started.
pub fn unstarted_object(failure: &Failure) -> Value {
    public(json!({"status": failure.status_unstarted(), "error": failure}))
}

/// Removes the fields that only other contracts need.
fn public(mut outcome: Value) -> Value {
    if let Some(fields) = outcome.as_object_mut() {
        fields.shift_remove("truncation");
        fields.shift_remove("deadline_ms");
        if let Some(Value::Object(error)) = fields.get_mut("error") {
            error.shift_remove("details");
        }
    }
    outcome
}

fn unstarted_text(failure: &Failure) -> String {
    format!("No sub-agent was started ({}): {}", failure.code, failure.message)
}

/// An outcome in one line: agent, ending, usage, and calls that failed or were refused.
pub fn head_line(outcome: &TaskOutcome) -> String {
    let refused = match refused_calls(outcome) {
        0 => String::new(),
        1 => ", 1 call refused".to_owned(),
        count => format!(", {count} calls refused"),
    };
    format!("{}, {}{refused}, {}", ending(outcome), counted(outcome), figures(outcome))
}

/// Task, agent, ending and usage in one line.
fn head(outcome: &TaskOutcome) -> String {
    format!("{}, {}", ending(outcome), spent(outcome))
}

fn ending(outcome: &TaskOutcome) -> String {
    let limit = match outcome.reason {
        None => String::new(),
        Some(Limit::NoAnswer) => " (the model has no answer)".to_owned(),
        Some(limit) => format!(" (limit: {limit})"),
    };
    format!("{} {} {}{limit}", outcome.task_id, outcome.agent, outcome.status)
}

fn spent(outcome: &TaskOutcome) -> String {
    format!("{}, {}", counted(outcome), figures(outcome))
}

fn counted(outcome: &TaskOutcome) -> String {
    let usage = &outcome.usage;
    let failed = if usage.failed_calls > 0 { format!(" ({} failed)", usage.failed_calls) } else { String::new() };
    format!("{} call{}{failed}", usage.tool_calls, if usage.tool_calls == 1 { "" } else { "s" })
}

fn figures(outcome: &TaskOutcome) -> String {
    let usage = &outcome.usage;
    format!("{} tokens, {:.1} s", usage.total_tokens(), usage.duration_ms as f64 / 1000.0)
}

/// One head line, the remarks, and the report between marks.
pub fn compact_report(outcome: &TaskOutcome, mark: &str) -> String {
    let mut text = head_line(outcome);
    if let Some(error) = &outcome.error {
        text += &format!("\nerror {}: {}", error.code, error.message);
    }
    for notice in &outcome.notices {
        text += &format!("\nnotice: {notice}");
    }
    let report = compact_value(outcome).map_or_else(|| outcome.text.clone(), Value::to_string);
    if !report.is_empty() {
        text += &format!("\n[report {mark}]\n{report}\n[end {mark}]");
    }
    text
}

/// The value of a report, if it says everything in fewer words. One that is too long for a report is cut and paged as
/// text.
fn compact_value(outcome: &TaskOutcome) -> Option<&Value> {
    let value = outcome.structured.as_ref().filter(|_| !outcome.truncated)?;
    (value.to_string().len() <= outcome.text.len()).then_some(value)
}

/// Reads the schema, whose content the engine judges. An empty one requests nothing: callers that fill in every field
/// leave it so.
fn output_schema(value: Option<Value>) -> Result<Option<Value>, Failure> {
    match value {
        None | Some(Value::Bool(false)) => Ok(None),
        Some(Value::Object(keywords)) => Ok(Some(keywords).filter(|keywords| !keywords.is_empty()).map(Value::Object)),
        Some(other) => Err(invalid(format!("`output_schema` must be an object, not {}", json::kind(&other)))),
    }
}

fn fork(value: Option<Value>) -> Result<Option<Fork>, Failure> {
    let Some(value) = value else { return Ok(None) };
    let wrong = || invalid(format!("`fork` must be true, false or a number of turns (at least 1), not {value}"));
    Fork::read(&value).map(Some).ok_or_else(wrong)
}

fn context_files(value: Option<Value>) -> Result<Option<Vec<String>>, Failure> {
    let Some(value) = value else { return Ok(None) };
    let names = value.as_array().and_then(|names| {
        let name = |name: &Value| name.as_str().filter(|name| !name.trim().is_empty()).map(str::to_owned);
        names.iter().map(name).collect::<Option<Vec<String>>>()
    });
    let wrong = || invalid(format!("`context_files` must be a list of file names, not {value}"));
    names.map(Some).ok_or_else(wrong)
}

fn limits(value: Option<Value>) -> Result<Limits, Failure> {
    let mut fields = match value {
        None => return Ok(Limits::default()),
        Some(Value::Object(fields)) => Fields::from(fields),
        Some(other) => return Err(invalid(format!("`limits` must be an object, not {}", json::kind(&other)))),
    };
    let limits = Limits {
        max_turns: positive(&mut fields, "max_turns")?,
        max_tokens: positive(&mut fields, "max_tokens")?,
        max_cost: dollars(&mut fields)?,
        timeout: seconds(&mut fields)?,
        idle: None,
        max_children: whole(&mut fields, "max_children")?,
    };
    // A limit that is not enforced must not appear to be.
    match fields.first_left() {
        None => Ok(limits),
        Some(key) => Err(invalid(format!(
            "`limits.{key}` is not a limit of this version; there are max_turns, max_tokens, max_cost_usd, \
             timeout_seconds and max_children"
        ))),
    }
}

fn whole<T: TryFrom<u64>>(fields: &mut Fields, name: &str) -> Result<Option<T>, Failure> {
    let Some(value) = fields.take(name) else { return Ok(None) };
    match value.as_u64().and_then(|number| T::try_from(number).ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(invalid(format!("`limits.{name}` must be a whole number, not {value}"))),
    }
}

fn positive<T: TryFrom<u64> + PartialEq + From<u8>>(fields: &mut Fields, name: &str) -> Result<Option<T>, Failure> {
    match whole(fields, name)? {
        Some(number) if number == T::from(0) => Err(invalid(format!("`limits.{name}` must be at least 1"))),
        other => Ok(other),
    }
}

fn dollars(fields: &mut Fields) -> Result<Option<Money>, Failure> {
    let Some(value) = fields.take("max_cost_usd") else { return Ok(None) };
    match value.as_f64().and_then(Money::from_dollars) {
        Some(money) if money > Money::ZERO => Ok(Some(money)),
        _ => Err(invalid(format!("`limits.max_cost_usd` must be a positive number of US dollars, not {value}"))),
    }
}

fn seconds(fields: &mut Fields) -> Result<Option<Duration>, Failure> {
    let Some(value) = fields.take("timeout_seconds") else { return Ok(None) };
    match value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(duration) if !duration.is_zero() => Ok(Some(duration)),
        _ => Err(invalid(format!("`limits.timeout_seconds` must be a positive number of seconds, not {value}"))),
    }
}
