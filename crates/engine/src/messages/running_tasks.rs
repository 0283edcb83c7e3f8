//! The tasks that run in this engine, and a listener for commands from other processes.
//!
//! Commands travel through the journal. While tasks run, one thread polls for them: often enough to be prompt, rarely
//! enough to cost nothing.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use sortie_journal::JournalError;
use sortie_journal::{CommandId, Journal};
use sortie_protocol::{Command, Job, TaskId};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::messages::running_task::{ArrivedBy, RunningTask, StoppedBy};

/// Polling interval.
const PERIOD: Duration = Duration::from_millis(40);

/// Commands read at a time.
pub(crate) const MOST: usize = 256;

/// The tasks that run in this engine.
#[derive(Default)]
pub(crate) struct RunningTasks {
    tasks: Mutex<Tasks>,
    /// Held while the listener uses the journal, so that a task that has left knows that it is no longer read.
    pub(crate) listening: Mutex<()>,
}

#[derive(Default)]
struct Tasks {
    /// Running tasks with their numbers. Two may try to resume the same task at once; one of them will be refused.
    running: HashMap<TaskId, Vec<(u64, Arc<RunningTask>)>>,
    entered: u64,
    is_heard: bool,
}

/// Guard: while held, the task counts as running.
pub(crate) struct Registration {
    present: Arc<RunningTasks>,
    task: TaskId,
    number: u64,
    interrupt: CancellationToken,
}

impl RunningTasks {
    /// Registers a task before anybody can know it, so that no command is missed. The first one starts the listener.
    pub(crate) fn enter(self: &Arc<Self>, running_task: RunningTask, journal: &Arc<dyn Journal>) -> Registration {
        let (task, interrupt) = (running_task.job.task, running_task.interrupt.clone());
        let mut tasks = self.lock();
        tasks.entered += 1;
        let number = tasks.entered;
        tasks.running.entry(task).or_default().push((number, Arc::new(running_task)));
        if !tasks.is_heard {
            // Tasks also run without a listener; then only signals can stop them.
            tasks.is_heard = listen(Arc::downgrade(self), journal);
        }
        Registration { present: Arc::clone(self), task, number, interrupt }
    }

    /// Stops a task and its descendants, if it runs here.
    pub(crate) fn stop(&self, task: TaskId, by: StoppedBy) -> bool {
        let running = self.lock().running.get(&task).cloned().unwrap_or_default();
        for (_, running_task) in &running {
            running_task.stop(by);
        }
        !running.is_empty()
    }

    /// Stops tasks where they are, as a crash would: nothing more is recorded of them, and no ending. Returns once they
    /// are gone, with those that joined them meanwhile.
    pub(crate) async fn interrupt(&self, is_meant: impl Fn(&Job) -> bool) {
        loop {
            let meant: Vec<Arc<RunningTask>> = {
                let tasks = self.lock();
                let all = tasks.running.values().flatten().map(|(_, running_task)| running_task);
                all.filter(|running_task| is_meant(&running_task.job)).map(Arc::clone).collect()
            };
            if meant.is_empty() {
                return;
            }
            // First nobody can write any more, so that no task records what the stop of another one causes.
            for running_task in &meant {
                running_task.sink.shut_out(&JournalError::Interrupted);
            }
            for running_task in &meant {
                running_task.interrupt.cancel();
            }
            for running_task in meant {
                running_task.over.cancelled().await;
            }
        }
    }

    /// Returns a task that runs here.
    pub(crate) fn find(&self, task: TaskId) -> Option<Arc<RunningTask>> {
        // If several try, the first one has it.
        self.lock().running.get(&task)?.first().map(|(_, running_task)| Arc::clone(running_task))
    }

    /// Returns the running tasks of a tree, in order of arrival.
    pub(crate) fn of_tree(&self, root: TaskId) -> Vec<Arc<RunningTask>> {
        let tasks = self.lock();
        let firsts = tasks.running.values().filter_map(|tries| tries.first());
        let mut found: Vec<&(u64, Arc<RunningTask>)> = firsts.filter(|(_, one)| one.job.root == root).collect();
        found.sort_by_key(|(number, _)| *number);
        found.into_iter().map(|(_, running_task)| Arc::clone(running_task)).collect()
    }

    /// Carries out new commands; `None` if no task runs any more.
    fn listen(&self, journal: &Weak<dyn Journal>, heard: CommandId, runtime: &Handle) -> Option<CommandId> {
        let _listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        let journal = if self.is_needed() { journal.upgrade()? } else { return None };
        Some(obey(self, journal.as_ref(), heard, runtime))
    }

