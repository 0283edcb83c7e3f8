//! `Selection`: the notes that an answer has room for, and a line about the others.

use sortie_protocol::TaskId;

use super::entry;
use crate::port::relatives::Note;

/// Maximum number of notes shown at once.
const MAX_NOTES: usize = 30;
const MAX_CHARS: usize = 6000;
/// Maximum number per author, so that nobody hides the others.
const MAX_BY_ONE: usize = 10;
/// Maximum number of authors listed with their remaining notes.
const MAX_NAMED: usize = 8;

/// The notes shown, in number order.
pub(super) struct Selection<'a> {
    pub(super) shown: Vec<&'a Note>,
    /// A line about the other notes and how to read them.
    pub(super) left_out: Option<String>,
}

/// The notes of one author, newest first.
struct Author<'a> {
    task: TaskId,
    notes: Vec<&'a Note>,
    n_shown: usize,
}

struct Room {
    n_notes: usize,
    n_chars: usize,
}

impl Room {
    const ALL: Self = Self { n_notes: MAX_NOTES, n_chars: MAX_CHARS };

    /// Takes the room for a note. Returns true if there is enough.
    fn takes(&mut self, note: &Note) -> bool {
        let n_chars = entry(note).chars().count();
        let fits = self.n_notes > 0 && n_chars <= self.n_chars;
        if fits {
            self.n_notes -= 1;
            self.n_chars -= n_chars;
        }
        fits
    }
}

/// Selects the first notes that fit.
pub(super) fn page(notes: &[Note]) -> Selection<'_> {
    let mut room = Room::ALL;
    let shown: Vec<&Note> = notes.iter().take_while(|note| room.takes(note)).collect();
    let left_out = notes
        .get(shown.len())
        .map(|next| format!("{} more; continue with offset {}", notes.len() - shown.len(), next.number));
    Selection { shown, left_out }
}

/// Selects the newest note of each author, then the second newest, and so on.
pub(super) fn newest_of_each(notes: &[Note]) -> Selection<'_> {
    let mut authors = by_author(notes);
    let mut room = Room::ALL;
    for round in 0..MAX_BY_ONE {
        // An author's notes have no gap: nothing older is shown after a note that did not fit.
        for author in authors.iter_mut().filter(|author| author.n_shown == round) {
            if author.notes.get(round).is_some_and(|note| room.takes(note)) {
                author.n_shown += 1;
            }
        }
    }
    let mut shown: Vec<&Note> = authors.iter().flat_map(|author| &author.notes[..author.n_shown]).copied().collect();
    shown.sort_by_key(|note| note.number);
    Selection { shown, left_out: left_out(&authors) }
}

/// Groups notes by author, the latest to post first.
fn by_author(notes: &[Note]) -> Vec<Author<'_>> {
    let mut authors: Vec<Author<'_>> = Vec::new();
    for note in notes.iter().rev() {
        match authors.iter_mut().find(|author| author.task == note.task) {
            Some(author) => author.notes.push(note),
            None => authors.push(Author { task: note.task, notes: vec![note], n_shown: 0 }),
        }
    }
    authors
}

fn left_out(authors: &[Author<'_>]) -> Option<String> {
    let hidden: Vec<&[&Note]> =
        authors.iter().map(|author| &author.notes[author.n_shown..]).filter(|notes| !notes.is_empty()).collect();
    let mut said: Vec<String> = Vec::new();
    for notes in hidden.iter().take(MAX_NAMED) {
        let oldest = notes.last()?;
        said.push(format!("{} by {} from offset {} on", notes.len(), oldest.task, oldest.number));
    }
    let others = hidden.get(MAX_NAMED..).unwrap_or_default();
    if !others.is_empty() {
        let n_notes: usize = others.iter().map(|notes| notes.len()).sum();
        let first = others.iter().filter_map(|notes| notes.last()).map(|note| note.number).min()?;
        said.push(format!("{n_notes} by {} others from offset {first} on", others.len()));
    }
    (!said.is_empty()).then(|| format!("not shown: {}", said.join(", ")))
}
