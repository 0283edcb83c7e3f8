//! One task: what was asked, what became of it, and the tree below it.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use sortie_journal::{Journal, TaskHeader, TaskState};
use sortie_protocol::{Event, Fact, Job, TaskId, TaskOutcome};

use super::state;
use crate::error::{CommandError, ErrorKind};
use crate::render::{OutcomeTree, neutral, print_json, words};

/// Ids that an ambiguous prefix is answered with.
const MOST_CANDIDATES: usize = 8;

pub(super) fn run(journal: &dyn Journal, id: &str, json: bool) -> Result<ExitCode, CommandError> {
    let header = find(journal, id)?;
    let headers = journal.tree(header.root_id)?;
    let branch = Branch::below(&header, &headers);
    if json {
        print_json(&outcomes(journal, &branch)?.object(header.task_id))?;
    } else {
        let events = journal.read(header.task_id)?;
        let text = describe(&header, &events, &branch);
        io::stdout().lock().write_all(neutral::block(&text).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn find(journal: &dyn Journal, id: &str) -> Result<TaskHeader, CommandError> {
    let mut found = journal.find(id)?;
    match (found.pop(), found.len()) {
        (Some(header), 0) => Ok(header),
        (None, _) => Err(CommandError::new(ErrorKind::NotFound, format!("there is no task `{id}`"))
            .hint("`sortie tasks list --all` lists the newest tasks")),
        (Some(last), others) => {
            let candidates = found.iter().chain([&last]).take(MOST_CANDIDATES);
            let error = CommandError::usage(format!("`{id}` is the beginning of {} ids", others + 1));
            Err(candidates.fold(error, |error, header| {
                error.hint(format!("{} {} {}", header.task_id, header.agent, header.title))
            }))
        }
    }
}

/// A task's headers and those of everything below it, with how deep each one is below the task.
struct Branch<'a> {
    tasks: Vec<(usize, &'a TaskHeader)>,
}

impl<'a> Branch<'a> {
    fn below(top: &TaskHeader, headers: &'a [TaskHeader]) -> Self {
        let mut tasks = Vec::new();
        let tops = headers.iter().filter(|header| header.task_id == top.task_id);
        let mut stack: Vec<(usize, &TaskHeader)> = tops.map(|header| (0, header)).collect();
        while let Some((level, header)) = stack.pop() {
            tasks.push((level, header));
            // Last in, first out: reversed, so that they come out in order of starting.
            let children = headers.iter().rev().filter(|child| child.parent_id == Some(header.task_id));
            stack.extend(children.map(|child| (level + 1, child)));
        }
        Self { tasks }
    }
}

fn outcomes(journal: &dyn Journal, branch: &Branch<'_>) -> Result<OutcomeTree, CommandError> {
    let mut tree = OutcomeTree::default();
    for (_, header) in &branch.tasks {
        for event in journal.read(header.task_id)? {
            tree.take(&event);
        }
        if header.state == TaskState::Interrupted {
            tree.set_status(header.task_id, "interrupted");
        }
    }
    Ok(tree)
}

fn describe(header: &TaskHeader, events: &[Event], branch: &Branch<'_>) -> String {
    let mut text = format!("{} {} {}\n\n", header.task_id, neutral::line(&header.agent), state(header));
    let mut field = |name: &str, value: &str| {
        let _infallible = writeln!(text, "{name:9}  {}", neutral::line(value));
    };
    field("title", &header.title);
    if let Some(parent) = header.parent_id {
        field("parent", &parent.to_string());
    }
    if let Some(job) = job(events) {
        field("model", &words::model(&job.config.model));
    }
    field("workspace", &header.workspace);
    field("started", &header.started.to_string());
    let outcome = outcome(events, header.task_id);
    if let Some(outcome) = outcome {
        field("used", &words::usage(&outcome.usage));
        if let Some(limit) = outcome.reason {
            field("limit", &limit.to_string());
        }
        if let Some(error) = &outcome.error {
            field("error", &format!("{}: {}", error.code, error.message));
        }
        for notice in &outcome.notices {
            field("note", notice);
        }
        if let Some(path) = &outcome.full_text_path {
            field("full text", path);
        }
    }
    if branch.tasks.len() > 1 {
        text.push('\n');
        for (level, header) in &branch.tasks {
            text.push_str(&tree_line(*level, header));
        }
    }
    if let Some(outcome) = outcome.filter(|outcome| !outcome.text.is_empty()) {
        let _infallible = writeln!(text, "\n{}", outcome.text.trim_end());
    }
    text
}

fn tree_line(level: usize, header: &TaskHeader) -> String {
    let took = words::elapsed(header.updated.0.saturating_sub(header.started.0));
    let (agent, title) = (neutral::line(&header.agent), neutral::line(&header.title));
    format!("{}{agent} {} {} · {took} · {title}\n", "  ".repeat(level), header.task_id, state(header))
}

fn job(events: &[Event]) -> Option<&Job> {
    events.iter().find_map(|event| match &event.fact {
        Fact::TaskStarted { job } => Some(&**job),
        _ => None,
    })
}

/// The ending of the last leg that ended.
fn outcome(events: &[Event], task: TaskId) -> Option<&TaskOutcome> {
    events.iter().rev().find_map(|event| match &event.fact {
        Fact::TaskEnded { outcome } if outcome.task_id == task => Some(&**outcome),
        _ => None,
    })
}
