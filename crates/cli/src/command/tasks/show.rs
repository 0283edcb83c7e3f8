//! One task: what was asked, what became of it, and the tree below it. What is damaged is said, the rest is shown.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use sortie_contract::Contract;
use sortie_engine::{Clock as _, SystemClock};
use sortie_journal::{Journal, JournalError, TaskHeader, TaskState};
use sortie_protocol::{Event, Fact, Failure, ModelChoice, TaskId, TaskOutcome};

use super::{state, state_in, took};
use crate::error::{self, CommandError, ErrorKind};
use crate::render::{OutcomeTree, neutral, print_json, words};

/// Ids that an ambiguous prefix is answered with.
const MOST_CANDIDATES: usize = 8;

pub(super) fn run(
    journal: &dyn Journal,
    contract: &dyn Contract,
    id: &str,
    json: bool,
) -> Result<ExitCode, CommandError> {
    let header = find(journal, id)?;
    let branch = journal.tree(header.task_id)?;
    let mut damages = Vec::new();
    if json {
        print_json(&outcomes(journal, &branch, &mut damages)?.object(header.task_id))?;
    } else {
        let told = Told::read(journal, &header, &mut damages)?;
        let text = describe(contract, &header, &told, &branch);
        io::stdout().lock().write_all(neutral::block(&text).as_bytes())?;
    }
    for damage in &damages {
        error::warn(damage);
    }
    Ok(if damages.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

pub(in crate::command) fn find(journal: &dyn Journal, id: &str) -> Result<TaskHeader, CommandError> {
    let mut found = journal.find(id)?;
    match (found.pop(), found.len()) {
        (Some(header), 0) => Ok(header),
        (None, _) => Err(CommandError::new(ErrorKind::NotFound, format!("there is no task `{id}`"))
            .hint("`sortie tasks list --all` lists the newest tasks")),
        (Some(last), others) => {
            let candidates = found.iter().chain([&last]).take(MOST_CANDIDATES);
            let error = CommandError::usage(format!("`{id}` is the beginning of {} ids", others + 1));
            Err(candidates.fold(error, |error, header| {
                error.hint(format!("{} {} {}", header.task_id, header.agent, words::title(&header.title)))
            }))
        }
    }
}

/// The outcomes of a branch. One that cannot be read is told as an error in its place.
fn outcomes(
    journal: &dyn Journal,
    branch: &[TaskHeader],
    damages: &mut Vec<String>,
) -> Result<OutcomeTree, CommandError> {
    let mut tree = OutcomeTree::default();
    for header in branch {
        tree.start(header.task_id, header.parent_id, &header.agent, &state(header));
        match intact(ending(journal, header), damages)? {
            Ok(Some(outcome)) => tree.end(&outcome),
            Ok(None) => {}
            Err(damage) => tree.fail(header.task_id, &Failure::new("journal", damage)),
        }
    }
    Ok(tree)
}

/// How the task ended. One that has ended and left no ending is damaged.
fn ending(journal: &dyn Journal, header: &TaskHeader) -> Result<Option<TaskOutcome>, JournalError> {
    let ending = journal.ending(header.task_id)?;
    if ending.is_none() && matches!(header.state, TaskState::Ended(_)) {
        // Reading the whole log says where it is broken.
        journal.read(header.task_id)?;
    }
    Ok(ending)
}

/// Sets damage of one task apart from a journal that cannot be read at all.
fn intact<T>(read: Result<T, JournalError>, damages: &mut Vec<String>) -> Result<Result<T, String>, CommandError> {
    match read {
        Ok(intact) => Ok(Ok(intact)),
        Err(damage @ (JournalError::DamagedTask { .. } | JournalError::Damaged { .. })) => {
            let damage = damage.to_string();
            damages.push(damage.clone());
            Ok(Err(damage))
        }
        Err(error) => Err(error.into()),
    }
}

/// What a task's own log tells beyond its header, as far as it can be read.
#[derive(Default)]
struct Told {
    model: Option<ModelChoice>,
    outcome: Option<TaskOutcome>,
}

impl Told {
    fn read(journal: &dyn Journal, header: &TaskHeader, damages: &mut Vec<String>) -> Result<Self, CommandError> {
        if let Ok(events) = intact(journal.read(header.task_id), damages)? {
            return Ok(Self { model: model(&events), outcome: outcome(events, header.task_id) });
        }
        // The ending may still be whole; a second damage adds nothing.
        let outcome = journal.ending(header.task_id).unwrap_or_default();
        Ok(Self { model: outcome.as_ref().map(|outcome| outcome.model.clone()), outcome })
    }
}

fn model(events: &[Event]) -> Option<ModelChoice> {
    events.iter().find_map(|event| match &event.fact {
        Fact::TaskStarted { job } => Some(job.config.model.clone()),
        _ => None,
    })
}

/// The ending of the last leg that ended.
fn outcome(events: Vec<Event>, task: TaskId) -> Option<TaskOutcome> {
    events.into_iter().rev().find_map(|event| match event.fact {
        Fact::TaskEnded { outcome } if outcome.task_id == task => Some(*outcome),
        _ => None,
    })
}

fn describe(contract: &dyn Contract, header: &TaskHeader, told: &Told, branch: &[TaskHeader]) -> String {
    let state = state_in(contract, header);
    let mut text = format!("{} {} {state}\n\n", header.task_id, neutral::line(&header.agent));
    let mut field = |name: &str, value: &str| {
        let _infallible = writeln!(text, "{name:9}  {}", neutral::line(value));
    };
    field("title", &header.title);
    if let Some(parent) = header.parent_id {
        field("parent", &parent.to_string());
    }
    if let Some(model) = &told.model {
        field("model", &words::model(model));
    }
    field("workspace", &header.workspace);
    field("started", &header.started.to_string());
    if let Some(outcome) = &told.outcome {
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
    if branch.len() > 1 {
        text.push('\n');
        text.push_str(&tree(contract, header, branch));
    }
    if let Some(outcome) = told.outcome.as_ref().filter(|outcome| !outcome.text.is_empty()) {
        let _infallible = writeln!(text, "\n{}", outcome.text.trim_end());
    }
    text
}

/// A line for each task of the branch, below its parent and to the right of it.
fn tree(contract: &dyn Contract, top: &TaskHeader, branch: &[TaskHeader]) -> String {
    let mut children: HashMap<TaskId, Vec<&TaskHeader>> = HashMap::new();
    for header in branch {
        if let Some(parent) = header.parent_id {
            children.entry(parent).or_default().push(header);
        }
    }
    let (now, mut text) = (SystemClock.now(), String::new());
    let mut stack = vec![(0, top)];
    while let Some((level, header)) = stack.pop() {
        let (agent, title) = (neutral::line(&header.agent), words::title(&header.title));
        let (indent, took, state) = ("  ".repeat(level), took(header, now), state_in(contract, header));
        let _infallible = writeln!(text, "{indent}{agent} {} {state} · {took} · {title}", header.task_id);
        // Last in, first out: reversed, so that they come out in order of starting.
        stack.extend(children.get(&header.task_id).into_iter().flatten().rev().map(|child| (level + 1, *child)));
    }
    text
}
