//! `SendMessage`: words for another task, which reads them at its next turn. One that has ended goes on with them.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use sortie_protocol::{Resource, TaskId, TaskRequest, ToolOutput};

use crate::answer::{Answer, bytes};
use crate::arguments::Unknown;
use crate::glance::words;
use crate::kin::Receipt;
use crate::port::{CallContext, Order, TypedTool};
use crate::problem::Problem;

/// The most that anybody says to a task at once, be it another task or a person.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024;

const PARENT: &str = "parent";

pub(crate) struct SendMessage;

#[derive(Deserialize)]
pub(crate) struct SendMessageInput {
    #[serde(alias = "recipient", alias = "task_id", alias = "taskId", alias = "agent_id", alias = "agentId")]
    to: String,
    #[serde(alias = "content", alias = "text", alias = "prompt")]
    message: String,
    /// Known to models from elsewhere; people see the message.
    #[serde(default, rename = "summary")]
    _summary: Option<IgnoredAny>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for SendMessage {
    type Input = SendMessageInput;

    const NAME: &'static str = "SendMessage";
    const IDEMPOTENT: bool = false;
    /// What has arrived names the call that sent it.
    const SETTLES_ITSELF: bool = true;
    const ORDER: Order = Order::Says;

    fn description(&self) -> String {
        "Write to a sub-agent, which reads it at its next turn or, if it has ended, goes on with it; also to a sibling or \
         your parent."
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

    /// The agent that would go to work on it, as if it were delegated to.
    fn resource(&self, input: &Self::Input, context: CallContext<'_>) -> Resource {
        let to = Some(input.to.trim().to_owned());
        context.delegation.agent_for(&TaskRequest { resume: to, ..TaskRequest::default() })
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let mut answer = Answer::new(context.structured);
        answer.note_unknown(&input.unknown);
        let to = match check("message", &input.message).and_then(|()| recipient(&input.to)) {
            Ok(to) => to,
            Err(problem) => return answer.failed(&problem),
        };
        let receipt = match context.kin.send(context.call, &to, input.message).await {
            Ok(receipt) => receipt,
            Err(failure) => return answer.failed(&Problem::new(None, failure.to_string())),
        };
        let (text, for_people) = match receipt {
            Receipt::Delivered { task } => (
                format!("delivered: {task} reads it at its next turn, unless it ends before"),
                format!("delivered to {task}"),
            ),
            Receipt::Resumed { task } => (
                format!("{task} goes on with it in the background; {}", report_line(context)),
                format!("{task} resumed"),
            ),
        };
        answer.line(&text);
        answer.put_body("receipt");
        answer.done(for_people)
    }
}

/// How the caller comes by the report.
fn report_line(context: CallContext<'_>) -> &'static str {
    if context.kin.delivers() { "its report is delivered to you" } else { "TaskOutput waits for its report" }
}

/// Whom a name means. Only a whole id is one: whoever is judged by [`TypedTool::resource`] must be the one who reads it.
fn recipient(to: &str) -> Result<String, Problem> {
    let to = to.trim();
    if to.eq_ignore_ascii_case(PARENT) {
        return Ok(PARENT.to_owned());
    }
    let task: Result<TaskId, _> = to.parse();
    let unknown = |_| format!("nothing was sent: `{}` is neither the whole id of a task nor {PARENT}", words(to));
    task.map(|task| task.to_string()).map_err(unknown).map_err(Problem::arguments)
}

/// Whether a text can go to another task.
pub(crate) fn check(name: &str, text: &str) -> Result<(), Problem> {
    if text.trim().is_empty() {
        return Err(Problem::arguments(format!("nothing was sent: the {name} is empty")));
    }
    if text.len() > MAX_MESSAGE_BYTES {
        let (n_bytes, most) = (bytes(text.len() as u64), bytes(MAX_MESSAGE_BYTES as u64));
        return Err(Problem::arguments(format!(
            "nothing was sent: the {name} has {n_bytes}, at most {most} can be sent; shorten it, or write a file and name it"
        )));
    }
    Ok(())
}
