//! `Changes`: the tasks that change files at the same time.
//!
//! A command's changes are found by comparing files before and after it. That comparison also finds changes by other
//! tasks; this module tells which files may be theirs.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of other tasks' paths kept for one command. Beyond it, all of the command's own changes are in doubt.
const MAX_PATHS: usize = 10_000;

/// The tasks of one engine that change files at the same time.
#[derive(Debug, Default)]
pub struct Changes(Mutex<Present>);

/// Current commands and edits.
#[derive(Debug, Default)]
struct Present {
    n_given: u64,
    commands: HashMap<u64, Command>,
    edits: HashMap<u64, (Owner, PathBuf)>,
}

/// A running command.
#[derive(Debug)]
struct Command {
    owner: Owner,
    others: Others,
}

/// Changes by other tasks while a command ran.
#[derive(Debug, Default)]
struct Others {
    paths: HashSet<PathBuf>,
    /// True if there were more, unknown changes.
    more: bool,
}

/// The identity of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner(u64);

/// A command that may change anything. Dropping it means that its changes are unknown.
#[derive(Debug)]
pub(crate) struct CommandSpan {
    changes: Arc<Changes>,
    number: u64,
}

/// An edit of one file.
#[derive(Debug)]
pub(crate) struct EditSpan {
    changes: Arc<Changes>,
    number: u64,
}

impl Changes {
    pub(crate) fn owner(&self) -> Owner {
        Owner(self.lock().number())
    }

    pub(crate) fn command(self: &Arc<Self>, owner: Owner) -> CommandSpan {
        let mut present = self.lock();
        let number = present.number();
        let edited = present.edits.values().filter(|(editor, _)| *editor != owner).map(|(_, path)| path.clone());
        let others = Others { paths: edited.collect(), more: false };
        present.commands.insert(number, Command { owner, others });
        CommandSpan { changes: Arc::clone(self), number }
    }

    /// Call this before touching the file, and keep the result until the edit is done.
    pub(crate) fn edit(self: &Arc<Self>, owner: Owner, path: &Path) -> EditSpan {
        let mut present = self.lock();
        let number = present.number();
        present.tell_others(owner, Some(&[path.to_owned()]));
        present.edits.insert(number, (owner, path.to_owned()));
        EditSpan { changes: Arc::clone(self), number }
    }

    fn lock(&self) -> MutexGuard<'_, Present> {
        // No update can be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Present {
    fn number(&mut self) -> u64 {
        self.n_given += 1;
        self.n_given
    }

    /// Reports changed paths, or unknown changes, to the running commands of other tasks.
    fn tell_others(&mut self, owner: Owner, changed: Option<&[PathBuf]>) {
        for command in self.commands.values_mut().filter(|command| command.owner != owner) {
            let others = &mut command.others;
            match changed {
                Some(paths) if others.paths.len() + paths.len() <= MAX_PATHS => others.paths.extend(paths.to_vec()),
                _ => others.more = true,
            }
        }
    }

    /// Removes a command and returns those of the paths that another task may have changed.
    fn end(&mut self, number: u64, changed: Option<&[PathBuf]>) -> Vec<PathBuf> {
        let Some(Command { owner, others }) = self.commands.remove(&number) else { return Vec::new() };
        self.tell_others(owner, changed);
        let all = others.more || self.commands.values().any(|command| command.owner != owner);
        let is_shared = |path: &&PathBuf| all || others.paths.contains(*path);
        changed.unwrap_or_default().iter().filter(is_shared).cloned().collect()
    }
}

impl CommandSpan {
    /// Ends the command, which changed these files as far as is known. Returns those that another task may have
    /// changed.
    pub(super) fn end(self, changed: Option<&[PathBuf]>) -> Vec<PathBuf> {
        self.changes.lock().end(self.number, changed)
    }
}

impl Drop for CommandSpan {
    fn drop(&mut self) {
        self.changes.lock().end(self.number, None);
    }
}

impl Drop for EditSpan {
    fn drop(&mut self) {
        self.changes.lock().edits.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_command_that_ran_alone_shares_nothing() {
        let changes = Arc::new(Changes::default());
        let (one, other) = (changes.owner(), changes.owner());
        changes.command(other).end(Some(&paths(&["a"])));
        drop(changes.edit(other, Path::new("a")));
        assert_eq!(changes.command(one).end(Some(&paths(&["a"]))), paths(&[]));
        changes.command(other).end(Some(&paths(&["a"])));
    }

    #[test]
    fn concurrent_changes_by_another_command_are_shared() {
        let changes = Arc::new(Changes::default());
        let (one, other) = (changes.owner(), changes.owner());
        let (long, short) = (changes.command(one), changes.command(other));
        assert_eq!(short.end(Some(&paths(&["a", "b"]))), paths(&["a", "b"]), "the long one may have made them");
        assert_eq!(long.end(Some(&paths(&["b", "c"]))), paths(&["b"]));
    }

    #[test]
    fn only_files_that_another_task_edits_meanwhile_are_shared() {
        let changes = Arc::new(Changes::default());
        let (one, other) = (changes.owner(), changes.owner());
        let before = changes.edit(other, Path::new("a"));
        let command = changes.command(one);
        drop(before);
        drop(changes.edit(other, Path::new("b")));
        drop(changes.edit(one, Path::new("c")));
        assert_eq!(command.end(Some(&paths(&["a", "b", "c", "d"]))), paths(&["a", "b"]));
    }

    #[test]
    fn one_task_shares_nothing_with_itself() {
        let changes = Arc::new(Changes::default());
        let one = changes.owner();
        let (first, second) = (changes.command(one), changes.command(one));
        assert_eq!(first.end(Some(&paths(&["a"]))), paths(&[]));
        assert_eq!(second.end(Some(&paths(&["a"]))), paths(&[]));
    }

    #[test]
    fn unknown_changes_by_another_command_put_everything_in_doubt() {
        let changes = Arc::new(Changes::default());
        let (one, other) = (changes.owner(), changes.owner());
        for forget in [|span: CommandSpan| drop(span), |span: CommandSpan| drop(span.end(None))] {
            let command = changes.command(one);
            forget(changes.command(other));
            assert_eq!(command.end(Some(&paths(&["a"]))), paths(&["a"]));
        }
        let command = changes.command(one);
        changes.command(other).end(Some(&vec![PathBuf::from("b"); MAX_PATHS + 1]));
        assert_eq!(command.end(Some(&paths(&["a"]))), paths(&["a"]));
    }
}
