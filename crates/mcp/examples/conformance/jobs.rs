//! Jobs that ask the client while they work, or fail: tasks of the Tasks extension that ours never are. They require a
//! client that has declared the extension.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ClientCapabilities, ContentBlock,
    CreateTaskResult, GetTaskParams, GetTaskResult, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use crate::questions;

#[derive(Default)]
pub(crate) struct Jobs(TaskManager);

/// Behaviour of each tool's task.
#[derive(Debug, Clone)]
enum Job {
    Break,
    Confirm(Vec<(&'static str, Value)>),
    Greet(String),
}

impl Jobs {
    /// Answers a tool of this module; `None` for any other tool.
    pub(crate) fn answer(
        &self,
        call: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let job = match &*call.name {
            "greet" => return Some(Ok(said(format!("Hello, {}!", name_in(call))).into())),
            "protocol_error_job" => Job::Break,
            "confirm_delete" => Job::Confirm(vec![("confirm", questions::form("Delete it?", "confirm"))]),
            "multi_input" => Job::Confirm(vec![
                ("first", questions::form("What is your name?", "name")),
                ("second", questions::form("Are you sure?", "confirm")),
            ]),
            "test_tool_with_task" => {
                let Some(form) = questions::form_answer(call.input_responses.as_ref(), "user_name") else {
                    let question = questions::form("What is your name?", "name");
                    return Some(questions::ask([("user_name", question)], None).map(Into::into));
                };
                Job::Greet(form["name"].as_str().unwrap_or_default().to_owned())
            }
            _ => return None,
        };
        let declared = context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
        Some(if declared {
            Ok(CreateTaskResult::new(self.start(job)).into())
        } else {
            let tasks = ClientCapabilities::builder().enable_tasks().build();
            Err(ErrorData::missing_required_client_capability(tasks))
        })
    }

    fn start(&self, job: Job) -> rmcp::model::Task {
        self.0.spawn(TaskOptions::new(), |context| Box::pin(run(job, context)))
    }

    pub(crate) fn have(&self, task: &str) -> bool {
        self.0.get_task(task).is_ok()
    }

    pub(crate) fn look(&self, request: &GetTaskParams) -> Result<GetTaskResult, ErrorData> {
        self.0.get_task(&request.task_id).map(GetTaskResult::new)
    }

    pub(crate) fn hear(&self, request: UpdateTaskParams) -> Result<(), ErrorData> {
        self.0.update_task(&request.task_id, request.input_responses)
    }

    pub(crate) fn stop(&self, request: &CancelTaskParams) -> Result<(), ErrorData> {
        self.0.cancel_task(&request.task_id)
    }
}

async fn run(job: Job, context: TaskContext) -> Result<CallToolResult, TaskExit> {
    match job {
        Job::Break => Err(TaskExit::Error(ErrorData::internal_error("the job broke", None))),
        Job::Confirm(forms) => {
            let asked = forms.into_iter();
            let asked = asked.map(async |(key, form)| context.request_input(key, questions::request(form)?).await);
            futures_util::future::try_join_all(asked).await?;
            Ok(said("Confirmed."))
        }
        Job::Greet(name) => Ok(said(format!("Hello, {name}!"))),
    }
}

fn said(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn name_in(call: &CallToolRequestParams) -> &str {
    call.arguments.as_ref().and_then(|arguments| arguments.get("name")).and_then(Value::as_str).unwrap_or_default()
}
