//! The Tasks extension over the journal. A handle is the id of a task, valid as long as the journal keeps it, even for
//! a server started later.
//!
//! A task that runs, here or in another process, is `working`. An ended one is `completed`; its result is the answer
//! that the call would have had, `isError` included. A stopped one is `cancelled`. A task whose process is gone is
//! `input_required` if the host can ask its person, and one question resumes or ends it. Otherwise it is `failed`, and
//! the error says how to resume it. A resumed task is `working` again.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, DetailedTask, InputRequest, InputRequests, InputResponses, JsonObject, Task, TaskPayload,
    TaskStatus,
};
use serde_json::{Value, json};
use sortie_journal::TaskHeader;
use sortie_protocol::{Failure, FailureCode, Job, Status, TaskId, TaskOutcome};
use sortie_tools::{Stand, glance_line};

use crate::server::answer::answer;
use crate::server::office::Office;

/// Suggested polling interval for hosts.
const POLL_MS: u64 = 1000;
/// The question whether to resume an interrupted task, and its one field.
const RESUME: &str = "resume";

/// Returns a handle in place of an answer.
pub(super) async fn handle(office: &Office, task: TaskId) -> Result<Task, ErrorData> {
    Ok(described(&header(office, task).await?, TaskStatus::Working))
}

/// Ability of a host to put a question to its person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elicitation {
    Offered,
    Missing,
}

/// Returns the state of a task. If the host can ask, an interrupted task asks whether to resume.
pub(super) async fn get(office: &Office, id: &str, elicitation: Elicitation) -> Result<DetailedTask, ErrorData> {
    let task = known(id)?;
    let glance = office.engine_host.look(task).await.map_err(|failure| unknown(&failure))?;
    let header = header(office, task).await?;
    let line = glance_line(&glance);
    let payload = match glance.stand {
        Stand::Waits | Stand::Works(_) | Stand::Elsewhere { .. } => TaskPayload::Working,
        Stand::Interrupted if elicitation == Elicitation::Offered => {
            TaskPayload::InputRequired { input_requests: whether_to_resume(task)? }
        }
        Stand::Interrupted => TaskPayload::Failed { error: interrupted(office, task) },
        Stand::Ended { outcome, .. } if outcome.status == Status::Cancelled => TaskPayload::Cancelled,
        Stand::Ended { outcome, .. } => TaskPayload::Completed { result: fields(&result(office, *outcome).await?)? },
    };
    Ok(DetailedTask::new(described(&header, payload.status()).with_status_message(line), payload))
}

/// Ends a task and all its descendants. [`get`] shows when it has ended.
pub(super) async fn cancel(office: &Office, id: &str) -> Result<(), ErrorData> {
    office.engine_host.stop(known(id)?).await.map_err(|failure| unknown(&failure))
}

/// Applies the answer to the question of [`get`].
pub(super) async fn update(office: &Office, id: &str, answers: &InputResponses) -> Result<(), ErrorData> {
    let task = known(id)?;
    let glance = office.engine_host.look(task).await.map_err(|failure| unknown(&failure))?;
    let answer = answers.get(RESUME).filter(|_| matches!(glance.stand, Stand::Interrupted));
    let answer = answer.ok_or_else(|| ErrorData::invalid_params(format!("{task} has not asked anything"), None))?;
    let done = match choice(answer)? {
        Choice::Resume => office.engine_host.resume(task, None).await.map(drop),
        Choice::End => office.engine_host.stop(task).await,
        Choice::None => Ok(()),
    };
    done.map_err(|failure| internal(&failure.to_string()))
}

/// A person's decision about resuming a task.
#[derive(Debug, PartialEq, Eq)]
enum Choice {
    Resume,
    End,
    /// The question was dismissed, so it stays.
    None,
}

/// Reads the decision; only an explicit answer ends a task.
fn choice(answer: &Value) -> Result<Choice, ErrorData> {
    match (answer["action"].as_str(), answer["content"][RESUME].as_bool()) {
        (Some("accept"), Some(true)) => Ok(Choice::Resume),
        (Some("accept"), Some(false)) | (Some("decline"), _) => Ok(Choice::End),
        (Some("cancel"), _) => Ok(Choice::None),
        _ => {
            let message = format!(
                "the answer to `{RESUME}` needs an `action`: `accept`, `decline` or `cancel`; with `accept`, \
                    `{RESUME}` in its `content` says whether to resume the task"
            );
            Err(ErrorData::invalid_params(message, None))
        }
    }
}

