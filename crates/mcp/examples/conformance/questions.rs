//! Tools that need input from the client before they can answer, and say so in their result; the client calls again
//! with that input.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequest, InputRequests,
    InputRequiredResult, InputResponses,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

/// Handles given to clients, each valid for one call.
#[derive(Default)]
pub(crate) struct States {
    issued: AtomicU64,
    open: Mutex<HashSet<String>>,
}

impl States {
    fn issue(&self) -> String {
        let handle = format!("state-{}", self.issued.fetch_add(1, Ordering::Relaxed));
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(handle.clone());
        handle
    }

    /// Checks that the client returned the handle that it was given.
    fn redeem(&self, call: &CallToolRequestParams) -> Result<(), ErrorData> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let known = call.request_state.as_ref().is_some_and(|handle| open.remove(handle));
        if known { Ok(()) } else { Err(ErrorData::invalid_params("`requestState` is not one of ours", None)) }
    }
}

/// Answers a tool of this module; `None` for any other tool.
pub(crate) fn answer(
    call: &CallToolRequestParams,
    states: &States,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let name = form("What is your name?", "name");
    let answer = match &*call.name {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => once(call, "user_name", name),
        "test_input_required_result_sampling" => {
            once(call, "capital_question", prompt("What is the capital of France?"))
        }
        "test_input_required_result_list_roots" => once(call, "client_roots", roots()),
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            with_state(call, states, vec![("confirm", form("Please confirm", "ok"))])
        }
        "test_input_required_result_multiple_inputs" => with_state(
            call,
            states,
            vec![("user_name", name), ("greeting", prompt("Generate a greeting")), ("client_roots", roots())],
        ),
        "test_input_required_result_multi_round" if given(call.input_responses.as_ref(), "step1").is_some() => states
            .redeem(call)
            .and_then(|()| {
                ask([("step2", form("Step 2: What is your favorite color?", "color"))], Some(states.issue()))
            })
            .map(Into::into),
        "test_input_required_result_multi_round" if given(call.input_responses.as_ref(), "step2").is_some() => {
            states.redeem(call).map(|()| done("Two answers have arrived."))
        }
        "test_input_required_result_multi_round" => {
            ask([("step1", form("Step 1: What is your name?", "name"))], Some(states.issue())).map(Into::into)
        }
        "test_input_required_result_capabilities" => what_the_client_can(context),
        _ => return None,
    };
    Some(answer)
}

/// Runs a tool that needs one input.
fn once(call: &CallToolRequestParams, key: &str, question: Value) -> Result<CallToolResponse, ErrorData> {
    match given(call.input_responses.as_ref(), key) {
        Some(answer) => Ok(done(format!("Thank you for {answer}"))),
        None => ask([(key, question)], None).map(Into::into),
    }
}

/// Runs a tool that needs all these inputs at once, and its state back.
fn with_state(
    call: &CallToolRequestParams,
    states: &States,
    questions: Vec<(&str, Value)>,
) -> Result<CallToolResponse, ErrorData> {
    let answers = call.input_responses.as_ref();
    if answers.is_some() {
        states.redeem(call)?;
        if questions.iter().all(|(key, _)| given(answers, key).is_some()) {
            return Ok(done("state-ok"));
        }
    }
    ask(questions, Some(states.issue())).map(Into::into)
}

/// Asks the client's model and its user, as far as the client offers them.
fn what_the_client_can(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let capabilities = context.client_capabilities().unwrap_or_default();
    let model = capabilities.sampling.map(|_| ("model", prompt("Say something.")));
    let user = capabilities.elicitation.map(|_| ("user", form("What is your name?", "name")));
    ask(model.into_iter().chain(user), None).map(Into::into)
}

/// Returns the fields that the client's user filled in.
pub(crate) fn form_answer(answers: Option<&InputResponses>, key: &str) -> Option<Value> {
    given(answers, key).map(|answer| answer["content"].clone())
}

/// Returns a client's answer, if it is an object.
fn given<'a>(answers: Option<&'a InputResponses>, key: &str) -> Option<&'a Value> {
    answers?.get(key).filter(|answer| answer.is_object())
}

/// Builds the result that requests these inputs.
pub(crate) fn ask<'a>(
    questions: impl IntoIterator<Item = (&'a str, Value)>,
    state: Option<String>,
) -> Result<InputRequiredResult, ErrorData> {
    let requests = questions.into_iter().map(|(key, question)| Ok((key.to_owned(), request(question)?)));
    let requests = requests.collect::<Result<InputRequests, ErrorData>>()?;
    Ok(match state {
        Some(state) => InputRequiredResult::new(Some(requests), Some(state)),
        None => InputRequiredResult::from_input_requests(requests),
    })
}

pub(crate) fn request(question: Value) -> Result<InputRequest, ErrorData> {
    serde_json::from_value(question).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A question to the user, with one field to fill in.
pub(crate) fn form(message: &str, field: &str) -> Value {
    let kind = if matches!(field, "ok" | "confirm") { "boolean" } else { "string" };
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    json!({ "method": "elicitation/create", "params": { "mode": "form", "message": message, "requestedSchema": schema } })
}

/// A question to the client's model.
fn prompt(text: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
}

fn roots() -> Value {
    json!({ "method": "roots/list" })
}

fn done(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}
