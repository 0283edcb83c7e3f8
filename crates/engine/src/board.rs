//! What the tasks of one tree have noted for each other. The log holds all of it, also what other processes have written;
//! this is the part that is read, and how far it was.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use sortie_journal::{Journal, JournalError, Position, Scope};
use sortie_protocol::{Event, Fact, Failure, TaskId};
use sortie_tools::Note;

use crate::remember::journal_failure;

/// Older ones are forgotten, though not by the log.
const MAX_NOTES: usize = 200;

/// So many events are read at once.
const PAGE: usize = 256;

/// The boards of the trees that run here.
#[derive(Default)]
pub(crate) struct Boards {
    boards: Mutex<HashMap<TaskId, Arc<Board>>>,
}

/// Empty before the first look.
#[derive(Default)]
pub(crate) struct Board {
    read: Mutex<Option<Read>>,
}

/// What was read of a tree.
struct Read {
    up_to: Position,
    tasks: HashMap<TaskId, Known>,
    notes: VecDeque<Note>,
}

#[derive(Default)]
struct Known {
    agent: String,
    /// Its last event that was read.
    seq: u64,
}

impl Boards {
    /// The board of a tree.
    pub(crate) fn of(&self, root: TaskId) -> Arc<Board> {
        let mut boards = self.boards.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(boards.entry(root).or_default())
    }

    /// The tree runs here no longer.
    pub(crate) fn take_down(&self, root: TaskId) {
        self.boards.lock().unwrap_or_else(PoisonError::into_inner).remove(&root);
    }
}

impl Board {
    /// The newest notes that are on disk, oldest first. Reads what was written since the last look.
    pub(crate) fn newest(&self, journal: &dyn Journal, root: TaskId, most: usize) -> Result<Vec<Note>, Failure> {
        let mut board = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let read = match &mut *board {
            Some(read) => read,
            none => none.insert(Read::begin(journal, root).map_err(journal_failure)?),
        };
        read.go_on(journal, root).map_err(journal_failure)?;
        Ok(read.notes.iter().skip(read.notes.len().saturating_sub(most)).cloned().collect())
    }
}

impl Read {
    /// Reads the logs of a tree one by one: in the log of all, others may stand before it. Notes are put in the order of
    /// their times.
    fn begin(journal: &dyn Journal, root: TaskId) -> Result<Self, JournalError> {
        let mut read = Self { up_to: journal.end()?, tasks: HashMap::new(), notes: VecDeque::new() };
        let mut notes = Vec::new();
        for header in journal.tree(root)? {
            let mut look = |event: Event| {
                let time = event.time;
                notes.extend(read.hear(event).map(|note| (time, note)));
            };
            journal.read_each(header.task_id, 1, &mut look)?;
        }
        notes.sort_by_key(|(time, _)| *time);
        for (_, note) in notes {
            read.add(note);
        }
        Ok(read)
    }

    fn go_on(&mut self, journal: &dyn Journal, root: TaskId) -> Result<(), JournalError> {
        loop {
            let events = journal.read_after(Scope::Tree(root), self.up_to, PAGE)?;
            if events.is_empty() {
                return Ok(());
            }
            for (position, event) in events {
                self.up_to = position;
                if let Some(note) = self.hear(event) {
                    self.add(note);
                }
            }
        }
    }

    /// The note that an event is, unless it was read before.
    fn hear(&mut self, Event { task_id: task, seq, fact, .. }: Event) -> Option<Note> {
        let known = self.tasks.entry(task).or_default();
        if seq <= known.seq {
            return None;
        }
        known.seq = seq;
        match fact {
            Fact::TaskStarted { job } => {
                known.agent = job.config.agent;
                None
            }
            Fact::NotePosted { text } => Some(Note { task, agent: known.agent.clone(), text }),
            _ => None,
        }
    }

    fn add(&mut self, note: Note) {
        self.notes.push_back(note);
        if self.notes.len() > MAX_NOTES {
            self.notes.pop_front();
        }
    }
}
