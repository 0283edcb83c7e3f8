//! The one writer: a thread that takes everything waiting and commits it in one transaction (group commit).
//!
//! A batch in which anybody waits for the disk is synced; the others ride along. A failed write ends all writing.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use sortie_protocol::TaskId;
use tokio::sync::{mpsc, oneshot};

use super::batch::{Batch, Draft};
use super::failure::{Doing, Failure};
use super::open::{self, Opened};
use crate::horizon::Horizon;
use crate::owner::Owner;
use crate::{Durability, Entry, JournalError, Position};

/// Appends that may wait at once, and so the most that one transaction holds. Whoever comes next waits for a place.
const QUEUE: usize = 16_384;

/// The door to the writer thread.
#[derive(Debug)]
pub(super) struct Writer {
    /// Taken away at the end: without it the thread finishes what is queued and ends.
    queue: Option<mpsc::Sender<Append>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Append {
    drafts: Vec<Draft>,
    /// Where somebody waits for the sync.
    acknowledge: Option<oneshot::Sender<Result<(), JournalError>>>,
}

/// What the thread tells those who append.
#[derive(Debug, Default)]
struct Shared {
    commits: AtomicU64,
    horizon: Horizon,
    /// The first write that failed. There is no second one.
    failure: OnceLock<JournalError>,
    /// Tasks that have lost an append for which nobody waited, with the attempt that lost it: if more of that attempt
    /// were let in, its log would have a hole that nobody knows of.
    shut: Mutex<HashMap<TaskId, (u32, JournalError)>>,
}

impl Writer {
    pub(super) fn start(path: &Path, opened: Opened) -> Result<Self, JournalError> {
        let (queue, inbox) = mpsc::channel(QUEUE);
        let shared = Arc::new(Shared::default());
        let scribe = Scribe {
            path: path.to_owned(),
            connection: opened.connection,
            unsynced: opened.unsynced,
            inbox,
            shared: Arc::clone(&shared),
            owner: Owner::current(),
            synced: None,
        };
        let thread = thread::Builder::new()
            .name("journal-writer".to_owned())
            .spawn(|| scribe.run())
            .map_err(|error| JournalError::Open { path: path.to_owned(), cause: error.to_string() })?;
        Ok(Self { queue: Some(queue), thread: Some(thread), shared })
    }

    /// Cancel-safe: dropped before the append has its place nothing is appended, dropped later it is appended anyway.
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
        let queue = self.queue.as_ref().ok_or_else(|| self.shared.gone())?;
        queue.send(Append { drafts, acknowledge }).await.map_err(|_| self.shared.gone())?;
        match acknowledged {
            Some(acknowledged) => acknowledged.await.unwrap_or_else(|_| Err(self.shared.gone())),
            None => Ok(()),
        }
    }

    pub(super) fn wait_beyond(&self, after: Position, at_most: Duration) {
        self.shared.horizon.wait_beyond(after, at_most);
    }

    pub(super) fn commits(&self) -> u64 {
        self.shared.commits.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported where it happened; there is nobody left to tell.
            drop(thread.join());
        }
    }
}

impl Shared {
    /// Refuses what must not be written any more.
    fn admit(&self, drafts: &[Draft]) -> Result<(), JournalError> {
        if let Some(failure) = self.failure.get() {
            return Err(failure.clone());
        }
        let shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        let refusal = drafts.iter().find_map(|draft| {
            let (attempt, refusal) = shut.get(&draft.entry.task_id)?;
            (draft.entry.attempt <= *attempt).then_some(refusal)
        });
        refusal.map_or(Ok(()), |refusal| Err(refusal.clone()))
    }

    /// Shuts out the attempts whose append was refused behind their backs.
    fn shut_out(&self, drafts: &[Draft], refusal: &JournalError) {
        let mut shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        for Draft { entry, .. } in drafts {
            shut.insert(entry.task_id, (entry.attempt, refusal.clone()));
        }
    }

    fn gone(&self) -> JournalError {
        let lost = || JournalError::Write { cause: "the writer thread has ended".to_owned() };
        self.failure.get().cloned().unwrap_or_else(lost)
    }
}

/// The thread's side.
struct Scribe {
    path: PathBuf,
    connection: Connection,
    unsynced: Option<File>,
    inbox: mpsc::Receiver<Append>,
    shared: Arc<Shared>,
    owner: Owner,
    /// Whether commits are synced at the moment; unknown at first.
    synced: Option<bool>,
}

impl Scribe {
    fn run(mut self) {
        if let Err(error) = self.sync_the_new_file() {
            self.shared.failure.get_or_init(|| JournalError::Write { cause: error.to_string() });
        }
        let mut waiting = Vec::new();
        while self.inbox.blocking_recv_many(&mut waiting, QUEUE) > 0 {
            self.settle(&mut waiting);
        }
    }

    fn sync_the_new_file(&mut self) -> io::Result<()> {
        let Some(file) = self.unsynced.take() else { return Ok(()) };
        // The directory is synced by SQLite, together with the log beside the file.
        let synced = file.sync_all();
        open::keep_open_for_ever(file);
        synced
    }

    /// Writes the batch and tells everybody who waits.
    fn settle(&mut self, batch: &mut Vec<Append>) {
        let written = match self.shared.failure.get() {
            Some(failure) => Err(failure.clone()),
            None => self.write(batch).map_err(|failure| Doing::Writing.failed(&self.path, failure)),
        };
        if let Err(failure) = &written {
            self.shared.failure.get_or_init(|| failure.clone());
        }
        let verdicts = written.unwrap_or_else(|failure| vec![Err(failure); batch.len()]);
        for (append, verdict) in batch.drain(..).zip(verdicts) {
            if let Some(acknowledge) = append.acknowledge {
                // Whoever asked may have gone meanwhile; the append stands all the same.
                drop(acknowledge.send(verdict));
            }
        }
    }

    /// Commits the batch in one transaction. One verdict for each append; the error means that none was written.
    fn write(&mut self, batch: &[Append]) -> Result<Vec<Result<(), JournalError>>, Failure> {
        self.sync_commits(batch.iter().any(|append| append.acknowledge.is_some()))?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut writing = Batch::begin(&transaction, self.owner)?;
        let mut verdicts = Vec::with_capacity(batch.len());
        for append in batch {
            let verdict = match self.shared.admit(&append.drafts) {
                Ok(()) => writing.append(&append.drafts)?,
                refused => refused,
            };
            if let (Err(refusal), None) = (&verdict, &append.acknowledge) {
                self.shared.shut_out(&append.drafts, refusal);
            }
            verdicts.push(verdict);
        }
        let end = writing.finish()?;
        transaction.commit()?;
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        self.shared.horizon.reach(end);
        Ok(verdicts)
    }

    fn sync_commits(&mut self, synced: bool) -> rusqlite::Result<()> {
        if self.synced != Some(synced) {
            self.connection.pragma_update(None, "synchronous", if synced { "FULL" } else { "NORMAL" })?;
            self.synced = Some(synced);
        }
        Ok(())
    }
}
