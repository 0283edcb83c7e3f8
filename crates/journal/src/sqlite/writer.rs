//! The one writer: a thread that takes everything waiting and commits it in one transaction (group commit).
//!
//! A batch is synced if anyone waits for it; the others ride along. A permanently failed write ends all writing.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use sortie_crash::point;
use sortie_protocol::Command;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::database::error::{DatabaseError, Doing};
use crate::database::file_identity::FileIdentity;
use crate::database::open::{self, Opened};
use crate::database::page_cache::PageCache;
use crate::port::{CommandId, Durability, Entry, JournalError, Position};
use crate::sqlite::batch::{Batch, Draft, Letter};
use crate::sqlite::removal::{Removal, Removed};
use crate::tasks::lost_attempts::LostAttempts;
use crate::tasks::owner::Owner;
use crate::tasks::written_end::WrittenEnd;

/// Most orders that may wait at once, and so the most in one transaction. Further callers wait for a place.
const QUEUE: usize = 16_384;

/// Time to wait for the callers just acknowledged, before the next sync. Most append again at once, and would wait a
/// whole sync if they came a moment too late.
const LOOK: Duration = Duration::from_micros(100);
/// Wait only if a sync takes longer than this: a fast disk waits for nobody.
const SLOW_SYNC: Duration = Duration::from_millis(2);

/// Handle to the writer thread.
#[derive(Debug)]
pub(super) struct Writer {
    /// Dropped at the end: the thread then finishes the queue and ends.
    queue: Option<mpsc::Sender<Order>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
enum Order {
    Append {
        drafts: Vec<Draft>,
        /// Present if a caller waits for the sync.
        acknowledge: Option<oneshot::Sender<Result<(), JournalError>>>,
    },
    Send {
        letter: Letter,
        acknowledge: oneshot::Sender<Result<CommandId, JournalError>>,
    },
    /// One small step of a pruning, in a transaction of its own.
    Remove {
        removal: Removal,
        acknowledge: std::sync::mpsc::Sender<Result<Removed, JournalError>>,
    },
}

impl Order {
    /// True if a caller waits until it is on disk.
    fn is_waited_for(&self) -> bool {
        !matches!(self, Self::Append { acknowledge: None, .. })
    }
}

/// State shared between the thread and the callers.
#[derive(Debug, Default)]
struct Shared {
    commits: AtomicU64,
    written: WrittenEnd,
    /// The first permanent write failure. Nothing is written after it.
    failure: OnceLock<JournalError>,
    lost: LostAttempts,
}

impl Writer {
    pub(super) fn start(path: &Path, opened: Opened) -> Result<Self, JournalError> {
        let (queue, inbox) = mpsc::channel(QUEUE);
        let shared = Arc::new(Shared::default());
        let scribe = Scribe {
            path: path.to_owned(),
            place: FileIdentity::of(path)
                .map_err(|error| JournalError::Open { path: path.to_owned(), cause: error.to_string() })?,
            connection: opened.connection,
            unsynced: opened.unsynced,
            inbox,
            shared: Arc::clone(&shared),
            owner: Owner::current(),
            synced: None,
            sync_took: Duration::ZERO,
            cache: PageCache::new(),
        };
        let thread = thread::Builder::new()
            .name("journal-writer".to_owned())
            .spawn(|| scribe.run())
            .map_err(|error| JournalError::Open { path: path.to_owned(), cause: error.to_string() })?;
        Ok(Self { queue: Some(queue), thread: Some(thread), shared })
    }

    /// Cancel-safe: dropped before the append is queued, nothing is appended; dropped later, it is appended anyway.
    pub(super) async fn append(&self, entries: Vec<Entry>, durability: Durability) -> Result<(), JournalError> {
        if entries.is_empty() {
            return Ok(());
        }
        let drafts = entries.into_iter().map(Draft::encode).collect::<Result<Vec<_>, _>>()?;
        self.shared.admit(&drafts)?;
        let (acknowledge, acknowledged) = match durability {
            Durability::Ordered => (None, None),
            Durability::Synced => {
                let (sender, receiver) = oneshot::channel();
                (Some(sender), Some(receiver))
            }
        };
        self.enqueue(Order::Append { drafts, acknowledge }).await?;
        match acknowledged {
            Some(acknowledged) => acknowledged.await.unwrap_or_else(|_| Err(self.shared.gone())),
            None => Ok(()),
        }
    }

