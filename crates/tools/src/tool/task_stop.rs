//! `TaskStop`: stops a sub-agent with all tasks below it, and lists them.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{MailMark, ToolOutput};

use crate::answer::Answer;
use crate::answer::arguments::Unknown;
use crate::answer::phrases::counted;
use crate::answer::tool_error::ToolError;
use crate::call::context::CallContext;
use crate::call::tool::Order;
use crate::call::typed_tool::TypedTool;
use crate::files::blocking::cancelled;
use crate::port::relatives::{Glance, Stand};
use crate::port::task_line::{fenced, line, short};

/// Length shown of a report: of the task's own, and of one below it.
const MAX_TEXT_CHARS: usize = 2000;
const MAX_TEXT_CHARS_BELOW: usize = 300;
const MAX_TOLD: usize = 30;

pub(crate) struct TaskStop;

#[derive(Deserialize)]
pub(crate) struct TaskStopInput {
    #[serde(alias = "taskId", alias = "agent_id", alias = "agentId", alias = "shell_id")]
    task_id: String,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for TaskStop {
    type Input = TaskStopInput;

    const NAME: &'static str = "TaskStop";
    /// A stopped task is not stopped again.
    const IDEMPOTENT: bool = true;
    /// Earlier messages have arrived by then; later ones go to a task that has ended.
    const ORDER: Order = Order::Says;
    const DELEGATES: bool = true;
    const NEEDS_CHILDREN: bool = true;

    fn description(&self) -> String {
        "End a sub-agent and all below it.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"task_id": {"type": "string"}}, "required": ["task_id"]})
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let mut answer = context.answer();
        answer.note_unknown(&input.unknown);
        let id = input.task_id.trim();
        if id.is_empty() {
            let list = context.kin.name_of("TaskList");
            return answer.failed(&ToolError::arguments(format!("no task_id was given; {list} has them")));
        }
        let stopped = tokio::select! {
            biased;
            stopped = context.kin.stop(id) => stopped,
            () = context.cancel.cancelled() => return cancelled(),
        };
        match stopped {
            Ok(stopped) if stopped.is_empty() => not_at_work(answer, id, context).await,
            Ok(stopped) => receipt(answer, &stopped, context),
            Err(failure) => answer.failed(&ToolError::new(None, failure.to_string())),
        }
    }
}

/// Says why there was nothing to stop.
async fn not_at_work(mut answer: Answer, id: &str, context: CallContext<'_>) -> ToolOutput {
    let glance = match context.kin.look(id, Duration::ZERO).await {
        Ok(glance) => glance,
        Err(failure) => return answer.failed(&ToolError::new(None, failure.to_string())),
    };
    answer.text(&line(&glance));
    answer.put_body("stopped");
    let why = match glance.stand {
        Stand::Ended { .. } => "it had ended before",
        Stand::Elsewhere { .. } => "it works for another task, which can stop it",
        Stand::Waits | Stand::Works(_) | Stand::Interrupted => "it is not running",
    };
    answer.note(format!("{why}: nothing was stopped"));
    answer.done(why)
}

fn receipt(mut answer: Answer, stopped: &[Glance], context: CallContext<'_>) -> ToolOutput {
    let mut mail = MailMark::default();
    let mut has_cut = false;
    for (index, glance) in stopped.iter().take(MAX_TOLD).enumerate() {
        answer.text(&line(glance));
        let Stand::Ended { outcome, unread } = &glance.stand else { continue };
        for notice in &outcome.notices {
            answer.text(&format!("notice: {notice}"));
        }
        let most = if index == 0 { MAX_TEXT_CHARS } else { MAX_TEXT_CHARS_BELOW };
        let start = short(&outcome.text, most);
        if !outcome.text.is_empty() {
            let text = start.map_or_else(|| outcome.text.clone(), |start| format!("{}…", start.trim_end()));
            answer.text(&fenced("so far", &text, context.delegation));
        }
        has_cut |= start.is_some();
        if start.is_none() {
            mail.reports.extend(*unread);
        }
    }
    answer.put_body("stopped");
    if let Some(n_more) = stopped.len().checked_sub(MAX_TOLD).filter(|n_more| *n_more > 0) {
        answer.note(format!("{n_more} more below it were also stopped"));
    }
    if has_cut {
        let output = context.kin.name_of("TaskOutput");
        answer.note(format!("the text so far is shown only in part; {output} has it"));
    }
    let word = stopped.first().map(|glance| glance.stand.status()).unwrap_or_default();
    let for_people = format!("{}, {word}", counted(stopped.len(), "task stopped", "tasks stopped"));
    ToolOutput { mail, ..answer.done(for_people) }
}
