//! `SteeringFiles`: files that steer git, shells, editors and agents, reported if they appear or change during a
//! command.
//!
//! Walls protect the files that exist and the most dangerous names. They cannot keep an absent name free without a
//! placeholder that everyone would see. So those names are looked up before and after each command: at the top of each
//! tree, and in git directories. A user may have made the change meanwhile; that cannot be distinguished.

use sortie_protocol::file_name::spelled;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sortie_policy::{Protected, protected, protected_from_commands, protected_names, wall_names};
use sortie_sandbox::{Entries, FileKind, Stamp, Workspace};

use super::repositories::named;
use super::snapshot::Difference;
use super::snapshot::is_git;
use crate::port::shell_reach::Repositories;

/// Git itself creates this for another working tree.
const COMMON: &str = "commondir";

/// Files whose names steer something, by their paths in the workspace.
#[derive(Debug, Default)]
pub(super) struct SteeringFiles(BTreeMap<PathBuf, Look>);

/// The state of one name.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// An empty directory counts as absent: it may be a placeholder.
    sight: Option<Sight>,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    File(Stamp),
    Directory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The top of a tree.
    Top,
    /// A git directory.
    Git,
    /// One of the workspace's own git directories, where the file has no ordinary use.
    Useless,
}

/// New or changed steering files: sorted and not nested.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Steered {
    pub(super) told: Vec<PathBuf>,
    /// New files that should not stay.
    pub(super) useless: Vec<PathBuf>,
}

impl SteeringFiles {
    pub(super) fn look(workspace: &Workspace, bases: &[PathBuf], repositories: &Repositories) -> Self {
        let mut steering = Self::default();
        for base in bases {
            steering.add(workspace, base, protected_names().map(|name| (name, Place::Top)));
        }
        let names = wall_names();
        let kept = || names.git_directories.iter().map(|name| (*name, Place::Git));
        let others = |place: Place| names.git_others.iter().map(move |name| (*name, place));
        for git in repositories.top.iter().chain(&repositories.modules) {
            steering.add(workspace, &named(workspace, git), kept().chain(others(Place::Useless)));
        }
        for git in &repositories.worktrees {
            let others = others(Place::Useless).filter(|(name, _)| *name != COMMON);
            steering.add(workspace, &named(workspace, git), kept().chain(others));
        }
        for git in &repositories.nested {
            steering.add(workspace, &named(workspace, git), kept().chain(others(Place::Git)));
        }
        steering
    }

    fn add<'a>(&mut self, workspace: &Workspace, base: &Path, names: impl Iterator<Item = (&'a str, Place)>) {
        let Ok(top) = workspace.read_dir(base) else { return };
        for (name, place) in names {
            let path = base.join(name);
            let sight = match Path::new(name).parent().filter(|parent| !parent.as_os_str().is_empty()) {
                Some(parent) => {
                    let within = workspace.read_dir(&base.join(parent)).ok();
                    within.and_then(|within| sight(workspace, &within, &path))
                }
                None => sight(workspace, &top, &path),
            };
            self.0.insert(path, Look { sight, place });
        }
    }

    /// Compares with `after`, a later look at the same places, and returns new or changed steering files. Includes
    /// those that the comparison of snapshots found.
    pub(super) fn compare(&self, after: &Self, difference: Option<&Difference>, workspace: &Workspace) -> Steered {
        let mut steered = Steered::default();
        for (path, look) in &after.0 {
            let before = self.0.get(path);
            match (before.and_then(|before| before.sight), look.sight) {
                (None, Some(_)) if look.place == Place::Useless => steered.useless.push(path.clone()),
                // In a repository that is itself new and reported as such.
                (None, Some(_)) if before.is_none() => {}
                (before, Some(after)) if before != Some(after) => steered.told.push(path.clone()),
                _ => {}
            }
        }
        if let Some(Difference { appeared, altered, .. }) = difference {
            let steers = |path: &&PathBuf| what(path).is_some();
            let holds = |path: &&PathBuf| workspace.read_dir(path).map_or(true, |mut found| found.next().is_some());
            steered.told.extend(appeared.iter().filter(steers).filter(holds).cloned());
            steered.told.extend(altered.iter().filter(steers).cloned());
        }
        outermost(&mut steered.told);
        steered
    }
}

impl Steered {
    /// Returns the words for a person and a model, if there are any files.
    pub(super) fn words(&self) -> Option<String> {
        const MAX_NAMED: usize = 5;
        let shown = |path: &PathBuf| {
            let name = spelled(path);
            format!("`{name}` ({})", what(path).map_or("git's own files", |protected| protected.what()))
        };
        let named: Vec<String> = self.told.iter().take(MAX_NAMED).map(shown).collect();
        let n_more = self.told.len().saturating_sub(MAX_NAMED);
        let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
        let (were, them) = if self.told.len() == 1 { ("was", "it") } else { ("were", "them") };
        let named = Some(named.join(", ")).filter(|named| !named.is_empty())?;
        Some(format!("{named}{more} {were} created or changed while a command ran: check {them} before you continue"))
    }
}

fn sight(workspace: &Workspace, within: &Entries, path: &Path) -> Option<Sight> {
    let stamp = within.stamp(path.file_name()?)?;
    if stamp.kind != FileKind::Directory {
        return Some(Sight::File(stamp));
    }
    // A directory that cannot be listed is not a placeholder.
    let holds_something = workspace.read_dir(path).map_or(true, |mut entries| entries.next().is_some());
    holds_something.then_some(Sight::Directory)
}

/// Returns the kind of a path that steers something. For a git directory, only the directory itself counts, or the file
/// in its place.
fn what(path: &Path) -> Option<Protected> {
    protected_from_commands(path).or_else(|| protected(path).filter(|_| is_git(path)))
}

/// Sorts the paths and drops those inside others.
fn outermost(paths: &mut Vec<PathBuf>) {
    paths.sort_unstable();
    paths.dedup_by(|later, earlier| later.starts_with(&*earlier));
}