    pub(super) async fn send(&self, command: Command) -> Result<CommandId, JournalError> {
        let letter = Letter::encode(&command)?;
        let (acknowledge, acknowledged) = oneshot::channel();
        self.enqueue(Order::Send { letter, acknowledge }).await?;
        acknowledged.await.unwrap_or_else(|_| Err(self.shared.gone()))
    }

    /// Blocks until the step is done, even in async code, where other waiting is not allowed.
    pub(super) fn remove(&self, removal: Removal) -> Result<Removed, JournalError> {
        let (acknowledge, acknowledged) = std::sync::mpsc::channel();
        let queue = self.queue.as_ref().ok_or_else(|| self.shared.gone())?;
        let mut order = Order::Remove { removal, acknowledge };
        while let Err(refused) = queue.try_send(order) {
            order = match refused {
                TrySendError::Full(order) => order,
                TrySendError::Closed(_) => return Err(self.shared.gone()),
            };
            thread::sleep(Duration::from_millis(1));
        }
        acknowledged.recv().unwrap_or_else(|_| Err(self.shared.gone()))
    }

    async fn enqueue(&self, order: Order) -> Result<(), JournalError> {
        let queue = self.queue.as_ref().ok_or_else(|| self.shared.gone())?;
        queue.send(order).await.map_err(|_| self.shared.gone())
    }

    pub(super) fn wait_beyond(&self, after: Position, at_most: Duration) {
        self.shared.written.wait_beyond(after, at_most);
    }

    pub(super) fn lost(&self) -> &LostAttempts {
        &self.shared.lost
    }

    pub(super) fn commits(&self) -> u64 {
        self.shared.commits.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported where it happened; nobody else needs to know.
            drop(thread.join());
        }
    }
}

impl Shared {
    /// Refuses entries that must not be written any more.
    fn admit(&self, drafts: &[Draft]) -> Result<(), JournalError> {
        if let Some(failure) = self.failure.get() {
            return Err(failure.clone());
        }
        self.lost.admit(entries(drafts))
    }

    fn gone(&self) -> JournalError {
        let lost = || JournalError::Write { cause: "the writer thread has ended".to_owned() };
        self.failure.get().cloned().unwrap_or_else(lost)
    }
}

fn entries(drafts: &[Draft]) -> impl Iterator<Item = &Entry> {
    drafts.iter().map(|draft| &draft.entry)
}

/// The thread's side.
struct Scribe {
    path: PathBuf,
    place: FileIdentity,
    connection: Connection,
    unsynced: Option<File>,
    inbox: mpsc::Receiver<Order>,
    shared: Arc<Shared>,
    owner: Owner,
    /// True while commits are synced; unknown at first.
    synced: Option<bool>,
    /// Duration of the last commit, which was synced if anyone waited for it.
    sync_took: Duration,
    cache: PageCache,
}

impl Scribe {
    fn run(mut self) {
        if let Err(error) = self.sync_the_new_file() {
            self.shared.failure.get_or_init(|| JournalError::Write { cause: error.to_string() });
        }
        let (mut waiting, mut told) = (Vec::new(), 0);
        while self.inbox.blocking_recv_many(&mut waiting, QUEUE) > 0 {
            self.look_out(&mut waiting, told);
            self.cache.fit(&self.connection, waiting.len(), Instant::now());
            told = self.settle(&mut waiting);
        }
    }

    /// Takes more orders while the callers just acknowledged keep coming back.
    fn look_out(&mut self, waiting: &mut Vec<Order>, told: usize) {
        // With a single caller there is nobody to wait for.
        let mut missing = if told > 1 && self.sync_took >= SLOW_SYNC { told } else { 0 };
        while missing > 0 {
            thread::sleep(LOOK);
            let before = waiting.len();
            waiting.extend(std::iter::from_fn(|| self.inbox.try_recv().ok()).take(QUEUE.saturating_sub(before)));
            let came = waiting.len() - before;
            missing = if came == 0 { 0 } else { missing.saturating_sub(came) };
        }
    }

    fn sync_the_new_file(&mut self) -> io::Result<()> {
        let Some(file) = self.unsynced.take() else { return Ok(()) };
        // SQLite syncs the directory, together with the log next to the file.
        let synced = file.sync_all();
        open::keep_open_for_ever(file);
        synced
    }

