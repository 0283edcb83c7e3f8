//! `tasks stop`: ends a task and its descendants, in whatever processes they run, and lists the stopped ones.
//!
//! Running tasks are told to end; abandoned ones get their ending here. Either may change meanwhile: a process dies, or
//! somebody resumes a task. So the command polls until nothing in the tree is open.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use sortie_engine::NoApprover;
use sortie_journal::{Holder, Journal, TaskHeader, TaskState};
use sortie_protocol::{Command, Failure, FailureCode, Status, TaskId};
use tokio::runtime::{Builder, Runtime};

use crate::command::task_view::{find, parse_id};
use crate::error::{self, CommandError, ErrorKind};
use crate::render::{print_json, state};
use crate::settings::Settings;
use crate::text::{neutral, words};
use crate::wiring::{Plan, Wired, hooks, journal_to_read};

/// Time for the owners to end everything.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interval of polling for the end.
const PERIOD: Duration = Duration::from_millis(20);
/// Interval of repeating the command: a task may have another owner by now.
const REPEAT: Duration = Duration::from_millis(500);

/// Stop a task and its sub-agents, whichever process runs them
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sortie tasks stop kvbq\n  sortie tasks stop kvbq --json | jq -r '.stopped[]'")]
pub(super) struct StopArgs {
    /// Task id or its first letters, with or without `agent-`
    #[arg(value_parser = parse_id)]
    id: String,

    /// Print the ids of stopped tasks as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &StopArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let journal = journal_to_read(settings)?;
    let task = find(&journal, &args.id)?.task_id;
    let before = journal.tree(task)?;
    if !before.iter().any(is_open) {
        return say(&journal, &before, &Done::default(), args.json);
    }
    let wired = Plan::new(settings)?.open(Arc::new(NoApprover))?;
    let mut stopping = Stopping::new(wired, task, &before)?;
    let said = stopping.run().and_then(|()| say(&journal, &before, &stopping.done, args.json));
    // Nobody else would run the hooks for endings that were written here.
    stopping.runtime.block_on(hooks::settle(stopping.wired.hooks.as_ref()));
    said
}

