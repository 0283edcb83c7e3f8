//! Tools offered to a host: Task in the words of the contract, and its companions if the contract has them.
//!
//! The engine implements them. By the annotations, hosts decide whether to ask a person before a call, and whether
//! calls of one turn may run in parallel. They state the most that a call can do under the user's rules. These
//! rules are fixed for the life of the process. The host's person counts if there is one to ask.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use sortie_engine::{HostReach, Person};
use sortie_protocol::{TaskId, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use crate::server::office::Office;

/// Most tasks that `TaskOutput` waits for at once.
const MAX_AWAITED: usize = 100;

/// Lists all tools, in the order in which they are offered.
pub(super) fn list(office: &Office, person: Person) -> Vec<Tool> {
    let reach = office.engine_host.reach(person);
    offered(office).map(|spec| tool(office, reach, spec)).collect()
}

/// Another Sortie gets no companions, since nothing outlives its calls.
fn offered(office: &Office) -> impl Iterator<Item = ToolSpec> {
    let is_offered = |spec: &ToolSpec| !office.is_nested || delegating(office, &spec.name).is_some();
    office.engine_host.tools().into_iter().filter(is_offered)
}

/// A tool that starts tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delegating {
    /// As far as the rules allow.
    Anything,
    /// By reading only.
    Reading,
}

/// Returns what a tool of this name delegates; `None` for all other tools.
pub(super) fn delegating(office: &Office, name: &str) -> Option<Delegating> {
    if name == office.contract.tool_name() {
        return Some(Delegating::Anything);
    }
    office.contract.reading_tool().filter(|tool| tool.name == name).map(|_| Delegating::Reading)
}

/// Calls one of the companions; an unknown name is an error of the request.
pub(super) async fn call_companion(
    office: &Office,
    name: &str,
    arguments: &str,
    cancel: &CancellationToken,
) -> Result<CallToolResult, ErrorData> {
    if let Some(refusal) = &office.refusal {
        return Ok(CallToolResult::error(vec![ContentBlock::text(refusal.message.clone())]));
    }
    if !office.is_nested
        && let Some(output) = office.engine_host.call(name, arguments, cancel).await
    {
        return Ok(companion_result(output));
    }
    if let Err(off) = office.engine_host.check_switched_on() {
        return Err(ErrorData::invalid_params(format!("there is no tool `{name}`: {}", off.message), None));
    }
    let names: Vec<String> = offered(office).map(|spec| spec.name).collect();
    let message = format!("there is no tool `{name}`; the tools are {}", names.join(", "));
    Err(ErrorData::invalid_params(message, None))
}

/// Returns the first tasks that a call names, in any argument: those it waits for, if it waits.
pub(super) fn tasks_in(arguments: &str) -> Vec<TaskId> {
    let words = arguments.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    words.filter_map(|word| word.parse().ok()).take(MAX_AWAITED).collect()
}

fn companion_result(ToolOutput { for_model, failed, .. }: ToolOutput) -> CallToolResult {
    let content = vec![ContentBlock::text(for_model)];
    if failed { CallToolResult::error(content) } else { CallToolResult::success(content) }
}

fn tool(office: &Office, reach: HostReach, ToolSpec { name, description, schema }: ToolSpec) -> Tool {
    let companion = office.engine_host.companion(&name);
    let (description, schema) = match companion {
        Some("TaskOutput") => (TASK_OUTPUT.to_owned(), schema),
        Some("SendMessage") => (SEND_MESSAGE.to_owned(), message_schema()),
        Some("TaskList") => (TASK_LIST.to_owned(), schema),
        _ => (description, schema),
    };
    let kind = companion.unwrap_or(if name == office.contract.tool_name() { DELEGATES } else { READS });
    let tool = Tool::new(name, description, object(schema)).with_annotations(annotations(kind, reach));
    // The answers of the second tool are the same, and a host pays for every schema.
    if kind == DELEGATES { tool.with_raw_output_schema(object(output_schema(office))) } else { tool }
}

/// The contract's own schema, with the notices that are added for hosts.
fn output_schema(office: &Office) -> Value {
    let mut schema = office.contract.output_schema();
    if let Some(fields) = schema["properties"].as_object_mut() {
        fields.entry("notices").or_insert_with(|| json!({"type": "array", "items": {"type": "string"}}));
    }
    schema
}

// Nothing reaches a host unasked, and it has neither parent nor siblings, so the descriptions for our own agents do not
// fit.
const TASK_OUTPUT: &str =
    "Wait for sub-agents: reports of ended ones, a digest of the rest. Without ids: unread reports, or what works.";
const SEND_MESSAGE: &str =
    "Write to a sub-agent, which reads it at its next turn or, if it has ended, resumes in the background.";
const TASK_LIST: &str = "The project's sub-agents, with their own sub-agents.";

fn message_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"to": {"type": "string", "description": "id"}, "message": {"type": "string"}},
        "required": ["to", "message"],
    })
}

/// Kinds of tools other than companions, which are known by their own names.
const DELEGATES: &str = "delegates";
const READS: &str = "reads";

fn annotations(kind: &str, reach: HostReach) -> ToolAnnotations {
    let hints = ToolAnnotations::new();
    match kind {
        READS | "TaskOutput" | "TaskList" => hints.read_only(true).open_world(false),
        "TaskStop" => hints.read_only(false).destructive(true).idempotent(true).open_world(false),
        _ if !reach.changes => hints.read_only(true).open_world(reach.fetches),
        // A sub-agent may change files, run commands and read the web, as far as the user's rules allow.
        _ => hints.read_only(false).destructive(true).idempotent(false).open_world(true),
    }
}

fn object(schema: Value) -> Arc<JsonObject> {
    Arc::new(match schema {
        Value::Object(fields) => fields,
        _ => JsonObject::new(),
    })
}
