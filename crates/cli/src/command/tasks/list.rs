//! The list: headers only, no events are read.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use serde_json::{Value, json};
use sortie_contract::Contract;
use sortie_engine::{Clock as _, SystemClock};
use sortie_journal::{Journal, JournalError, TaskHeader};

use super::{state, state_in, took};
use crate::error::CommandError;
use crate::render::{neutral, print_json, words};

/// Columns of `interrupted`, so that lists look alike whatever is in them.
const LONGEST_STATE: usize = 11;

pub(super) fn run(
    journal: &dyn Journal,
    contract: &dyn Contract,
    (limit, all): (usize, bool),
    json: bool,
) -> Result<ExitCode, CommandError> {
    // One more than asked for tells whether something is left out.
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

/// The newest tasks; unless `all`, only those without a parent.
fn newest(journal: &dyn Journal, count: usize, all: bool) -> Result<Vec<TaskHeader>, JournalError> {
    let mut reach = if all { count } else { count.saturating_mul(8) };
    loop {
        let mut headers = journal.tasks(reach)?;
        let exhausted = headers.len() < reach;
        headers.retain(|header| all || header.parent_id.is_none());
        if exhausted || headers.len() >= count {
            headers.truncate(count);
            return Ok(headers);
        }
        reach = reach.saturating_mul(4);
    }
}

fn table(headers: &[TaskHeader], contract: &dyn Contract, more: bool) -> String {
    if headers.is_empty() {
        return "there are no tasks yet\n".to_owned();
    }
    let agent_columns = headers.iter().map(|header| header.agent.chars().count()).max().unwrap_or_default();
    let states: Vec<String> = headers.iter().map(|header| state_in(contract, header)).collect();
    let state_columns = states.iter().map(String::len).fold(LONGEST_STATE, usize::max);
    let (now, mut text) = (SystemClock.now(), String::new());
    for (header, state) in headers.iter().zip(states) {
        let took = took(header, now);
        let _infallible = writeln!(
            text,
            "{}  {state:state_columns$}  {:agent_columns$}  {}  {took:>7}  {}",
            header.task_id,
            neutral::line(&header.agent),
            seconds(header),
            words::title(&header.title),
        );
    }
    if more {
        text.push_str("… there are more; see --limit\n");
    }
    text
}

/// `2026-01-31 12:00:00Z`: when it was started, to the second.
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
