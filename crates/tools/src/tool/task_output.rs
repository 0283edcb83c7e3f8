//! `TaskOutput`: returns reports of ended sub-agents and the status of the others, never a transcript.
//!
//! A report that fits into the answer counts as read and is not delivered again. A report left out stays in the mail.

mod reports;

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Failure, ToolOutput};
use tokio::time::Instant;

use self::reports::TaskReports;
use crate::answer::Answer;
use crate::answer::arguments::{Unknown, optional_count, optional_flag, texts};
use crate::answer::tool_error::ToolError;
use crate::call::context::CallContext;
use crate::call::tool::Order;
use crate::call::typed_tool::TypedTool;
use crate::files::blocking::cancelled;
use crate::port::relatives::{Choice, Glance, Kin, Stand, Work};

const DEFAULT_TIME: Duration = Duration::from_secs(30);
const MAX_TIME: Duration = Duration::from_mins(10);
const MAX_IDS: usize = 100;
/// Maximum number of tasks that a call without an id considers.
const MAX_LISTED: usize = 50;

pub(crate) struct TaskOutput;

#[derive(Deserialize)]
pub(crate) struct TaskOutputInput {
    #[serde(default, alias = "taskId", alias = "agent_id", alias = "agentId", deserialize_with = "texts")]
    task_id: Vec<String>,
    #[serde(default, alias = "taskIds", alias = "agent_ids", alias = "agentIds", deserialize_with = "texts")]
    task_ids: Vec<String>,
    #[serde(default, deserialize_with = "optional_flag")]
    block: Option<bool>,
    #[serde(default, deserialize_with = "optional_count")]
    timeout: Option<u64>,
    #[serde(default, deserialize_with = "optional_count")]
    offset: Option<u64>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for TaskOutput {
    type Input = TaskOutputInput;

    const NAME: &'static str = "TaskOutput";
    const IDEMPOTENT: bool = true;
    const ORDER: Order = Order::Looks;
    const DELEGATES: bool = true;
    const NEEDS_CHILDREN: bool = true;

    fn description(&self) -> String {
        "Wait for sub-agents: reports of those that end, a digest of the others. Do not poll; background reports are \
         delivered to you."
            .to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "task_id": {"type": "string"},
                "task_ids": {"type": "array", "items": {"type": "string"}},
                "block": {"type": "boolean", "default": true},
                "timeout": {"type": "integer", "description": "milliseconds, default 30000, at most 600000"},
                "offset": {"type": "integer", "description": "pages the full report from this character"},
            },
        })
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let mut answer = context.answer();
        answer.note_unknown(&input.unknown);
        let all;
        let ids = match input.ids() {
            Ok(ids) if ids.is_empty() => {
                all = match ready_or_open(context.kin).await {
                    Ok(all) => all,
                    Err(failure) => return answer.failed(&ToolError::new(None, failure.to_string())),
                };
                if all.is_empty() {
                    answer.text("No sub-agent works, and no report of one in the background is unread.");
                    return answer.done("nothing".to_owned());
                }
                all.iter().map(String::as_str).collect()
            }
            Ok(ids) => ids,
            Err(error) => return answer.failed(&error),
        };
        let patience = if input.names_none() { Duration::ZERO } else { input.patience(&mut answer) };
        let looked = tokio::select! {
            biased;
            looked = look(context.kin, &ids, patience) => looked,
            () = context.cancel.cancelled() => return cancelled(),
        };
        let mut reports = TaskReports::default();
        for glance in looked {
            match (glance, input.offset) {
                (Ok(glance), Some(offset)) => reports.page(&glance, offset, context).await,
                (Ok(glance), None) => reports.whole(&glance, context),
                (Err(failure), _) => reports.unknown(&failure),
            }
        }
        reports.answer(answer, context.kin)
    }
}

impl TaskOutputInput {
    /// Returns the requested ids, without repeats.
    fn ids(&self) -> Result<Vec<&str>, ToolError> {
        // A list in one text, as JSON or with commas, is unambiguous: no id has these characters.
        let named = self.task_id.iter().chain(&self.task_ids).flat_map(|text| text.split([',', '[', ']', '"']));
        let mut ids: Vec<&str> = Vec::new();
        for id in named.map(str::trim).filter(|id| !id.is_empty()) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        if ids.is_empty() && self.offset.is_some() {
            return Err(ToolError::arguments("offset pages one report: give its task_id"));
        }
        if ids.len() > MAX_IDS {
            return Err(ToolError::arguments(format!("{} ids were given, at most {MAX_IDS} at a time", ids.len())));
        }
        if ids.len() > 1 && self.offset.is_some() {
            return Err(ToolError::arguments("offset pages one report: give one task_id with it"));
        }
        Ok(ids)
    }

    fn names_none(&self) -> bool {
        self.ids().is_ok_and(|ids| ids.is_empty())
    }

    /// Returns how long to wait for all of them.
    fn patience(&self, answer: &mut Answer) -> Duration {
        if self.block == Some(false) {
            return Duration::ZERO;
        }
        let asked = self.timeout.map_or(DEFAULT_TIME, Duration::from_millis);
        if asked > MAX_TIME {
            answer.note(format!("the timeout was cut to {} ms", MAX_TIME.as_millis()));
        }
        asked.min(MAX_TIME)
    }
}

/// Returns the tasks with an unread report, or else those that have not ended; the newest ones, in start order.
async fn ready_or_open(kin: &dyn Kin) -> Result<Vec<String>, Failure> {
    let listing = kin.list(Choice { status: None, most: MAX_LISTED }).await?;
    let ids = |is_meant: fn(&Stand) -> bool| -> Vec<String> {
        let meant = listing.newest.iter().filter(|glance| is_meant(&glance.stand));
        meant.map(|glance| glance.task.to_string()).collect()
    };
    let ready = ids(|stand| matches!(stand, Stand::Ended { unread: Some(_), .. }));
    if ready.is_empty() { Ok(ids(|stand| !matches!(stand, Stand::Ended { .. }))) } else { Ok(ready) }
}

/// Returns the status of each when all have ended, one of them waits for the caller, or the time is over.
async fn look(kin: &dyn Kin, ids: &[&str], patience: Duration) -> Vec<Result<Glance, Failure>> {
    let mut deadline = Instant::now() + patience;
    if ids.len() > 1 && one_waits_for_the_caller(kin, ids).await {
        deadline = Instant::now();
    }
    let mut looked = Vec::with_capacity(ids.len());
    // Waiting in sequence takes no longer than waiting for all at once: a task that ends meanwhile is done when its
    // turn comes.
    for id in ids {
        let left = deadline.saturating_duration_since(Instant::now());
        looked.push(kin.look(id, left).await);
    }
    looked
}

async fn one_waits_for_the_caller(kin: &dyn Kin, ids: &[&str]) -> bool {
    for id in ids {
        let looked = kin.look(id, Duration::ZERO).await;
        if looked.is_ok_and(|glance| matches!(glance.stand, Stand::Works(Work { awaits_answer: true, .. }))) {
            return true;
        }
    }
    false
}
