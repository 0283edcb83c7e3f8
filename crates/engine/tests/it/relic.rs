//! A journal in memory that keeps every append, and that can begin with what a killed process left.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use sortie_journal::{
    CommandId, Durability, Entry, Holder, Journal, JournalError, MemoryJournal, Position, Pruned, Scope, Standing,
    TaskHeader, TaskQuery, TaskState,
};
use sortie_protocol::{Command, Event, Fact, Job, TaskId, TaskOutcome, Timestamp};

type Appended<'a, T> = Pin<Box<dyn Future<Output = Result<T, JournalError>> + Send + 'a>>;

#[derive(Default)]
pub(crate) struct Relic {
    inner: MemoryJournal,
    /// One for each append, which is on disk as a whole or not at all.
    appends: Mutex<Vec<Vec<Entry>>>,
    /// Durability of each append.
    durabilities: Mutex<Vec<Durability>>,
    /// Called before each append, with the number of earlier ones.
    on_append: Option<Box<dyn Fn(usize) + Send + Sync>>,
    refuses: bool,
    /// Facts that take time to be written.
    is_slow: Option<fn(&Fact) -> bool>,
    /// Tasks of a process that is gone, with their last attempts.
    lost: HashMap<TaskId, u32>,
    /// The task whose ending cannot be written.
    unendable: Option<TaskId>,
    /// True if children are in no list before they have ended.
    is_late: bool,
    /// Tasks whose logs are damaged after so many events.
    damaged: HashMap<TaskId, u64>,
    /// A task whose log another process extends just before it resumes, once.
    stale_once: Mutex<Option<TaskId>>,
    /// A task that another process has, after so many appends.
    held: Option<(TaskId, Holder, usize)>,
}

impl Relic {
    /// The journal after the process that wrote these appends was killed.
    pub(crate) async fn of(appends: &[Vec<Entry>]) -> Self {
        let mut relic = Self::default();
        for entries in appends {
            relic.lost.extend(entries.iter().map(|entry| (entry.task_id, entry.attempt)));
            relic.inner.append(entries.clone(), Durability::Ordered).await.expect("it was appended once before");
        }
        relic
    }

    /// Calls this before each append, with the number of earlier ones.
    pub(crate) fn watched(on_append: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { on_append: Some(Box::new(on_append)), ..Self::default() }
    }

    /// Calls this before each append to a journal that a process left.
    pub(crate) fn told(self, on_append: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { on_append: Some(Box::new(on_append)), ..self }
    }

    /// Makes facts of a kind take a second to be written.
    pub(crate) fn slow(self, is_slow: fn(&Fact) -> bool) -> Self {
        Self { is_slow: Some(is_slow), ..self }
    }

    /// Lets another process always be faster.
    pub(crate) fn refusing(self) -> Self {
        Self { refuses: true, ..self }
    }

    /// Refuses to write the ending of this task.
    pub(crate) fn without_ending(self, task: TaskId) -> Self {
        Self { unendable: Some(task), ..self }
    }

    /// Hides children until they have ended.
    pub(crate) fn late(self) -> Self {
        Self { is_late: true, ..self }
    }

    fn shows(&self, header: &TaskHeader) -> bool {
        !self.is_late || header.parent_id.is_none() || matches!(header.state, TaskState::Ended(_))
    }

    /// Writes as a process that nobody here knows.
    pub(crate) fn write_unseen(&self, entries: Vec<Entry>) {
        self.inner
            .append(entries, Durability::Ordered)
            .now_or_never()
            .expect("memory is quick")
            .expect("it can be written");
    }

    /// Damages the log of a task after its first event.
    pub(crate) fn damage(self, task: TaskId) -> Self {
        self.damage_behind(task, 1)
    }

    /// Damages the log of a task after so many events.
    pub(crate) fn damage_behind(mut self, task: TaskId, n_events: u64) -> Self {
        self.damaged.insert(task, n_events);
        self
    }

    /// Lets another process extend the log of a task just before it resumes, once.
    pub(crate) fn stale_once(self, task: TaskId) -> Self {
        Self { stale_once: Mutex::new(Some(task)), ..self }
    }

    /// Makes a task's log unreadable.
    pub(crate) fn erase(mut self, task: TaskId) -> Self {
        self.damaged.insert(task, 0);
        self
    }

    /// Gives a task to another process after so many appends here.
    pub(crate) fn held(self, task: TaskId, holder: Holder, from: usize) -> Self {
        Self { held: Some((task, holder, from)), ..self }
    }

