//! `SendMessage`: writes to another task, which reads the message at its next turn.
//!
//! An ended task resumes with the message, in contracts with background work.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use sortie_protocol::{Resource, TaskId, TaskRequest, ToolOutput};

use crate::answer::arguments::Unknown;
use crate::answer::tool_error::ToolError;
use crate::call::context::CallContext;
use crate::call::tool::Order;
use crate::call::typed_tool::TypedTool;
use crate::port::message::check_message;
use crate::port::relatives::Receipt;
use crate::port::task_line::words;

const PARENT: &str = "parent";

/// The tool, by the tasks that a message can reach.
pub(crate) enum SendMessage {
    /// Tasks at work, and the caller's own ended ones, which resume with it in the background.
    ToAll,
    /// Tasks at work.
    ToRunning,
}

#[derive(Deserialize)]
pub(crate) struct SendMessageInput {
    #[serde(alias = "recipient", alias = "task_id", alias = "taskId", alias = "agent_id", alias = "agentId")]
    to: String,
    #[serde(alias = "content", alias = "text", alias = "prompt")]
    message: String,
    /// Models know it from elsewhere; people see the message.
    #[serde(default, rename = "summary")]
    _summary: Option<IgnoredAny>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for SendMessage {
    type Input = SendMessageInput;

    const NAME: &'static str = "SendMessage";
    const IDEMPOTENT: bool = false;
    /// A delivered message names the call that sent it.
    const SETTLES_ITSELF: bool = true;
    const ORDER: Order = Order::Says;

    fn description(&self) -> String {
        match self {
            Self::ToAll => {
                "Write to a sub-agent, which reads it at its next turn or, if it has ended, resumes with it; also to a \
                 sibling or your parent."
            }
            Self::ToRunning => "Write to a sibling or your parent, which reads it at its next turn.",
        }
        .to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "to": {"type": "string", "description": "id, or parent"},
                "message": {"type": "string"},
            },
            "required": ["to", "message"],
        })
    }

    /// The agent that would work on it, as if it were delegated to.
    fn resource(&self, input: &Self::Input, context: CallContext<'_>) -> Resource {
        let to = Some(input.to.trim().to_owned());
        context.delegation.agent_for(&TaskRequest { resume: to, ..TaskRequest::default() })
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let mut answer = context.answer();
        answer.note_unknown(&input.unknown);
        let to = match check_message("message", &input.message).and_then(|()| recipient(&input.to)) {
            Ok(to) => to,
            Err(error) => return answer.failed(&error),
        };
        let receipt = match context.kin.send(context.call, &to, input.message).await {
            Ok(receipt) => receipt,
            Err(failure) => return answer.failed(&ToolError::new(None, failure.to_string())),
        };
        let (text, for_people) = match receipt {
            Receipt::Delivered { task } => (
                format!("delivered: {task} reads it at its next turn, unless it ends before"),
                format!("delivered to {task}"),
            ),
            Receipt::Resumed { task } => (
                format!("{task} resumes with it in the background; {}", report_line(context, task)),
                format!("{task} resumed"),
            ),
        };
        answer.line(&text);
        answer.put_body("receipt");
        answer.done(for_people)
    }
}

/// Says how the caller gets the report.
fn report_line(context: CallContext<'_>, task: TaskId) -> String {
    if context.kin.delivers() {
        return "its report is delivered to you".to_owned();
    }
    format!("{} with task_id {task} waits for its report", context.kin.name_of("TaskOutput"))
}

/// Returns the task a name means. Only a full id counts: the task judged by [`TypedTool::resource`] must be the one
/// that reads it.
fn recipient(to: &str) -> Result<String, ToolError> {
    let to = to.trim();
    if to.eq_ignore_ascii_case(PARENT) {
        return Ok(PARENT.to_owned());
    }
    let task: Result<TaskId, _> = to.parse();
    let unknown = |_| format!("nothing was sent: `{}` is neither a full task id nor {PARENT}", words(to));
    task.map(|task| task.to_string()).map_err(unknown).map_err(ToolError::arguments)
}
