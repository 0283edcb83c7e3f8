//! A host's sampling answer, as a reply or as an error.
#![expect(deprecated, reason = "see `host_model`")]

use rmcp::ServiceError;
use rmcp::model::{CreateMessageResult, ErrorCode, ErrorData, Role, SamplingMessageContentBlock};
use serde_json::Value;
use sortie_llm::{ErrorKind, ModelError, ModelRequest, estimate};
use sortie_protocol::{CallId, Part, Reply, StopReason, ToolCall, Usage};

/// Makes the reply of a host's model. Sampling reports no usage, so all of it is estimated and marked so.
pub(super) fn reply(request: &ModelRequest<'_>, client: &str, said: CreateMessageResult) -> Result<Reply, ModelError> {
    let CreateMessageResult { model, stop_reason, message, .. } = said;
    if message.role != Role::Assistant {
        return Err(garbage(client, "a user message"));
    }
    let parts = message.content.into_vec().into_iter().map(|block| part(client, block));
    let parts: Vec<Part> = parts.collect::<Result<_, _>>()?;
    let parts: Vec<Part> = parts.into_iter().filter(|part| !is_blank(part)).collect();
    let stop = stop(stop_reason.as_deref(), parts.iter().any(|part| matches!(part, Part::Call(_))));
    let usage = usage(request, &parts);
    Ok(Reply { parts, stop, usage, usage_doubted: true, usage_high: false, model })
}

fn part(client: &str, block: SamplingMessageContentBlock) -> Result<Part, ModelError> {
    match block {
        SamplingMessageContentBlock::Text(text) => Ok(Part::Text { text: text.text }),
        SamplingMessageContentBlock::ToolUse(call) => Ok(Part::Call(ToolCall {
            id: CallId(call.id),
            tool: call.name,
            arguments: Value::Object(call.input).to_string(),
        })),
        SamplingMessageContentBlock::Image(_) => Err(garbage(client, "an image")),
        SamplingMessageContentBlock::Audio(_) => Err(garbage(client, "a recording")),
        _ => Err(garbage(client, "content that is neither text nor a tool call")),
    }
}

fn is_blank(part: &Part) -> bool {
    matches!(part, Part::Text { text } if text.is_empty())
}

/// Returns the stop reason. Hosts may give reasons of their own. Calls decide by themselves, unless the answer was cut.
fn stop(said: Option<&str>, has_calls: bool) -> StopReason {
    match said {
        Some(CreateMessageResult::STOP_REASON_END_MAX_TOKEN) => StopReason::Length,
        Some("refusal") if !has_calls => StopReason::Refusal,
        _ if has_calls => StopReason::Calls,
        _ => StopReason::End,
    }
}

fn usage(request: &ModelRequest<'_>, parts: &[Part]) -> Usage {
    let messages: u64 = request.messages.iter().map(estimate::message_tokens).sum();
    Usage {
        input_tokens: estimate::prefix_tokens(request.system, request.tools) + messages,
        output_tokens: estimate::tokens(parts.iter().map(estimate::part_bytes).sum()),
        ..Usage::default()
    }
}

pub(super) fn garbage(client: &str, what: &str) -> ModelError {
    ModelError::new(ErrorKind::Garbage, format!("the host `{client}` answered for its model with {what}"))
}

/// Builds the error for a missing answer. A host does its own retries, so there are none here.
pub(super) fn failure(client: &str, error: ServiceError) -> ModelError {
    let (kind, what) = match error {
        ServiceError::McpError(error) => said_no(&error),
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
            (ErrorKind::Unreachable, "it is no longer connected".to_owned())
        }
        ServiceError::Cancelled { reason } => {
            (ErrorKind::Cut, format!("it broke off ({})", reason.as_deref().unwrap_or("no reason given")))
        }
        other => (ErrorKind::Garbage, other.to_string()),
    };
    let next = "check the host, or set a model of your own (`sortie models --help`)";
    ModelError::new(kind, format!("the host `{client}` did not answer with its model: {what}; {next}"))
}

/// Classifies an error by its code. Codes outside JSON-RPC are a refusal by the person or the host.
fn said_no(ErrorData { code, message, .. }: &ErrorData) -> (ErrorKind, String) {
    let kind = match *code {
        ErrorCode::METHOD_NOT_FOUND => ErrorKind::Setup,
        ErrorCode::INVALID_PARAMS | ErrorCode::INVALID_REQUEST => ErrorKind::BadRequest,
        ErrorCode::INTERNAL_ERROR => ErrorKind::Server,
        _ => return (ErrorKind::Auth, format!("it refused ({}): {message}", code.0)),
    };
    (kind, format!("it failed ({}): {message}", code.0))
}
