//! The report of a change: a few lines for the model, a diff for people.

use serde_json::json;
use sortie_protocol::ToolOutput;
use sortie_protocol::file_name::spelled;

use super::file_change::{EditKind, FileChange};
use super::file_text::Ends;
use crate::answer::Answer;
use crate::answer::diff;
use crate::answer::diff::{Diff, Sides, shortened};
use crate::answer::phrases::counted;

/// Limits of the new text shown to the model: lines around a change, lines of one change, changes.
const CONTEXT_LINES: usize = 2;
const MAX_HUNK_LINES: usize = 14;
const MAX_HUNKS: usize = 3;

/// The output for a change that was made.
pub(super) fn done(mut answer: Answer, change: &FileChange) -> ToolOutput {
    let path = answer.name(&change.path);
    answer.resolved(&change.path);
    let diff = Diff::new(change.before.original(), &change.after.text);
    let (n_added, n_removed) = (diff.n_added(), diff.n_removed());
    answer.put("applied", || {
        let n_replacements = match change.after.kind {
            EditKind::Replaced { n_replacements } => n_replacements,
            EditKind::Wrote => 0,
        };
        json!({
            "created": change.is_creation(),
            "replacements": n_replacements,
            "lines_added": n_added,
            "lines_removed": n_removed,
        })
    });
    if change.is_void() {
        answer.line(&format!("{path} has exactly this content already; nothing was written"));
        return answer.done(format!("{path}: unchanged"));
    }
    let n_lines = counted(change.after.text.split_inclusive('\n').count(), "line", "lines");
    let (head, for_people) = match change.after.kind {
        _ if change.is_creation() => (format!("Created {path} ({n_lines})"), format!("{path}: new, {n_lines}")),
        EditKind::Wrote => (format!("Wrote {path} ({n_lines})"), format!("{path}: +{n_added} -{n_removed}")),
        EditKind::Replaced { n_replacements } => {
            let replacements = counted(n_replacements, "replacement", "replacements");
            (format!("Edited {path} ({replacements})"), format!("{path}: +{n_added} -{n_removed}"))
        }
    };
    answer.line(&head);
    match change.after.kind {
        EditKind::Replaced { .. } if !change.is_creation() => show(&mut answer, &diff),
        EditKind::Replaced { .. } => {}
        EditKind::Wrote => note_ends(&mut answer, change),
    }
    if let Some(note) = &change.note {
        answer.note(note);
    }
    let files_changed = vec![spelled(&change.path)];
    ToolOutput { files_changed, diff: Some(unified(change, &diff)), ..answer.done(for_people) }
}

/// The diff of a possible change.
pub(super) fn preview(change: &FileChange) -> String {
    if change.is_void() {
        return format!("{} would stay unchanged\n", spelled(&change.path));
    }
    unified(change, &Diff::new(change.before.original(), &change.after.text))
}

fn unified(change: &FileChange, diff: &Diff<'_>) -> String {
    let sides = if change.is_creation() { Sides::Created } else { Sides::Both };
    diff.unified(&spelled(&change.path), sides, diff::MAX_BYTES)
}

/// Shows the changed places as Read would show them now.
fn show(answer: &mut Answer, diff: &Diff<'_>) {
    let hunks = diff.hunks(CONTEXT_LINES);
    for (index, hunk) in hunks.iter().take(MAX_HUNKS).enumerate() {
        if index > 0 {
            answer.line("…");
        }
        let n_lines = hunk.after.len();
        let is_long = n_lines > MAX_HUNK_LINES;
        for (at, line) in diff.after()[hunk.after.clone()].iter().enumerate() {
            if is_long && at == MAX_HUNK_LINES / 2 {
                answer.line("…");
            }
            if !is_long || at < MAX_HUNK_LINES / 2 || at + MAX_HUNK_LINES / 2 >= n_lines {
                let number = diff.n_skipped() + hunk.after.start + at + 1;
                answer.line(&format!("{number}\t{}", shortened(line.trim_end_matches(['\r', '\n']))));
            }
        }
    }
    if hunks.len() > MAX_HUNKS {
        answer.note(format!("{} more changed places are not shown", hunks.len() - MAX_HUNKS));
    }
}

/// Notes that the file's line ends differ from the given ones.
fn note_ends(answer: &mut Answer, change: &FileChange) {
    match change.before.ends() {
        Ends::Crlf if change.after.text.contains("\r\n") => answer.note("its lines end with CRLF, as before"),
        Ends::Mixed => answer.note("some of its lines end with CRLF, as before"),
        Ends::Crlf | Ends::Lf => {}
    }
}
