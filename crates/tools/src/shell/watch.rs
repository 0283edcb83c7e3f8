//! What a command does to the files of the workspace, seen by looking before and after.

use std::path::PathBuf;

use sortie_sandbox::Workspace;
use tokio_util::sync::CancellationToken;

use super::changes::CommandSpan;
use super::finished::named;
use super::launcher::Launcher;
use super::snapshot::{Difference, Snapshot};
use super::taken::take_away;

/// What is compared when a command has ended.
pub(super) struct Watch {
    bases: Vec<PathBuf>,
    before: Snapshot,
    span: CommandSpan,
}

impl Watch {
    /// Looks at the directories that a command may write in, as the workspace names them, before it starts.
    pub(super) fn begin(
        launcher: &Launcher,
        workspace: &Workspace,
        bases: Vec<PathBuf>,
        cancel: &CancellationToken,
    ) -> Self {
        let span = launcher.changes.command(launcher.owner);
        Self { before: Snapshot::take(workspace, &bases, cancel), bases, span }
    }

    /// The command did not start after all.
    pub(super) fn call_off(self) {
        self.span.end(Some(&[]));
    }

    /// Looks at what the command has changed, and takes away what it should not have made.
    pub(super) fn end(self, launcher: &Launcher, workspace: &Workspace, notes: &mut Vec<String>) -> Vec<PathBuf> {
        // Also after a command that was cancelled: what it did is done.
        let after = Snapshot::take(workspace, &self.bases, &CancellationToken::new());
        let Difference { changed, appeared, note } = self.before.compare(&after);
        let taken = take_away(workspace, launcher.reach.as_ref(), &launcher.setup.spill, (&after, &appeared));
        let changed = changed.map(|mut changed| {
            changed.retain(|path| !taken.paths.contains(path));
            changed
        });
        let shared = self.span.end(changed.as_deref());
        notes.extend(note);
        for note in taken.notes {
            launcher.notice(format!("a command went too far: {note}"));
            notes.push(note);
        }
        for path in changed.iter().flatten() {
            if let Some(what) = launcher.reach.protects(path) {
                let note = format!("`{}` was changed although it is {what}, which no agent may change", path.display());
                launcher.notice(format!("a command went too far: {note}"));
                notes.push(note);
            }
        }
        if !shared.is_empty() {
            let names = named(&shared);
            notes.push(format!("shared: other tasks changed files at the same time, and these may be theirs: {names}"));
            launcher.notice(format!(
                "shared: tasks changed files at the same time, and which of them changed these is not known: {names}"
            ));
        }
        changed.unwrap_or_default()
    }
}
