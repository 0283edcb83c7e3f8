//! `tasks show`: prints one task, its outcome and the tree below it. It reports damage and shows the rest.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use sortie_contract::{Contract, outcome_object};
use sortie_engine::{Clock as _, SystemClock};
use sortie_journal::{Journal, JournalError, TaskHeader, TaskState};
use sortie_protocol::{Limit, TaskOutcome};

use super::state_in;
use crate::command::task_view::{Legs, as_tree, find, parse_id, worked_ms};
use crate::error::{self, CommandError};
use crate::render::{outcomes, print_json};
use crate::text::{neutral, words};

/// Show a task, its sub-agents, and its report or activity so far
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowTaskArgs {
    /// Task id or its first letters, with or without `agent-`
    #[arg(value_parser = parse_id)]
    id: String,

    /// Print the outcome as JSON, with sub-agents' outcomes in `children`
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  sortie tasks show agent-kvbqxmzrtyua
  sortie tasks show kvb
  sortie tasks show kvb --json | jq .usage";

pub(super) fn run(
    args: &ShowTaskArgs,
    journal: &dyn Journal,
    contract: &dyn Contract,
) -> Result<ExitCode, CommandError> {
    let header = find(journal, &args.id)?;
    let branch = journal.tree(header.task_id)?;
    let mut damages = Vec::new();
    if args.json {
        let (tree, found) = outcomes(journal, &branch)?;
        let mut object = tree.object(header.task_id);
        // Its own damage has been reported with the others.
        Told::read(journal, &header, &mut Vec::new())?.complete(&header, &mut object);
        damages.extend(found);
        print_json(&object)?;
    } else {
        let told = Told::read(journal, &header, &mut damages)?;
        let mut text = describe(contract, &header, &told, &changed(journal, &told, &branch));
        if branch.len() > 1 {
            text.push('\n');
            text.push_str(&tree(contract, &branch));
        }
        text.push_str(&said(&told));
        io::stdout().lock().write_all(neutral::block(&text).as_bytes())?;
    }
    for damage in &damages {
        error::warn(damage);
    }
    Ok(if damages.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Content of a task's own log, as far as it can be read.
struct Told {
    legs: Legs,
    /// Outcome of the newest leg, if that has ended.
    outcome: Option<TaskOutcome>,
}

impl Told {
    /// Reads a task. Damage is collected; a journal that cannot be read at all is an error.
    fn read(journal: &dyn Journal, header: &TaskHeader, damages: &mut Vec<String>) -> Result<Self, CommandError> {
        let (mut legs, read) = Legs::read(journal, header, SystemClock.now());
        let is_over = matches!(header.state, TaskState::Ended(_));
        let ended = match read {
            Ok(()) => legs.ended.pop_if(|_| is_over).map(|(_, outcome)| outcome),
            Err(damage @ (JournalError::DamagedTask { .. } | JournalError::Damaged { .. })) => {
                damages.push(damage.to_string());
                // The ending may still be intact; a second damage adds nothing.
                let outcome = journal.ending(header.task_id).unwrap_or_default().filter(|_| is_over);
                legs.ended.retain(|(leg, _)| *leg < header.leg);
                outcome
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Self { legs, outcome: ended })
    }

    /// Adds what no outcome holds: the leg's number, earlier outcomes, and the work of this leg so far.
    fn complete(&self, header: &TaskHeader, object: &mut Value) {
        object["leg"] = json!(header.leg);
        let leg = |(number, outcome): &(u32, TaskOutcome)| {
            let mut object = outcome_object(outcome);
            object["leg"] = json!(number);
            object
        };
        if !self.legs.ended.is_empty() {
            object["earlier_legs"] = self.legs.ended.iter().map(leg).collect();
        }
        if self.outcome.is_none() {
            object["so_far"] = self.legs.so_far.object();
        }
    }
}

/// Files changed by the task and its descendants, by their endings.
fn changed(journal: &dyn Journal, told: &Told, branch: &[TaskHeader]) -> BTreeSet<String> {
    let ended = branch.iter().filter_map(|header| journal.ending(header.task_id).ok().flatten());
    ended.flat_map(|outcome| outcome.files_changed).chain(told.legs.so_far.files_changed.iter().cloned()).collect()
}

fn describe(contract: &dyn Contract, header: &TaskHeader, told: &Told, changed: &BTreeSet<String>) -> String {
    let state = state_in(contract, header);
    let mut text = format!("{} {} {state}\n\n", header.task_id, neutral::line(&header.agent));
    let mut field = |name: &str, value: &str| {
        let _infallible = writeln!(text, "{name:9}  {}", neutral::line(value));
    };
    field("title", &header.title);
    if let Some(parent) = header.parent_id {
        field("parent", &parent.to_string());
    }
    if let Some(model) = told.outcome.as_ref().map(|outcome| &outcome.model).or(told.legs.model.as_ref()) {
        field("model", &words::model(model));
    }
    field("workspace", &header.workspace);
    field("started", &header.started.to_string());
    for (leg, outcome) in &told.legs.ended {
        field(&format!("leg {leg}"), &format!("{} · {}", outcome.status, words::usage(&outcome.usage)));
    }
    if header.leg > 1 {
        field("leg", &header.leg.to_string());
    }
    match &told.outcome {
        Some(outcome) => ending(outcome, &mut field),
        None => field("so far", &told.legs.so_far.in_words()),
    }
    if let Some(what) = told.legs.stand.awaits().filter(|_| header.state == TaskState::Running) {
        field("waits for", &what);
    }
    if let Some(files) = words::files(changed) {
        field("changed", &files);
    }
    text
}

/// Prints the ending of a leg, without its report.
fn ending(outcome: &TaskOutcome, field: &mut impl FnMut(&str, &str)) {
    field("used", &words::usage(&outcome.usage));
    if let Some(limit) = outcome.reason {
        let (name, value) = match limit {
            Limit::NoAnswer => ("reason", limit.clause()),
            limit => ("limit", limit.to_string()),
        };
        field(name, &value);
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

/// One line for each task of the branch, indented below its parent.
fn tree(contract: &dyn Contract, branch: &[TaskHeader]) -> String {
    let (now, mut text) = (SystemClock.now(), String::new());
    for (level, header) in as_tree(branch.iter().rev()) {
        let (agent, title) = (neutral::line(&header.agent), words::title(&header.title));
        let (indent, state) = ("  ".repeat(level), state_in(contract, header));
        let took = words::elapsed(worked_ms(header, now));
        let _infallible = writeln!(text, "{indent}{agent} {} {state} · {took} · {title}", header.task_id);
    }
    text
}

/// Reports: one alone, or several with their legs.
fn said(told: &Told) -> String {
    let mut text = String::new();
    let mut say = |heading: &str, said: &str| {
        if !said.trim().is_empty() {
            let _infallible = writeln!(text, "\n{heading}{}", said.trim_end());
        }
    };
    if let Some(outcome) = &told.outcome {
        say("", &outcome.text);
        return text;
    }
    for (leg, outcome) in &told.legs.ended {
        say(&format!("leg {leg}, {}:\n", outcome.status), &outcome.text);
    }
    say("so far:\n", &told.legs.so_far.text);
    text
}
