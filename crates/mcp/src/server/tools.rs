//! Tools offered to a host: Task in the words of the contract, and its companions if the contract has them.
//!
//! The engine implements them. Annotations are hints for hosts that ask a person before a call. They state the most
//! that a call can do, because the user's own rules decide what a sub-agent may do.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use sortie_protocol::{TaskId, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use crate::server::office::Office;

/// Most tasks that `TaskOutput` waits for at once.
const MAX_AWAITED: usize = 100;

/// Lists all tools, in the order in which they are offered.
pub(super) fn list(office: &Office) -> Vec<Tool> {
    let offered = |spec: &ToolSpec| !office.is_nested || spec.name == office.contract.tool_name();
    office.engine_host.tools().into_iter().filter(offered).map(|spec| tool(office, spec)).collect()
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
    let names: Vec<String> = list(office).into_iter().map(|tool| tool.name.into_owned()).collect();
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

fn tool(office: &Office, ToolSpec { name, description, schema }: ToolSpec) -> Tool {
    let is_task = name == office.contract.tool_name();
    let (description, schema) = match name.as_str() {
        _ if is_task => (description, schema),
        "TaskOutput" => (TASK_OUTPUT.to_owned(), schema),
        "SendMessage" => (SEND_MESSAGE.to_owned(), message_schema()),
        "TaskList" => (TASK_LIST.to_owned(), schema),
        _ => (description, schema),
    };
    let annotations = annotations(&name, is_task);
    let tool = Tool::new(name, description, object(schema)).with_annotations(annotations);
    if is_task { tool.with_raw_output_schema(object(office.contract.output_schema())) } else { tool }
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

fn annotations(name: &str, is_task: bool) -> ToolAnnotations {
    let hints = ToolAnnotations::new();
    match name {
        "TaskOutput" | "TaskList" if !is_task => hints.read_only(true).open_world(false),
        "TaskStop" if !is_task => hints.read_only(false).destructive(true).idempotent(true).open_world(false),
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
