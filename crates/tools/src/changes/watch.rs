//! `Watch`: compares the files a command may change before it starts and after it has ended.

use std::path::PathBuf;

use sortie_mutant::is_out;
use sortie_sandbox::process::Tier;
use sortie_sandbox::{SpillDir, Workspace};
use tokio_util::sync::CancellationToken;

use super::concurrent::CommandSpan;
use super::repositories::{find_repositories, is_bare, is_repository, named, united};
use super::snapshot::{Difference, TreeSnapshot};
use super::steering_files::SteeringFiles;
use super::take_away::take_away;
use crate::answer::phrases::named_paths;
use crate::port::shell_reach::Repositories;

/// The state before a command, to compare with the state after it.
pub(crate) struct Watch {
    tier: Tier,
    places: Places,
    before: State,
    /// True if git took the root for a working tree.
    was_repository: bool,
    span: CommandSpan,
}

/// The changes of one command, as far as the files show them.
#[derive(Debug, Default)]
pub(crate) struct Aftermath {
    /// Files created, changed or removed, sorted.
    pub(crate) changed: Vec<PathBuf>,
    /// Notes for the answer to the call.
    pub(crate) notes: Vec<String>,
    /// Notices for the outcome of the task.
    pub(crate) notices: Vec<String>,
}

/// The directories that a command may write in.
struct Places {
    writable: Vec<PathBuf>,
    /// Their names in the workspace.
    bases: Vec<PathBuf>,
}

/// The state of the files at one moment.
struct State {
    snapshot: TreeSnapshot,
    repositories: Repositories,
    steering: SteeringFiles,
    /// The bases that git would take for a git directory.
    bare: Vec<PathBuf>,
}

impl State {
    /// Examines the repositories in `known` even if nothing points to them any more.
    fn new(workspace: &Workspace, places: &Places, known: &Repositories, cancel: &CancellationToken) -> Self {
        let Places { writable, bases } = places;
        let snapshot = TreeSnapshot::take(workspace, bases, cancel);
        let repositories = united(find_repositories(workspace, writable, &snapshot), known);
        let steering = SteeringFiles::look(workspace, bases, &repositories);
        let bare = bases.iter().filter(|base| is_bare(workspace, base)).cloned().collect();
        Self { snapshot, repositories, steering, bare }
    }
}

impl Watch {
    /// Examines the `writable` directories before a command starts.
    pub(crate) fn begin(
        span: CommandSpan,
        workspace: &Workspace,
        tier: Tier,
        writable: Vec<PathBuf>,
        cancel: &CancellationToken,
    ) -> Self {
        let bases = writable.iter().map(|path| named(workspace, path)).collect();
        let places = Places { writable, bases };
        let before = State::new(workspace, &places, &Repositories::default(), cancel);
        let was_repository = is_repository(workspace, &before.repositories);
        Self { tier, places, before, was_repository, span }
    }

    pub(crate) fn repositories(&self) -> &Repositories {
        &self.before.repositories
    }

    /// Called if the command did not start after all.
    pub(crate) fn call_off(self) {
        self.span.end(Some(&[]));
    }

    /// Returns the notices for people. For the worst files, these only say where they were.
    fn told(
        &self,
        after: &State,
        difference: Option<&Difference>,
        workspace: &Workspace,
        spill: &SpillDir,
    ) -> Vec<String> {
        let mut steered = self.before.steering.compare(&after.steering, difference, workspace);
        if self.tier == Tier::None {
            // A user who wants no walls wants nothing removed either.
            steered.told.append(&mut steered.useless);
        }
        let mut told = Vec::new();
        told.extend(take_away(workspace, spill, &steered.useless));
        told.extend(steered.words().filter(|_| !is_out("told-names")));
        if self.was_repository && !is_repository(workspace, &after.repositories) {
            told.push("the workspace is no longer a repository: check `.git` before you use git".to_owned());
        }
        if after.bare.iter().any(|base| !self.before.bare.contains(base)) {
            told.push(
                "`HEAD`, `objects` and `refs` were created at the top, which git may take for a repository: check \
                 them before you use git"
                    .to_owned(),
            );
        }
        let lack = self.before.repositories.lack.as_ref();
        told.extend(lack.map(|lack| format!("not every repository in the tree was protected ({lack})")));
        told
    }

    /// Examines the changes of the command. Useless files are moved to `spill`.
    pub(crate) fn end(self, workspace: &Workspace, spill: &SpillDir) -> Aftermath {
        // Also after a cancelled command: its changes are real.
        let after = State::new(workspace, &self.places, &self.before.repositories, &CancellationToken::new());
        let difference = self.before.snapshot.compare(&after.snapshot);
        let mut notices = self.told(&after, difference.as_ref().ok(), workspace, spill);
        let mut notes = Vec::new();
        let changed = match difference {
            Ok(difference) => {
                notes.extend(difference.note);
                Some(difference.changed)
            }
            Err(lack) => {
                notices.push(format!(
                    "not all files were checked ({lack}): changed files are not listed, and repositories and \
                     protected names deeper in the tree were not watched"
                ));
                None
            }
        };
        let shared = self.span.end(changed.as_deref());
        notes.extend(notices.iter().cloned());
        if !shared.is_empty() {
            let names = named_paths(&shared);
            notes.push(format!("shared: other tasks changed files at the same time, and these may be theirs: {names}"));
            notices.push(format!(
                "shared: tasks changed files at the same time, and it is unknown which of them changed these: {names}"
            ));
        }
        Aftermath { changed: changed.unwrap_or_default(), notes, notices }
    }
}
