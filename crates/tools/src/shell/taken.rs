//! What a command made although no agent may: taken away after it.
//!
//! The walls keep commands from what is there. They cannot keep a name free that is absent without putting something in
//! its place, which for names of files would be seen by everyone. So those are looked for afterwards.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use sortie_mutant::is_out;
use sortie_sandbox::{FileKind, SpillDir, Workspace};

use super::ShellReach;
use super::snapshot::Snapshot;
use crate::answer::explain;

/// Files in one hidden directory that are looked at.
const MAX_FILES: usize = 1000;

/// What was done about protected names.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// What is no longer there.
    pub(super) paths: Vec<PathBuf>,
    /// What a model and a person should know.
    pub(super) notes: Vec<String>,
}

/// Takes away what has appeared under a protected name.
pub(super) fn take_away(
    workspace: &Workspace,
    reach: &dyn ShellReach,
    spill: &SpillDir,
    (after, appeared): (&Snapshot, &[PathBuf]),
) -> Taken {
    let mut taken = Taken::default();
    for path in appeared {
        let Some(what) = reach.protects(path).filter(|_| !is_out("taken-away")) else { continue };
        let files = if after.is_ignored_directory(path) { files_in(workspace, path) } else { vec![path.clone()] };
        for file in files {
            let name = file.to_string_lossy().replace(char::is_control, "\u{fffd}");
            match workspace.take_away(&file, spill) {
                Ok(place) => {
                    let place = place.display();
                    taken.notes.push(format!(
                        "`{name}` was taken away: it is {what}, which no agent may make; {place} has it"
                    ));
                    taken.paths.push(file);
                }
                Err(error) => {
                    let error = explain(&error);
                    taken.notes.push(format!(
                        "`{name}` is {what}, which no agent may make, and could not be taken away ({error}); remove it by hand"
                    ));
                }
            }
        }
    }
    taken
}

/// All that lies in a directory, whatever ignore files say, within a bound.
fn files_in(workspace: &Workspace, directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut queue = VecDeque::from([directory.to_owned()]);
    while let Some(directory) = queue.pop_front() {
        let Ok(entries) = workspace.read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            let path = directory.join(&entry.name);
            match entry.kind {
                FileKind::Directory => queue.push_back(path),
                _ => files.push(path),
            }
            if files.len() + queue.len() > MAX_FILES {
                return files;
            }
        }
    }
    files
}
