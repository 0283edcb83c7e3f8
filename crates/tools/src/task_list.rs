//! `TaskList`: the tasks below this one as a tree, and those beside it, a line each.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Failure, Status, TaskId, ToolOutput};

use crate::answer::{Answer, counted};
use crate::arguments::{Unknown, optional_text};
use crate::glance::{INTERRUPTED, RUNNING, WAITING, line, status, words};
use crate::kin::Glance;
use crate::port::{CallContext, TypedTool};
use crate::problem::Problem;

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
            "properties": {"status": {"type": "string", "description": "only these: running, completed, failed, …"}},
        })
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let mut answer = Answer::new(context.structured);
        answer.note_unknown(&input.unknown);
        let wanted = match input.status.as_deref().map(known).transpose() {
            Ok(wanted) => wanted,
            Err(problem) => return answer.failed(&problem),
        };
        let found: Result<_, Failure> = async { Ok((context.kin.list().await?, context.kin.siblings().await?)) }.await;
        match found {
            Ok((below, beside)) => report(answer, (&below, &beside), wanted.as_deref()),
            Err(failure) => answer.failed(&Problem::new(None, failure.to_string())),
        }
    }
}

/// A status by its name.
fn known(name: &str) -> Result<String, Problem> {
    let open = [RUNNING, WAITING, INTERRUPTED].map(str::to_owned);
    let known: Vec<String> = open.into_iter().chain(ENDED.map(|status| status.to_string())).collect();
    let wanted = name.trim().to_ascii_lowercase();
    if known.contains(&wanted) {
        return Ok(wanted);
    }
    Err(Problem::arguments(format!("there is no status `{}`; use one of {}", words(name), known.join(", "))))
}

fn report(mut answer: Answer, (below, beside): (&[Glance], &[Glance]), wanted: Option<&str>) -> ToolOutput {
    let is_wanted = |glance: &&Glance| wanted.is_none_or(|wanted| status(&glance.stand) == wanted);
    let below: Vec<&Glance> = below.iter().filter(is_wanted).collect();
    let beside: Vec<&Glance> = beside.iter().filter(is_wanted).collect();
    let shown = newest(&below);
    for (depth, glance) in tree(shown) {
        answer.line(&format!("{}{}", "  ".repeat(depth), entry(glance)));
    }
    let shown_beside = newest(&beside);
    if !shown_beside.is_empty() {
        answer.line("Beside you:");
        for glance in shown_beside {
            answer.line(&entry(glance));
        }
    }
    answer.put_body("tasks");
    if shown.is_empty() {
        answer.note(wanted.map_or_else(|| "no sub-agents".to_owned(), |wanted| format!("no sub-agent is {wanted}")));
    }
    let n_older = below.len() + beside.len() - shown.len() - shown_beside.len();
    if n_older > 0 {
        answer.note_lack(format!("{n_older} older ones are not shown"));
    }
    answer.done(counted(below.len() + beside.len(), "task", "tasks"))
}

fn newest<'a, 'b>(tasks: &'b [&'a Glance]) -> &'b [&'a Glance] {
    &tasks[tasks.len().saturating_sub(MAX_TASKS)..]
}

fn entry(glance: &Glance) -> String {
    format!("{}: {}", line(glance), words(&glance.title))
}

/// The tasks with those below them, each with the number of those above it. One whose parent is not shown has none.
fn tree<'a>(shown: &[&'a Glance]) -> Vec<(usize, &'a Glance)> {
    let mut places: HashMap<TaskId, Vec<usize>> = HashMap::new();
    let mut placed: Vec<(Vec<usize>, &Glance)> = Vec::with_capacity(shown.len());
    // Nobody is older than its parent, so that the parent's place is known.
    for (index, &glance) in shown.iter().enumerate() {
        let above = glance.parent.and_then(|parent| places.get(&parent)).cloned().unwrap_or_default();
        let place: Vec<usize> = above.into_iter().chain([index]).collect();
        places.insert(glance.task, place.clone());
        placed.push((place, glance));
    }
    placed.sort_by(|(one, _), (other, _)| one.cmp(other));
    placed.into_iter().map(|(place, glance)| (place.len() - 1, glance)).collect()
}
