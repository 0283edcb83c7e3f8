//! What the tasks of one tree have noted for each other. The log holds all of it; this is the part that is read.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use sortie_journal::Journal;
use sortie_protocol::{Event, Fact, Failure, TaskId};
use sortie_tools::Note;

use crate::remember::journal_failure;

/// Older ones are forgotten, though not by the log.
const MAX_NOTES: usize = 200;

/// The boards of the trees that run here.
#[derive(Default)]
pub(crate) struct Boards {
    boards: Mutex<HashMap<TaskId, Arc<Board>>>,
}

#[derive(Default)]
pub(crate) struct Board {
    notes: Mutex<VecDeque<Note>>,
}

impl Boards {
    /// The board of a tree, if it is known here.
    pub(crate) fn get(&self, root: TaskId) -> Option<Arc<Board>> {
        self.boards.lock().unwrap_or_else(PoisonError::into_inner).get(&root).cloned()
    }

    /// Puts up the board of a tree; another one may have been quicker, and stays.
    pub(crate) fn put_up(&self, root: TaskId, board: Board) -> Arc<Board> {
        let mut boards = self.boards.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(boards.entry(root).or_insert_with(|| Arc::new(board)))
    }

    /// The tree runs here no longer.
    pub(crate) fn take_down(&self, root: TaskId) {
        self.boards.lock().unwrap_or_else(PoisonError::into_inner).remove(&root);
    }
}

impl Board {
    /// What the log has of a tree. Notes stand in the order of their times.
    pub(crate) fn read(journal: &dyn Journal, root: TaskId) -> Result<Self, Failure> {
        let mut notes = Vec::new();
        for header in journal.tree(root).map_err(journal_failure)? {
            let mut look = |event: Event| {
                if let Fact::NotePosted { text } = event.fact {
                    notes.push((event.time, Note { task: header.task_id, agent: header.agent.clone(), text }));
                }
            };
            journal.read_each(header.task_id, 1, &mut look).map_err(journal_failure)?;
        }
        notes.sort_by_key(|(time, _)| *time);
        let board = Self::default();
        for (_, note) in notes {
            board.add(note);
        }
        Ok(board)
    }

    pub(crate) fn add(&self, note: Note) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push_back(note);
        while notes.len() > MAX_NOTES {
            notes.pop_front();
        }
    }

    /// Oldest first.
    pub(crate) fn newest(&self, most: usize) -> Vec<Note> {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.iter().skip(notes.len().saturating_sub(most)).cloned().collect()
    }
}