    /// Carries out the orders, answers everyone waiting, and returns how many there were.
    fn settle(&mut self, orders: &mut Vec<Order>) -> usize {
        let removals = orders.extract_if(.., |order| matches!(order, Order::Remove { .. })).collect::<Vec<_>>();
        let verdicts = self.unless_failed(|scribe| scribe.write(orders));
        let mut verdicts = verdicts.unwrap_or_else(|failure| self.refuse(orders, &failure)).into_iter();
        let told = orders.iter().filter(|order| order.is_waited_for()).count();
        for (order, verdict) in orders.drain(..).zip(&mut verdicts) {
            // The caller may have gone meanwhile; the write counts all the same.
            match order {
                Order::Append { acknowledge: Some(acknowledge), .. } => drop(acknowledge.send(verdict.map(drop))),
                Order::Send { acknowledge, .. } => drop(acknowledge.send(verdict.map(Option::unwrap_or_default))),
                Order::Append { acknowledge: None, .. } | Order::Remove { .. } => {}
            }
        }
        for order in removals {
            if let Order::Remove { removal, acknowledge } = order {
                drop(acknowledge.send(self.unless_failed(|scribe| scribe.remove(&removal)).flatten()));
            }
        }
        told
    }

    /// Refuses all orders after a failed transaction. Later orders may succeed once there is room again, in a process
    /// that lives for days.
    fn refuse(&self, orders: &[Order], failure: &JournalError) -> Vec<Result<Option<CommandId>, JournalError>> {
        for order in orders {
            if let Order::Append { drafts, acknowledge: None } = order {
                self.shared.lost.add(entries(drafts), failure);
            }
        }
        vec![Err(failure.clone()); orders.len()]
    }

    /// Runs a write, unless an earlier one failed permanently.
    fn unless_failed<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<T, DatabaseError>,
    ) -> Result<T, JournalError> {
        if let Some(failure) = self.shared.failure.get() {
            return Err(failure.clone());
        }
        write(self).map_err(|failure| {
            let passes = failure.passes();
            let failure = Doing::Writing.failed(&self.path, failure);
            if passes { failure } else { self.shared.failure.get_or_init(|| failure).clone() }
        })
    }

    /// Commits all orders in one transaction. Returns one result for each, with the id of a command. On an error none
    /// is acknowledged.
    fn write(&mut self, orders: &[Order]) -> Result<Vec<Result<Option<CommandId>, JournalError>>, DatabaseError> {
        if orders.is_empty() {
            return Ok(Vec::new());
        }
        self.sync_commits(orders.iter().any(Order::is_waited_for))?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut batch = Batch::begin(&self.path, &transaction, self.owner)?;
        let mut verdicts = Vec::with_capacity(orders.len());
        for order in orders {
            verdicts.push(match order {
                Order::Append { drafts, acknowledge } => {
                    let verdict = match self.shared.admit(drafts) {
                        Ok(()) => batch.append(drafts)?,
                        refused => refused,
                    };
                    if let (Err(refusal), None) = (&verdict, acknowledge) {
                        self.shared.lost.add(entries(drafts), refusal);
                    }
                    verdict.map(|()| None)
                }
                Order::Send { letter, .. } => batch.send(letter)?.map(Some),
                Order::Remove { .. } => Ok(None),
            });
        }
        let end = batch.finish()?;
        point("journal.before-commit");
        let begun = Instant::now();
        transaction.commit()?;
        self.sync_took = begun.elapsed();
        point("journal.after-commit");
        // Data written to a file that has been moved away must not be acknowledged: it would be lost.
        self.place.check()?;
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        self.shared.written.reach(end);
        for (order, verdict) in orders.iter().zip(&verdicts) {
            if let (Order::Append { drafts, .. }, Ok(_)) = (order, verdict) {
                self.shared.lost.forget(entries(drafts));
            }
        }
        Ok(verdicts)
    }

    /// Runs a step of a pruning. Damage refuses the step and affects nothing else.
    fn remove(&mut self, removal: &Removal) -> Result<Result<Removed, JournalError>, DatabaseError> {
        self.sync_commits(removal.must_last())?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let removed = match removal.carry_out(&transaction) {
            Ok(removed) => removed,
            Err(damage @ (DatabaseError::Damage(_) | DatabaseError::Journal(_))) => {
                return Ok(Err(Doing::Writing.failed(&self.path, damage)));
            }
            Err(failure) => return Err(failure),
        };
        transaction.commit()?;
        self.place.check()?;
        Ok(Ok(removed))
    }

    fn sync_commits(&mut self, synced: bool) -> rusqlite::Result<()> {
        if self.synced != Some(synced) {
            self.connection.pragma_update(None, "synchronous", if synced { "FULL" } else { "NORMAL" })?;
            self.synced = Some(synced);
        }
        Ok(())
    }
}
