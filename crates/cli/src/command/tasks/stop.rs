//! `tasks stop`: ends a task and all below it, whoever runs it, and says what was stopped.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use sortie_journal::{Journal, TaskHeader, TaskState};
use sortie_protocol::{Command, TaskId};

use super::{show::find, state};
use crate::error::{CommandError, ErrorKind};
use crate::render::{neutral, print_json, words};
use crate::settings::Settings;
use crate::wiring::Plan;

/// How long the owner has to end everything.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether it has.
const PERIOD: Duration = Duration::from_millis(20);

pub(super) fn run(settings: &Settings, id: &str, json: bool) -> Result<ExitCode, CommandError> {
    let wired = Plan::new(settings)?.open(Arc::new(sortie_engine::NoApprover))?;
    let journal = wired.journal.as_ref();
    let header = find(journal, id)?;
    let before = journal.tree(header.task_id)?;
    match header.state {
        TaskState::Ended(_) => {}
        TaskState::Running => {
            let runtime = runtime()?;
            runtime.block_on(journal.send(Command::Stop { task: header.task_id }))?;
            wait_for_the_end(journal, header.task_id)?;
        }
        TaskState::Interrupted => {
            runtime()?.block_on(wired.engine.abandon(header.task_id)).map_err(CommandError::from)?;
        }
    }
    let after = journal.tree(header.task_id)?;
    let stopped = stopped(&before, &after);
    if json {
        let ids: Vec<String> = stopped.iter().map(|header| header.task_id.to_string()).collect();
        print_json(&json!({"task_id": header.task_id.to_string(), "stopped": ids}))?;
    } else {
        io::stdout().lock().write_all(receipt(&header, &stopped).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Those that had not ended before and have now.
fn stopped<'a>(before: &[TaskHeader], after: &'a [TaskHeader]) -> Vec<&'a TaskHeader> {
    let had_ended = |task: TaskId| {
        before.iter().any(|header| header.task_id == task && matches!(header.state, TaskState::Ended(_)))
    };
    let ended = after.iter().filter(|header| matches!(header.state, TaskState::Ended(_)));
    ended.filter(|header| !had_ended(header.task_id)).collect()
}

fn receipt(asked: &TaskHeader, stopped: &[&TaskHeader]) -> String {
    if stopped.is_empty() {
        return format!("{} had ended before: {}\n", asked.task_id, state(asked));
    }
    let line = |header: &&TaskHeader| {
        let (agent, title) = (neutral::line(&header.agent), words::title(&header.title));
        format!("{}  {}  {agent}  {title}\n", header.task_id, state(header))
    };
    stopped.iter().map(line).collect()
}

fn wait_for_the_end(journal: &dyn Journal, task: TaskId) -> Result<(), CommandError> {
    let since = Instant::now();
    while journal.tree(task)?.iter().any(|header| header.state == TaskState::Running) {
        if since.elapsed() > PATIENCE {
            let message = format!("{task} was told to stop, and has not ended within {} s", PATIENCE.as_secs());
            return Err(CommandError::new(ErrorKind::Internal, message).hint("its process may hang: end that one"));
        }
        std::thread::sleep(PERIOD);
    }
    Ok(())
}

fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| CommandError::internal(format!("the runtime could not be started: {error}")))
}
