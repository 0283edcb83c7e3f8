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
use crate::port::relatives::{Glance, Kin, Stand, Work};

const DEFAULT_TIME: Duration = Duration::from_secs(30);
const MAX_TIME: Duration = Duration::from_mins(10);
const MAX_IDS: usize = 100;

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
        let ids = match input.ids(context.kin) {
            Ok(ids) => ids,
            Err(error) => return answer.failed(&error),
        };
        let looked = tokio::select! {
            biased;
            looked = look(context.kin, &ids, input.patience(&mut answer)) => looked,
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
    fn ids(&self, kin: &dyn Kin) -> Result<Vec<&str>, ToolError> {
        // A list in one text, as JSON or with commas, is unambiguous: no id has these characters.
        let named = self.task_id.iter().chain(&self.task_ids).flat_map(|text| text.split([',', '[', ']', '"']));
        let mut ids: Vec<&str> = Vec::new();
        for id in named.map(str::trim).filter(|id| !id.is_empty()) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        if ids.is_empty() {
            return Err(ToolError::arguments(format!("no task_id was given; {} has them", kin.name_of("TaskList"))));
        }
        if ids.len() > MAX_IDS {
            return Err(ToolError::arguments(format!("{} ids were given, at most {MAX_IDS} at a time", ids.len())));
        }
        if ids.len() > 1 && self.offset.is_some() {
            return Err(ToolError::arguments("offset pages one report: give one task_id with it"));
        }
        Ok(ids)
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