    /// True if a task runs; if not, the listener stops.
    fn is_needed(&self) -> bool {
        let mut tasks = self.lock();
        tasks.is_heard = !tasks.running.is_empty();
        tasks.is_heard
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registration {
    /// Resolves when the task is to stop where it is.
    pub(crate) async fn interrupted(&self) {
        self.interrupt.cancelled().await;
    }

    /// Marks this attempt as the owner: the journal has accepted it, so `find` returns it rather than other attempts.
    pub(crate) fn has_it(&self) {
        let mut tasks = self.present.lock();
        if let Some(running) = tasks.running.get_mut(&self.task) {
            running.sort_by_key(|(number, _)| *number != self.number);
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _not_now = self.present.listening.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tasks = self.present.lock();
        if let Some(running) = tasks.running.get_mut(&self.task) {
            let gone = running.extract_if(.., |(number, _)| *number == self.number);
            gone.for_each(|(_, running_task)| running_task.over.cancel());
            if running.is_empty() {
                tasks.running.remove(&self.task);
            }
        }
    }
}

/// Starts the thread that polls for commands; false if it cannot start. The thread does not keep the journal open.
fn listen(present: Weak<RunningTasks>, journal: &Arc<dyn Journal>) -> bool {
    let Ok(mut heard) = journal.newest_command() else { return false };
    let journal = Arc::downgrade(journal);
    let runtime = Handle::current();
    let hear = move || {
        while let Some(now) = present.upgrade().and_then(|here| here.listen(&journal, heard, &runtime)) {
            heard = now;
            thread::sleep(PERIOD);
        }
    };
    thread::Builder::new().name("commands".to_owned()).spawn(hear).is_ok()
}

/// Carries out new commands. Read errors are ignored here: they show when a task writes.
fn obey(present: &RunningTasks, journal: &dyn Journal, heard: CommandId, runtime: &Handle) -> CommandId {
    if journal.newest_command().is_ok_and(|newest| newest == heard) {
        return heard;
    }
    let wishes = journal.commands_after(heard, MOST).unwrap_or_default();
    for (number, wish) in &wishes {
        let running_task = wish.task().and_then(|task| present.find(task));
        match (wish, running_task) {
            (Command::Stop { task }, _) => drop(present.stop(*task, StoppedBy::Outside)),
            (Command::Send { from, text, .. }, Some(running_task)) if running_task.caught_up.is_behind(*number) => {
                // A message that cannot be written is not delivered, and its sender sees no confirmation.
                runtime.block_on(running_task.write(from.clone(), text.clone(), ArrivedBy::Command(*number))).ok();
            }
            // Not awaited: the holder of the address may wait for this listener.
            (Command::Release { .. }, Some(running_task)) => {
                drop(runtime.spawn(async move { running_task.release().await }));
            }
            // Left for the process that resumes the task.
            (Command::Send { .. } | Command::Withdraw { .. } | Command::MarkRead { .. } | Command::Unknown, _)
            | (Command::Release { .. }, None) => {}
        }
    }
    wishes.last().map_or(heard, |(last, _)| *last)
}

impl RunningTasks {
    /// Delivers messages after `after` that were not withdrawn; the listener pauses meanwhile and delivers later ones.
    /// The inner text explains why some may be missing.
    pub(crate) fn catch_up(
        &self,
        running_task: &RunningTask,
        journal: &dyn Journal,
        after: CommandId,
        runtime: &Handle,
    ) -> Result<Option<String>, JournalError> {
        let _not_now = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut last, mut sent) = (after, BTreeMap::new());
        let unread = loop {
            let left = match journal.commands_after(last, MOST) {
                Ok(left) => left,
                Err(error) => break Some(error.to_string()),
            };
            let Some((newest, _)) = left.last() else { break None };
            last = *newest;
            for (number, command) in left {
                match command {
                    Command::Send { task, from, text } if task == running_task.job.task => {
                        sent.insert(number.0, (from, text));
                    }
                    Command::Withdraw { command, .. } => drop(sent.remove(&command)),
                    _ => {}
                }
            }
        };
        for (number, (from, text)) in sent {
            runtime.block_on(running_task.write(from, text, ArrivedBy::Command(CommandId(number))))?;
        }
        running_task.caught_up.with(last);
        Ok(unread)
    }
}
