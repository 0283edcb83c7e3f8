//! Notes that the tasks of one tree leave for each other. The log holds all of them, from other processes as well; this
//! is a cache, with the position up to which the log was read.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use sortie_journal::{Journal, JournalError, Position, Scope};
use sortie_protocol::{Event, Fact, Failure, TaskId};
use sortie_tools::{Note, Sought};

use crate::ports::failure::journal_failure;

/// Most notes that are kept in memory. The log keeps them all.
const MAX_NOTES: usize = 500;

/// Events read at a time.
const PAGE: usize = 256;

/// The note boards of the trees that run here.
#[derive(Default)]
pub(crate) struct NoteBoards {
    note_boards: Mutex<HashMap<TaskId, Arc<NoteBoard>>>,
}

/// The notes of one tree; empty before the first look.
#[derive(Default)]
pub(crate) struct NoteBoard {
    read: Mutex<Option<Read>>,
}

/// The part of a tree's log that was read.
struct Read {
    up_to: Position,
    tasks: HashMap<TaskId, KnownTask>,
    /// Notes in order of number.
    notes: VecDeque<Note>,
    /// Number of all notes, including forgotten ones.
    n_notes: usize,
}

#[derive(Default)]
struct KnownTask {
    agent: String,
    /// Number of the task's last event that was read.
    seq: u64,
    /// Number of the task's notes that are kept.
    n_kept: usize,
    /// Number of the tree's notes at the task's last look.
    has_seen: usize,
}

impl NoteBoards {
    /// Returns the board of a tree.
    pub(crate) fn of(&self, root: TaskId) -> Arc<NoteBoard> {
        let mut note_boards = self.note_boards.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(note_boards.entry(root).or_default())
    }

    /// Drops the board of a tree that no longer runs here.
    pub(crate) fn take_down(&self, root: TaskId) {
        self.note_boards.lock().unwrap_or_else(PoisonError::into_inner).remove(&root);
    }
}

/// A task that reads notes, and the root of its tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoteReader {
    pub(crate) root: TaskId,
    pub(crate) task: TaskId,
}

impl NoteBoard {
    /// Returns the notes that a task of the tree asks for, and reads what was written since the last look. Looks are
    /// not in the log: a task that resumes in another process gets all notes as new.
    pub(crate) fn look(&self, journal: &dyn Journal, reader: NoteReader, sought: Sought) -> Result<Vec<Note>, Failure> {
        let NoteReader { root, task } = reader;
        let mut board = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let read = match &mut *board {
            Some(read) => read,
            none => none.insert(Read::begin(journal, root).map_err(journal_failure)?),
        };
        read.continue_reading(journal, root).map_err(journal_failure)?;
        Ok(read.sought(task, sought))
    }
}

impl Read {
    /// Reads the logs of a tree one by one, since in the common log other trees may come first. Notes are sorted by
    /// time.
    fn begin(journal: &dyn Journal, root: TaskId) -> Result<Self, JournalError> {
        let mut read = Self { up_to: journal.end()?, tasks: HashMap::new(), notes: VecDeque::new(), n_notes: 0 };
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

    fn continue_reading(&mut self, journal: &dyn Journal, root: TaskId) -> Result<(), JournalError> {
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

    /// Returns the note in an event, unless it was read before.
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
            Fact::NotePosted { text } => Some(Note { number: 0, task, agent: known.agent.clone(), text }),
            _ => None,
        }
    }

    /// Adds a note and numbers it.
    fn add(&mut self, note: Note) {
        self.tasks.entry(note.task).or_default().n_kept += 1;
        self.notes.push_back(Note { number: self.n_notes, ..note });
        self.n_notes += 1;
        if self.notes.len() > MAX_NOTES {
            self.forget_one();
        }
    }

    /// Drops the oldest note of the task that has most, so that a talkative task does not push out the others.
    fn forget_one(&mut self) {
        let most = self.tasks.values().map(|known| known.n_kept).max();
        let has_most = |note: &Note| self.tasks.get(&note.task).map(|known| known.n_kept) == most;
        let Some(forgotten) = self.notes.iter().position(has_most).and_then(|at| self.notes.remove(at)) else { return };
        if let Some(known) = self.tasks.get_mut(&forgotten.task) {
            known.n_kept -= 1;
        }
    }

    fn sought(&mut self, reader: TaskId, sought: Sought) -> Vec<Note> {
        let seen = &mut self.tasks.entry(reader).or_default().has_seen;
        let before = *seen;
        if !matches!(sought, Sought::From(_)) {
            *seen = self.n_notes;
        }
        let is_sought = |note: &&Note| match sought {
            Sought::New => note.number >= before && note.task != reader,
            Sought::All => true,
            Sought::From(number) => note.number >= number,
        };
        self.notes.iter().filter(is_sought).cloned().collect()
    }
}
