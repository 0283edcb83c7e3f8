//! Tools that communicate with the client while they work: logs, progress, its model, its user.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock, ServerNotification,
    ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::lists::Lists;

/// Pause between two messages, so that they arrive one by one.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) async fn answer(
    call: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    lists: &Lists,
) -> Result<CallToolResponse, ErrorData> {
    let said = match &*call.name {
        "test_tool_with_logging" => {
            for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                log(context, message).await?;
                tokio::time::sleep(PAUSE).await;
            }
            "Three messages were logged.".to_owned()
        }
        "test_logging_tool" => {
            if context.meta.log_level().is_some() {
                log(context, "Somebody wants to hear this").await?;
            }
            "Logged, if it was wanted.".to_owned()
        }
        "test_tool_with_progress" => {
            for progress in [0, 50, 100] {
                tell_progress(context, progress).await?;
                tokio::time::sleep(PAUSE).await;
            }
            "Done.".to_owned()
        }
        "test_sampling" => format!("LLM response: {}", sample(call, context).await?),
        "test_elicitation" => {
            let mut form = lists.form("username");
            form["message"] =
                call.arguments.as_ref().and_then(|arguments| arguments.get("message")).cloned().unwrap_or_default();
            format!("User response: {}", elicit(form, context).await?)
        }
        "test_elicitation_sep1034_defaults" => {
            format!("Elicitation completed: {}", elicit(lists.form("defaults"), context).await?)
        }
        "test_elicitation_sep1330_enums" => {
            format!("Elicitation completed: {}", elicit(lists.form("enums"), context).await?)
        }
        "test_missing_capability" => {
            if context.client_capabilities().is_none_or(|capabilities| capabilities.sampling.is_none()) {
                return Err(ErrorData::missing_required_client_capability(of_protocol(json!({ "sampling": {} }))?));
            }
            "The client has a model.".to_owned()
        }
        unknown => return Err(ErrorData::invalid_params(format!("no tool `{unknown}`"), None)),
    };
    Ok(CallToolResult::success(vec![ContentBlock::text(said)]).into())
}

async fn log(context: &RequestContext<RoleServer>, message: &str) -> Result<(), ErrorData> {
    let params = json!({ "level": "info", "logger": "fixture", "data": message });
    notify(context, "notifications/message", &params).await
}

async fn tell_progress(context: &RequestContext<RoleServer>, progress: u32) -> Result<(), ErrorData> {
    let Some(token) = context.meta.get_progress_token() else { return Ok(()) };
    let params = json!({ "progressToken": token, "progress": progress, "total": 100 });
    notify(context, "notifications/progress", &params).await
}

async fn notify(context: &RequestContext<RoleServer>, method: &str, params: &Value) -> Result<(), ErrorData> {
    let notification: ServerNotification = of_protocol(json!({ "method": method, "params": params }))?;
    context
        .peer
        .send_notification(notification)
        .await
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Asks the client's model with the call's prompt.
async fn sample(call: &CallToolRequestParams, context: &RequestContext<RoleServer>) -> Result<String, ErrorData> {
    let prompt = call.arguments.as_ref().and_then(|arguments| arguments.get("prompt")).cloned().unwrap_or_default();
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    let said = ask(context, "sampling/createMessage", json!({ "messages": [message], "maxTokens": 100 })).await?;
    Ok(said["content"]["text"].as_str().unwrap_or_default().to_owned())
}

/// Asks the client's user.
async fn elicit(form: Value, context: &RequestContext<RoleServer>) -> Result<String, ErrorData> {
    let answer = ask(context, "elicitation/create", form).await?;
    Ok(format!("action={}, content={}", answer["action"].as_str().unwrap_or_default(), answer["content"]))
}

async fn ask(context: &RequestContext<RoleServer>, method: &str, params: Value) -> Result<Value, ErrorData> {
    let request: ServerRequest = of_protocol(json!({ "method": method, "params": params }))?;
    let answer: ClientResult =
        context.peer.send_request(request).await.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    serde_json::to_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Converts a message to the SDK's types.
fn of_protocol<T: serde::de::DeserializeOwned>(message: Value) -> Result<T, ErrorData> {
    serde_json::from_value(message).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