/// Prints the result, by the tree as it is now.
fn say(journal: &dyn Journal, before: &[TaskHeader], done: &Done, json: bool) -> Result<ExitCode, CommandError> {
    let Some(task) = before.first().map(|header| header.task_id) else { return Ok(ExitCode::SUCCESS) };
    let was_open = before.iter().any(is_open);
    // Some of the stopped tasks may have ended by themselves; all have ended now.
    let tree = journal.tree(task)?;
    let of_tree = |wanted: &dyn Fn(&TaskId) -> bool| -> Vec<&TaskHeader> {
        tree.iter().filter(|header| wanted(&header.task_id)).collect()
    };
    let all_stopped = with_late_ones(&done.stopped, before, &tree);
    let stopped = of_tree(&|task| all_stopped.contains(task) && !done.failures.contains_key(task));
    let failed = of_tree(&|task| done.failures.contains_key(task));
    if json {
        let ids = |tasks: &[&TaskHeader]| tasks.iter().map(|header| header.task_id.to_string()).collect::<Vec<_>>();
        print_json(&json!({"task_id": task.to_string(), "stopped": ids(&stopped), "failed": ids(&failed)}))?;
    } else if !stopped.is_empty() || failed.is_empty() {
        io::stdout().lock().write_all(receipt(&tree, &stopped, was_open).as_bytes())?;
    }
    for (task, failure) in failed.iter().filter_map(|header| done.failures.get_key_value(&header.task_id)) {
        error::fail(&format!("{task} cannot be ended: {}", failure.message));
    }
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Stopped tasks, with those that started too late to be seen and ended with their parents. `tree` has parents before
/// their children.
fn with_late_ones(stopped: &HashSet<TaskId>, before: &[TaskHeader], tree: &[TaskHeader]) -> HashSet<TaskId> {
    let known: HashSet<TaskId> = before.iter().map(|header| header.task_id).collect();
    let mut all = stopped.clone();
    for header in tree.iter().filter(|header| !known.contains(&header.task_id)) {
        let was_cancelled = header.state == TaskState::Ended(Status::Cancelled);
        if was_cancelled && header.parent_id.is_some_and(|parent| all.contains(&parent)) {
            all.insert(header.task_id);
        }
    }
    all
}

fn is_open(header: &TaskHeader) -> bool {
    !matches!(header.state, TaskState::Ended(_))
}

fn is_running(header: &TaskHeader) -> bool {
    header.state == TaskState::Running
}

/// Tasks that have no other one of them above.
fn topmost(open: &[TaskHeader]) -> impl Iterator<Item = TaskId> {
    let all: HashSet<TaskId> = open.iter().map(|header| header.task_id).collect();
    let is_below = move |header: &&TaskHeader| header.parent_id.is_some_and(|parent| all.contains(&parent));
    open.iter().filter(move |header| !is_below(header)).map(|header| header.task_id)
}

/// Tree that is being stopped.
struct Stopping {
    wired: Wired,
    runtime: Runtime,
    task: TaskId,
    /// Tasks without a process at first. A process that runs one later may be another command that stops it.
    left: HashSet<TaskId>,
    done: Done,
    /// Time of the last command to each task.
    told: HashMap<TaskId, Instant>,
}

/// Result of stopping.
#[derive(Default)]
struct Done {
    /// Tasks that this command told to stop, or ended itself.
    stopped: HashSet<TaskId>,
    /// Tasks that cannot be ended, and why.
    failures: HashMap<TaskId, Failure>,
}

impl Stopping {
    fn new(wired: Wired, task: TaskId, before: &[TaskHeader]) -> Result<Self, CommandError> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| CommandError::internal(format!("no runtime: {error}")))?;
        let left = before.iter().filter(|header| header.state == TaskState::Interrupted);
        let left = left.map(|header| header.task_id).collect();
        Ok(Self { wired, runtime, task, left, done: Done::default(), told: HashMap::new() })
    }

    /// Returns when every task that can end has ended.
    fn run(&mut self) -> Result<(), CommandError> {
        let since = Instant::now();
        loop {
            let mut open = self.wired.journal.tree(self.task)?;
            open.retain(|header| is_open(header) && !self.done.failures.contains_key(&header.task_id));
            if open.is_empty() {
                return Ok(());
            }
            self.tell(&open, since.elapsed() > REPEAT)?;
            let running: Vec<&TaskHeader> = open.iter().filter(|header| is_running(header)).collect();
            if running.is_empty() {
                topmost(&open).for_each(|task| self.end(task));
            }
            if since.elapsed() > PATIENCE {
                return Err(self.hanging(&running));
            }
            if !running.is_empty() {
                std::thread::sleep(PERIOD);
            }
        }
    }

    /// Commands the processes of these tasks to stop: the topmost tasks, which end their descendants, and each one if
    /// that takes long. The requested task keeps the command in the journal, whether any process runs it or not.
    fn tell(&mut self, open: &[TaskHeader], takes_long: bool) -> Result<(), CommandError> {
        let running: HashSet<TaskId> = open.iter().filter(|header| is_running(header)).map(|one| one.task_id).collect();
        self.done.stopped.extend(running.difference(&self.left));
        let is_below = |header: &TaskHeader| header.parent_id.is_some_and(|parent| running.contains(&parent));
        let meant = open.iter().filter(|header| {
            header.task_id == self.task || running.contains(&header.task_id) && (takes_long || !is_below(header))
        });
        let now = Instant::now();
        let mut sent = Vec::new();
        for task in meant.map(|header| header.task_id) {
            if self.told.get(&task).is_some_and(|told| now.duration_since(*told) < REPEAT) {
                continue;
            }
            self.told.insert(task, now);
            let journal = Arc::clone(&self.wired.journal);
            // All at once, so that one sync serves many.
            sent.push(self.runtime.spawn(async move { journal.send(Command::Stop { task }).await }));
        }
        for sent in sent {
            let sent = self.runtime.block_on(sent);
            sent.map_err(|error| CommandError::internal(error.to_string()))??;
        }
        Ok(())
    }

    /// Ends a task without a process, and its descendants. If another process was faster, or some are damaged, the next
    /// poll shows what is left.
    fn end(&mut self, task: TaskId) {
        match self.runtime.block_on(self.wired.engine.abandon(task)) {
            Ok(outcomes) => self.done.stopped.extend(outcomes.iter().map(|outcome| outcome.task_id)),
            Err(failure) => {
                let standing = self.wired.journal.standing(task);
                let is_left = standing.is_ok_and(|standing| standing.state == TaskState::Interrupted);
                if is_left && failure.code != FailureCode::StillRunning {
                    self.done.failures.insert(task, failure);
                }
            }
        }
    }

    /// Error that names the tasks that do not end.
    fn hanging(&self, running: &[&TaskHeader]) -> CommandError {
        let secs = PATIENCE.as_secs();
        let message = format!("{} was told to stop, but did not end within {secs} s", self.task);
        let journal = &self.wired.journal;
        let advice = |header: &&TaskHeader| {
            let (own, root) = (journal.standing(header.task_id).ok()?, journal.standing(header.root_id).ok()?);
            advice(header, own.holder, root.state)
        };
        let advice: BTreeSet<String> = running.iter().filter_map(advice).collect();
        advice.into_iter().fold(CommandError::new(ErrorKind::Unready, message), CommandError::hint)
    }
}

