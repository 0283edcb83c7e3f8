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
use crate::text::{neutral, width, words};

/// Columns of `interrupted`, for a stable layout.
const LONGEST_STATE: usize = 11;

/// List tasks and their status, newest first
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    /// Number of tasks to list
    #[arg(long, value_name = "N", default_value = "20", value_parser = parse_count)]
    limit: usize,

    /// Also list and count sub-agents, each below its parent
    #[arg(long)]
    all: bool,

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
  sortie tasks list --json | jq -r '.[].task_id'";

pub(super) fn run(args: &ListArgs, journal: &dyn Journal, contract: &dyn Contract) -> Result<ExitCode, CommandError> {
    let ListArgs { limit, all, json } = *args;
    // One more than asked for shows if something is left out.
    let mut headers = newest(journal, limit.saturating_add(1), all)?;
    let more = headers.len() > limit;
    headers.truncate(limit);
    if json {
        print_json(&headers.iter().map(|header| object(header, contract)).collect::<Value>())?;
    } else {
        io::stdout().lock().write_all(table(&headers, contract, more).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Newest tasks; unless `all`, only those without a parent.
fn newest(journal: &dyn Journal, limit: usize, all: bool) -> Result<Vec<TaskHeader>, JournalError> {
    journal.list(&TaskQuery { roots_only: !all, limit, ..TaskQuery::default() })
}

fn table(headers: &[TaskHeader], contract: &dyn Contract, more: bool) -> String {
    if headers.is_empty() {
        return "there are no tasks yet\n".to_owned();
    }
    let lines = as_tree(headers.iter());
    let columns = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or_default();
    let ids: Vec<String> =
        lines.iter().map(|(level, header)| "  ".repeat(*level) + &header.task_id.to_string()).collect();
    let id_columns = columns(&mut ids.iter().map(String::len));
    let agents: Vec<String> = lines.iter().map(|(_, header)| neutral::line(&header.agent)).collect();
    let agent_columns = columns(&mut agents.iter().map(|agent| width::of(agent)));
    let states: Vec<String> = lines.iter().map(|(_, header)| state_in(contract, header)).collect();
    let state_columns = states.iter().map(String::len).fold(LONGEST_STATE, usize::max);
    let (now, mut text) = (SystemClock.now(), String::new());
    for ((((_, header), id), state), agent) in lines.iter().zip(ids).zip(states).zip(agents) {
        let took = words::elapsed(worked_ms(header, now));
        let _infallible = writeln!(
            text,
            "{id:id_columns$}  {state:state_columns$}  {}  {}  {took:>7}  {}",
            width::pad(&agent, agent_columns),
            seconds(header),
            words::title(&header.title),
        );
    }
    if more {
        text.push_str("… there are more; see --limit\n");
    }
    text
}

/// Start time to the second: `2026-01-31 12:00:00Z`.
fn seconds(header: &TaskHeader) -> String {
    let time = header.started.to_string();
    time.get(..19).map_or(time.clone(), |to_the_second| format!("{}Z", to_the_second.replace('T', " ")))
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
