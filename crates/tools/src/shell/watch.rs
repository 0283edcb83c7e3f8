//! What a command does to the files of the workspace, seen by looking before and after.

use std::path::PathBuf;

use sortie_mutant::is_out;
use sortie_sandbox::Workspace;
use sortie_sandbox::process::Tier;
use tokio_util::sync::CancellationToken;

use super::Repositories;
use super::changes::CommandSpan;
use super::finished;
use super::launcher::Launcher;
use super::repositories::{is_bare, is_repository, named};
use super::snapshot::{Difference, Snapshot};
use super::steering::Steering;
use super::taken::take_away;

/// What is compared when a command has ended.
pub(super) struct Watch {
    tier: Tier,
    writable: Vec<PathBuf>,
    /// The same as the workspace names them.
    bases: Vec<PathBuf>,
    before: State,
    /// Whether git took the root for a working tree.
    was_repository: bool,
    span: CommandSpan,
}

/// How things are at one moment.
struct State {
    snapshot: Snapshot,
    repositories: Repositories,
    steering: Steering,
    /// Those of the bases that git would take for a git directory.
    bare: Vec<PathBuf>,
}

impl State {
    /// `known` are repositories that are looked at even if nothing leads there any more.
    fn new(
        workspace: &Workspace,
        (writable, bases): (&[PathBuf], &[PathBuf]),
        known: &Repositories,
        cancel: &CancellationToken,
    ) -> Self {
        let snapshot = Snapshot::take(workspace, bases, cancel);
        let repositories = Repositories::find(workspace, writable, &snapshot).and(known);
        let steering = Steering::look(workspace, bases, &repositories);
        let bare = bases.iter().filter(|base| is_bare(workspace, base)).cloned().collect();
        Self { snapshot, repositories, steering, bare }
    }
}

impl Watch {
    /// Looks at the directories that a command may write in before it starts.
    pub(super) fn begin(
        launcher: &Launcher,
        workspace: &Workspace,
        (tier, writable): (Tier, Vec<PathBuf>),
        cancel: &CancellationToken,
    ) -> Self {
        let span = launcher.changes.command(launcher.owner);
        let bases: Vec<PathBuf> = writable.iter().map(|path| named(workspace, path)).collect();
        let before = State::new(workspace, (&writable, &bases), &Repositories::default(), cancel);
        let was_repository = is_repository(workspace, &before.repositories);
        Self { tier, writable, bases, before, was_repository, span }
    }

    pub(super) fn repositories(&self) -> &Repositories {
        &self.before.repositories
    }

    /// The command did not start after all.
    pub(super) fn call_off(self) {
        self.span.end(Some(&[]));
    }

    /// What people should look at; of the worst, only where it was.
    fn told(
        &self,
        after: &State,
        difference: Option<&Difference>,
        workspace: &Workspace,
        launcher: &Launcher,
    ) -> Vec<String> {
        let mut steered = self.before.steering.compare(&after.steering, difference, workspace);
        if self.tier == Tier::None {
            // Who wants no walls wants nothing taken away either.
            steered.told.append(&mut steered.useless);
        }
        let mut told = Vec::new();
        told.extend(take_away(workspace, &launcher.setup.spill, &steered.useless));
        told.extend(steered.words().filter(|_| !is_out("told-names")));
        if self.was_repository && !is_repository(workspace, &after.repositories) {
            told.push(
                "the workspace was a repository and is none any more: look at `.git` before you use git".to_owned(),
            );
        }
        if after.bare.iter().any(|base| !self.before.bare.contains(base)) {
            told.push(
                "`HEAD`, `objects` and `refs` were made at the top, which git may take for a repository: look at them \
                 before you use git"
                    .to_owned(),
            );
        }
        let lack = self.before.repositories.lack.as_ref();
        told.extend(lack.map(|lack| format!("not every repository in the tree was kept as it is ({lack})")));
        told
    }

    /// Looks at what the command has changed; says what there is to say of it.
    pub(super) fn end(self, launcher: &Launcher, workspace: &Workspace, notes: &mut Vec<String>) -> Vec<PathBuf> {
        // Also after a command that was cancelled: what it did is done.
        let places = (&self.writable[..], &self.bases[..]);
        let after = State::new(workspace, places, &self.before.repositories, &CancellationToken::new());
        let difference = self.before.snapshot.compare(&after.snapshot);
        let mut told = self.told(&after, difference.as_ref().ok(), workspace, launcher);
        let changed = match difference {
            Ok(difference) => {
                notes.extend(difference.note);
                Some(difference.changed)
            }
            Err(lack) => {
                told.push(format!(
                    "not all files were looked at ({lack}): which of them it changed is not listed, and repositories and \
                     protected names deeper in the tree were not watched over"
                ));
                None
            }
        };
        let shared = self.span.end(changed.as_deref());
        for told in told {
            launcher.notice(told.clone());
            notes.push(told);
        }
        if !shared.is_empty() {
            let names = finished::named(&shared);
            notes.push(format!("shared: other tasks changed files at the same time, and these may be theirs: {names}"));
            launcher.notice(format!(
                "shared: tasks changed files at the same time, and which of them changed these is not known: {names}"
            ));
        }
        changed.unwrap_or_default()
    }
}