    pub(crate) fn appends(&self) -> Vec<Vec<Entry>> {
        self.appends.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Durabilities of the appends that began with such a fact.
    pub(crate) fn durabilities_of(&self, is_such: fn(&Fact) -> bool) -> Vec<Durability> {
        let durabilities = self.durabilities.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let appends = self.appends().into_iter().zip(durabilities);
        let such = appends.filter(|(entries, _)| entries.first().is_some_and(|entry| is_such(&entry.fact)));
        such.map(|(_, durability)| durability).collect()
    }
}

impl Journal for Relic {
    fn append(&self, entries: Vec<Entry>, durability: Durability) -> Appended<'_, ()> {
        let before = {
            let mut appends = self.appends.lock().unwrap_or_else(PoisonError::into_inner);
            appends.push(entries.clone());
            self.durabilities.lock().unwrap_or_else(PoisonError::into_inner).push(durability);
            appends.len() - 1
        };
        if let Some(on_append) = &self.on_append {
            on_append(before);
        }
        let is_end =
            |entry: &Entry| matches!(entry.fact, Fact::TaskEnded { .. }) && self.unendable == Some(entry.task_id);
        let refuses = self.refuses || entries.iter().any(is_end);
        if let (true, Some(&Entry { task_id: task, attempt: ours, .. })) = (refuses, entries.first()) {
            return Box::pin(async move { Err(JournalError::Fenced { task, ours, current: ours + 1 }) });
        }
        let goes_on = entries.iter().find(|entry| matches!(entry.fact, Fact::TaskResumed { .. }));
        let mut stale_once = self.stale_once.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = stale_once.take_if(|task| goes_on.is_some_and(|entry| entry.task_id == *task)) {
            return Box::pin(async move { Err(JournalError::Stale { task, read: 1, last: 2 }) });
        }
        drop(stale_once);
        if self.is_slow.is_some_and(|is_slow| entries.iter().any(|entry| is_slow(&entry.fact))) {
            return Box::pin(async move {
                // Sleeps on purpose: the clock is paused, so that all others come first.
                tokio::time::sleep(Duration::from_secs(1)).await;
                self.inner.append(entries, durability).await
            });
        }
        self.inner.append(entries, durability)
    }

    fn standing(&self, task: TaskId) -> Result<Standing, JournalError> {
        let standing = self.inner.standing(task)?;
        if self.lost.get(&task) != Some(&standing.attempt) || standing.state != TaskState::Running {
            return Ok(standing);
        }
        let held = self.held.filter(|(held, _, from)| *held == task && self.appends().len() >= *from);
        Ok(match held {
            Some((_, holder, _)) => Standing { holder, ..standing },
            None => Standing { state: TaskState::Interrupted, holder: Holder::Nobody, ..standing },
        })
    }

    fn read_each(&self, task: TaskId, from: u64, each: &mut dyn FnMut(Event)) -> Result<(), JournalError> {
        if let Some(&last) = self.damaged.get(&task) {
            self.inner.read_each(task, from, &mut |event| {
                if event.seq <= last {
                    each(event);
                }
            })?;
            let cause = "its checksum does not match".to_owned();
            return Err(JournalError::DamagedTask { task, seq: last + 1, cause });
        }
        self.inner.read_each(task, from, each)
    }

    fn beginning(&self, task: TaskId) -> Result<Job, JournalError> {
        self.inner.beginning(task)
    }

    fn ending(&self, task: TaskId) -> Result<Option<TaskOutcome>, JournalError> {
        self.inner.ending(task)
    }

    fn read_after(&self, scope: Scope, after: Position, limit: usize) -> Result<Vec<(Position, Event)>, JournalError> {
        self.inner.read_after(scope, after, limit)
    }

    fn end(&self) -> Result<Position, JournalError> {
        self.inner.end()
    }

    fn wait_beyond(&self, after: Position, at_most: Duration) {
        self.inner.wait_beyond(after, at_most);
    }

    fn list(&self, query: &TaskQuery) -> Result<Vec<TaskHeader>, JournalError> {
        self.inner.list(query)
    }

    fn find(&self, prefix: &str) -> Result<Vec<TaskHeader>, JournalError> {
        let mut found = self.inner.find(prefix)?;
        found.retain(|header| self.shows(header));
        Ok(found)
    }

    fn tree(&self, root: TaskId) -> Result<Vec<TaskHeader>, JournalError> {
        let headers = self.inner.tree(root)?.into_iter().filter(|header| self.shows(header));
        let told = |header: TaskHeader| Ok(TaskHeader { state: self.standing(header.task_id)?.state, ..header });
        headers.map(told).collect()
    }

    fn send(&self, command: Command) -> Appended<'_, CommandId> {
        self.inner.send(command)
    }

    fn newest_command(&self) -> Result<CommandId, JournalError> {
        self.inner.newest_command()
    }

    fn commands_after(&self, after: CommandId, limit: usize) -> Result<Vec<(CommandId, Command)>, JournalError> {
        self.inner.commands_after(after, limit)
    }

    fn prunable(&self, older_than: Timestamp) -> Result<Vec<TaskHeader>, JournalError> {
        self.inner.prunable(older_than)
    }

    fn prune(&self, older_than: Timestamp, discard: &mut dyn FnMut(TaskId)) -> Result<Pruned, JournalError> {
        self.inner.prune(older_than, discard)
    }
}
