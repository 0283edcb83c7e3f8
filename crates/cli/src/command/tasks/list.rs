//! `tasks list`: prints headers of tasks, without reading their logs.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use sortie_contract::Contract;
use sortie_engine::{Clock as _, SystemClock};
use sortie_journal::{Journal, JournalError, TaskHeader, TaskQuery};

use super::state_in;
use crate::command::args::parse_count;
use crate::command::task_view::{as_tree, worked_ms};
use crate::error::CommandError;
use crate::render::{print_json, state};
use crate::settings::Settings;
use crate::text::{neutral, width, words};

/// Columns of `interrupted`, for a stable layout.
const LONGEST_STATE: usize = 11;

/// List this project's tasks and their status, newest first
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    /// Number of tasks to list
    #[arg(long, value_name = "N", default_value = "20", value_parser = parse_count)]
    limit: usize,

    /// Also list and count sub-agents, each below its parent
    #[arg(long)]
    all: bool,

    /// List the tasks of all projects, each with its project
    #[arg(long)]
    all_projects: bool,

    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
An `interrupted` task lost its process before it ended: `sortie resume ID`
continues it, `sortie tasks stop ID` ends it. Its duration is the time in which
a process ran it.

Examples:
  sortie tasks list
  sortie tasks list --all --limit 100
  sortie tasks list --all-projects
  sortie tasks list --json | jq -r '.[].task_id'";

pub(super) fn run(args: &ListArgs, journal: &dyn Journal, settings: &Settings) -> Result<ExitCode, CommandError> {
    let ListArgs { limit, all, all_projects, json } = *args;
    let contract = settings.contract();
    let workspace = (!all_projects).then(|| settings.places.workspace.display().to_string());
    // One more than asked for shows if something is left out.
    let query = TaskQuery { roots_only: !all, workspace, limit: limit.saturating_add(1), ..TaskQuery::default() };
    let mut headers = journal.list(&query)?;
    let more = headers.len() > limit;
    headers.truncate(limit);
    if json {
        print_json(&headers.iter().map(|header| object(header, contract.as_ref())).collect::<Value>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = if headers.is_empty() {
        none(journal)?.to_owned()
    } else {
        table(&headers, contract.as_ref(), all_projects) + if more { "… there are more; see --limit\n" } else { "" }
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Line for an empty list, which may be empty only here.
fn none(journal: &dyn Journal) -> Result<&'static str, JournalError> {
    let elsewhere = journal.list(&TaskQuery { limit: 1, ..TaskQuery::default() })?;
    Ok(if elsewhere.is_empty() {
        "there are no tasks yet\n"
    } else {
        "there are no tasks of this project yet; `sortie tasks list --all-projects` lists those of others\n"
    })
}

fn table(headers: &[TaskHeader], contract: &dyn Contract, with_project: bool) -> String {
    let lines = as_tree(headers.iter());
    let columns = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or_default();
    let ids: Vec<String> =
        lines.iter().map(|(level, header)| "  ".repeat(*level) + &header.task_id.to_string()).collect();
    let id_columns = columns(&mut ids.iter().map(String::len));
    let agents: Vec<String> = lines.iter().map(|(_, header)| neutral::line(&header.agent)).collect();
    let agent_columns = columns(&mut agents.iter().map(|agent| width::of(agent)));
    let states: Vec<String> = lines.iter().map(|(_, header)| state_in(contract, header)).collect();
    let state_columns = states.iter().map(String::len).fold(LONGEST_STATE, usize::max);
    let projects: Vec<String> = lines.iter().map(|(_, header)| neutral::line(&header.workspace)).collect();
    let project_columns = columns(&mut projects.iter().map(|project| width::of(project)));
    let whens: Vec<String> = lines.iter().map(|(_, header)| ago(header)).collect();
    let when_columns = columns(&mut whens.iter().map(String::len));
    let (now, mut text) = (SystemClock.now(), String::new());
    let rows = lines.iter().zip(ids).zip(states).zip(agents).zip(projects.iter().zip(whens));
    for (((((_, header), id), state), agent), (project, when)) in rows {
        let project = if with_project { format!("{}  ", width::pad(project, project_columns)) } else { String::new() };
        let took = words::elapsed(worked_ms(header, now));
        let _infallible = writeln!(
            text,
            "{id:id_columns$}  {state:state_columns$}  {}  {when:>when_columns$}  {took:>7}  {project}{}",
            width::pad(&agent, agent_columns),
            words::title(&header.title),
        );
    }
    text
}

/// Time since the task started: `3m ago`.
fn ago(header: &TaskHeader) -> String {
    words::ago(SystemClock.now().0.saturating_sub(header.started.0))
}

fn object(header: &TaskHeader, contract: &dyn Contract) -> Value {
    let mut object = json!({
        "task_id": header.task_id,
        "root_id": header.root_id,
        "depth": header.depth,
        "leg": header.leg,
        "agent": header.agent,
        "title": header.title,
        "workspace": header.workspace,
        "status": contract.status_word(&state(header)),
        "started": header.started,
        "updated": header.updated,
    });
    if let Some(parent) = header.parent_id {
        object["parent_id"] = json!(parent);
    }
    object
}
