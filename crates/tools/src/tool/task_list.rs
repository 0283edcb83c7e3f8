//! `TaskList`: lists the tasks below this one as a tree, and its siblings, one line each.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::open_status::{INTERRUPTED, RUNNING, WAITING};
use sortie_protocol::{Failure, Status, TaskId, ToolOutput};

use crate::answer::Answer;
use crate::answer::arguments::{Unknown, optional_text};
use crate::answer::phrases::counted;
use crate::answer::tool_error::ToolError;
use crate::call::context::CallContext;
use crate::call::typed_tool::TypedTool;
use crate::port::relatives::{Choice, Glance, Listing};
use crate::port::task_line::{line, words};

const MAX_TASKS: usize = 50;

const ENDED: [Status; 5] = [Status::Completed, Status::Partial, Status::Failed, Status::Cancelled, Status::Rejected];

pub(crate) struct TaskList;

#[derive(Deserialize)]
pub(crate) struct TaskListInput {
    #[serde(default, deserialize_with = "optional_text")]
    status: Option<String>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for TaskList {
    type Input = TaskListInput;

    const NAME: &'static str = "TaskList";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "Your sub-agents with those below them, and your siblings.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"status": {"type": "string", "description": "running, completed, failed, …"}},
        })
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let mut answer = context.answer();
        answer.note_unknown(&input.unknown);
        let wanted = match input.status.as_deref().map(known).transpose() {
            Ok(wanted) => wanted,
            Err(error) => return answer.failed(&error),
        };
        let (kin, choice) = (context.kin, Choice { status: wanted.as_deref(), most: MAX_TASKS });
        let found: Result<_, Failure> = async { Ok((kin.list(choice).await?, kin.siblings(choice).await?)) }.await;
        match found {
            Ok((below, beside)) => report(answer, &below, &beside, wanted.as_deref()),
            Err(failure) => answer.failed(&ToolError::new(None, failure.to_string())),
        }
    }
}

/// Returns the status with this name.
fn known(name: &str) -> Result<String, ToolError> {
    let open = [RUNNING, WAITING, INTERRUPTED].map(str::to_owned);
    let known: Vec<String> = open.into_iter().chain(ENDED.map(|status| status.to_string())).collect();
    let wanted = name.trim().to_ascii_lowercase();
    if known.contains(&wanted) {
        return Ok(wanted);
    }
    Err(ToolError::arguments(format!("there is no status `{}`; use one of {}", words(name), known.join(", "))))
}

fn report(mut answer: Answer, below: &Listing, beside: &Listing, wanted: Option<&str>) -> ToolOutput {
    for (depth, glance) in tree(&below.newest) {
        answer.line(&format!("{}{}", "  ".repeat(depth), entry(glance)));
    }
    if !beside.newest.is_empty() {
        answer.line("Beside you:");
        for glance in &beside.newest {
            answer.line(&entry(glance));
        }
    }
    answer.put_body("tasks");
    if below.newest.is_empty() {
        answer.note(wanted.map_or_else(|| "no sub-agents".to_owned(), |wanted| format!("no sub-agent is {wanted}")));
    }
    let n_all = below.n_all + beside.n_all;
    let n_older = n_all - below.newest.len() - beside.newest.len();
    if n_older > 0 {
        answer.note_lack(format!("{n_older} older ones are not shown"));
    }
    answer.done(counted(n_all, "task", "tasks"))
}

fn entry(glance: &Glance) -> String {
    format!("{}: {}", line(glance), words(&glance.title))
}

/// Orders the tasks as a tree, each with its depth. A task whose parent is not shown has depth 0.
fn tree(shown: &[Glance]) -> Vec<(usize, &Glance)> {
    let mut places: HashMap<TaskId, Vec<usize>> = HashMap::new();
    let mut placed: Vec<(Vec<usize>, &Glance)> = Vec::with_capacity(shown.len());
    // Parents are older than their children, so the parent's place is known.
    for (index, glance) in shown.iter().enumerate() {
        let above = glance.parent.and_then(|parent| places.get(&parent)).cloned().unwrap_or_default();
        let place: Vec<usize> = above.into_iter().chain([index]).collect();
        places.insert(glance.task, place.clone());
        placed.push((place, glance));
    }
    placed.sort_by(|(one, _), (other, _)| one.cmp(other));
    placed.into_iter().map(|(place, glance)| (place.len() - 1, glance)).collect()
}