/// Returns the answer that the call would have had, in the contract of the call.
async fn result(office: &Office, outcome: TaskOutcome) -> Result<CallToolResult, ErrorData> {
    let (journal, task) = (Arc::clone(&office.journal), outcome.task_id);
    let begun = read(move || journal.beginning(task).map_err(|error| error.to_string())).await?;
    let contract = sortie_contract::contract(&begun.contract).unwrap_or_else(|| Arc::clone(&office.contract));
    Ok(answer(contract.as_ref(), &arguments(&begun), &office.engine_host.answer_parts(), Ok(outcome)))
}

/// Reconstructs the call's arguments from the journal, because some contracts repeat them.
fn arguments(Job { title, prompt, config, .. }: &Job) -> String {
    json!({"description": title, "prompt": prompt, "subagent_type": config.agent}).to_string()
}

fn whether_to_resume(task: TaskId) -> Result<InputRequests, ErrorData> {
    let question = json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": format!("The process that ran {task} is gone. Resume the task? If not, it ends."),
            "requestedSchema": {
                "type": "object",
                "properties": {RESUME: {"type": "boolean", "title": "Resume", "default": true}},
                "required": [RESUME],
            },
        },
    });
    let question: InputRequest = serde_json::from_value(question).map_err(|error| internal(&error.to_string()))?;
    Ok(BTreeMap::from([(RESUME.to_owned(), question)]))
}

fn interrupted(office: &Office, task: TaskId) -> JsonObject {
    let write = office.contract.host_name("SendMessage");
    let message = format!(
        "{task} was interrupted: the process that ran it is gone. No work is lost; resume it with a message \
            ({write}), a Task call whose `resume` is its id, or `sortie resume {task}`"
    );
    let error = json!({"code": rmcp::model::ErrorCode::INTERNAL_ERROR.0, "message": message});
    error.as_object().cloned().unwrap_or_default()
}

fn described(TaskHeader { task_id, started, updated, .. }: &TaskHeader, status: TaskStatus) -> Task {
    Task::new(task_id.to_string(), status, started.to_string(), updated.to_string()).with_poll_interval_ms(POLL_MS)
}

async fn header(office: &Office, task: TaskId) -> Result<TaskHeader, ErrorData> {
    let journal = Arc::clone(&office.journal);
    let found = read(move || journal.find(task.letters()).map_err(|error| error.to_string())).await?.pop();
    found.ok_or_else(|| internal(&format!("{task} is not in the journal")))
}

/// Reads on a thread that may block.
async fn read<T: Send + 'static>(read: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, ErrorData> {
    let read = tokio::task::spawn_blocking(read).await.map_err(|error| internal(&error.to_string()))?;
    read.map_err(|error| internal(&error))
}

fn fields(result: &CallToolResult) -> Result<JsonObject, ErrorData> {
    match serde_json::to_value(result) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(internal("the result is not an object")),
        Err(error) => Err(internal(&error.to_string())),
    }
}

fn known(id: &str) -> Result<TaskId, ErrorData> {
    id.parse().map_err(|_| ErrorData::invalid_params(format!("`{id}` is not a task id"), None))
}

/// Blames the request for an unknown task; any other failure is ours.
fn unknown(failure: &Failure) -> ErrorData {
    match failure.code {
        FailureCode::NoSuchTask | FailureCode::AmbiguousTask => {
            ErrorData::invalid_params(failure.message.clone(), None)
        }
        _ => internal(&failure.to_string()),
    }
}

fn internal(message: &str) -> ErrorData {
    ErrorData::internal_error(message.to_owned(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_explicit_answer_ends_or_resumes_a_task() {
        let accept = |resume: Value| json!({"action": "accept", "content": {"resume": resume}});
        assert_eq!(choice(&accept(json!(true))).unwrap(), Choice::Resume);
        assert_eq!(choice(&accept(json!(false))).unwrap(), Choice::End);
        assert_eq!(choice(&json!({"action": "decline"})).unwrap(), Choice::End);
        assert_eq!(choice(&json!({"action": "cancel"})).unwrap(), Choice::None);
        for unclear in [
            json!({}),
            json!(null),
            json!("accept"),
            json!({"action": "accept"}),
            accept(json!("true")),
            json!({"action": "no"}),
        ] {
            let refused = choice(&unclear).unwrap_err();
            assert_eq!(refused.code, rmcp::model::ErrorCode::INVALID_PARAMS, "{unclear}");
        }
    }
}