/// Advice about a task that does not end, by its holder.
fn advice(header: &TaskHeader, holder: Holder, root: TaskState) -> Option<String> {
    // A whole tree resumes together, unless nobody waits for the task any more.
    let meant = if matches!(root, TaskState::Ended(_)) { header.task_id } else { header.root_id };
    match holder {
        Holder::Other { pid } => {
            Some(format!("process {pid} runs it and may hang; `kill -9 {pid}`, then stop the task again"))
        }
        // A process number from another container belongs to a different process here.
        Holder::OutOfSight { pid } => Some(format!(
            "process {pid} runs it out of sight, perhaps in another container; end it there, or, if it is gone, use `sortie resume {meant} --take-over`"
        )),
        Holder::Nobody | Holder::ThisProcess => None,
    }
}

fn receipt(tree: &[TaskHeader], stopped: &[&TaskHeader], was_open: bool) -> String {
    if let (true, Some(asked)) = (stopped.is_empty(), tree.first()) {
        let when = if was_open { "has ended meanwhile" } else { "had ended before" };
        return format!("{} {when}: {}\n", asked.task_id, state(asked));
    }
    let line = |header: &&TaskHeader| {
        let (agent, title) = (neutral::line(&header.agent), words::title(&header.title));
        format!("{}  {}  {agent}  {title}\n", header.task_id, state(header))
    };
    stopped.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use sortie_journal::Worked;
    use sortie_protocol::Timestamp;

    use super::*;

    fn header(letter: u8, parent: Option<u8>, status: Status) -> TaskHeader {
        let id = |letter: u8| TaskId::from_random([letter; 12]);
        TaskHeader {
            task_id: id(letter),
            parent_id: parent.map(id),
            root_id: id(0),
            depth: 0,
            leg: 1,
            agent: String::new(),
            title: String::new(),
            workspace: String::new(),
            state: TaskState::Ended(status),
            started: Timestamp(0),
            updated: Timestamp(0),
            worked: Worked::begin(Timestamp(0)),
        }
    }

    #[test]
    fn an_invisible_holder_is_taken_over_with_its_tree_unless_that_has_ended() {
        let child = header(1, Some(0), Status::Completed);
        let said = |root| advice(&child, Holder::OutOfSight { pid: 7 }, root).unwrap();
        assert!(said(TaskState::Running).ends_with(&format!("`sortie resume {} --take-over`", child.root_id)));
        let alone = said(TaskState::Ended(Status::Failed));
        assert!(alone.ends_with(&format!("`sortie resume {} --take-over`", child.task_id)), "{alone}");
    }

    #[test]
    fn a_receipt_includes_tasks_that_began_during_the_stop() {
        use Status::{Cancelled, Completed};
        let tree = [
            header(0, None, Cancelled),
            header(1, Some(0), Completed),
            header(2, Some(0), Cancelled),
            header(3, Some(2), Cancelled),
            header(4, Some(0), Completed),
            header(5, Some(1), Cancelled),
        ];
        let told = HashSet::from([tree[0].task_id]);
        let all = with_late_ones(&told, &tree[..2], &tree);
        let found: Vec<bool> = tree.iter().map(|header| all.contains(&header.task_id)).collect();
        assert_eq!(found, [true, false, true, true, false, false], "not those that had come to their own end");
    }
}
