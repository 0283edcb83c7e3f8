//! `Ahead`: the rest of a walk, in path order, and its next step.
//!
//! Files leave it strictly in order. Directories may be listed before their turn, so that no thread waits for another.
//! It does not access files itself.

use std::collections::HashMap;
use std::path::Path;

use super::directory::Directory;
use super::summary::WalkSummary;

/// Maximum number of files handed out together.
const MAX_BATCH: usize = 16;
/// Number of nodes searched for directories to list before their turn.
const LOOK_AHEAD: usize = 256;
/// Most entries listed ahead; beyond this, no further directory is listed before its turn.
const MAX_ENTRIES_AHEAD: usize = 10_000;

pub(super) struct Ahead {
    /// Nodes in reverse order: the next one is last.
    nodes: Vec<Node>,
    /// Directories listed ahead of the walk, by number.
    listed: HashMap<usize, Visit>,
    n_entries_listed: usize,
    n_directories: usize,
    n_files: usize,
    max_entries: usize,
    /// Counts of everything the walk has passed.
    pub(super) found: WalkSummary,
}

enum Node {
    File(Box<Path>),
    /// `None` once a thread lists it.
    Directory(usize, Option<Directory>),
}

/// The contribution of one directory to a walk.
#[derive(Default)]
pub(super) struct Visit {
    /// Excludes the files of subdirectories.
    pub(super) found: WalkSummary,
    /// In name order.
    pub(super) children: Vec<Child>,
}

pub(super) enum Child {
    File(Box<Path>),
    Directory(Directory),
}

/// The next step for a thread.
pub(super) enum Next {
    /// Work on these files; the first of them has this number.
    Files(usize, Vec<Box<Path>>),
    /// List this directory and deliver its entries under this number.
    List(usize, Directory),
    /// Wait until another thread has delivered a listing.
    Wait,
    Nothing,
}

impl Ahead {
    /// A walk of at most `max_entries` that begins with the entries of `base`.
    pub(super) fn new(base: Visit, max_entries: usize) -> Self {
        let mut ahead = Self {
            nodes: Vec::new(),
            listed: HashMap::new(),
            n_entries_listed: 0,
            n_directories: 0,
            n_files: 0,
            max_entries,
            found: WalkSummary::default(),
        };
        ahead.enter(base);
        ahead
    }

    /// True if one thread finishes it before others could start.
    pub(super) fn is_small(&self) -> bool {
        const FEW: usize = 8;
        self.nodes.len() < FEW && self.nodes.iter().all(|node| matches!(node, Node::File(_)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn next(&mut self) -> Next {
        let files = self.take_files();
        if !files.is_empty() {
            let first = self.n_files;
            self.n_files += files.len();
            return Next::Files(first, files);
        }
        if self.is_empty() {
            return Next::Nothing;
        }
        self.take_directory().map_or(Next::Wait, |(number, directory)| Next::List(number, directory))
    }

    /// Returns the next files, up to a directory that is not listed yet.
    fn take_files(&mut self) -> Vec<Box<Path>> {
        let mut files = Vec::new();
        while files.len() < MAX_BATCH {
            let is_ready = |node: &mut Node| match node {
                Node::File(_) => true,
                Node::Directory(number, _) => self.listed.contains_key(number),
            };
            match self.nodes.pop_if(is_ready) {
                Some(Node::File(path)) => files.push(path),
                Some(Node::Directory(number, _)) => {
                    let visit = self.listed.remove(&number).unwrap_or_default();
                    self.n_entries_listed -= visit.found.n_entries;
                    self.enter(visit);
                }
                None => break,
            }
        }
        files
    }

    /// Returns the nearest directory that no thread has begun to list.
    fn take_directory(&mut self) -> Option<(usize, Directory)> {
        let reach = if self.n_entries_listed > MAX_ENTRIES_AHEAD { 1 } else { LOOK_AHEAD };
        self.nodes.iter_mut().rev().take(reach).find_map(|node| match node {
            Node::Directory(number, directory) => Some((*number, directory.take()?)),
            Node::File(_) => None,
        })
    }

    /// Stores the entries of the directory with this number until the walk reaches it.
    pub(super) fn listed(&mut self, number: usize, visit: Visit) {
        self.n_entries_listed += visit.found.n_entries;
        self.listed.insert(number, visit);
    }

    /// Enters a directory. If that exceeds the limit, the walk ends before it.
    fn enter(&mut self, visit: Visit) {
        let Visit { found, children } = visit;
        if self.found.n_entries + found.n_entries > self.max_entries {
            self.found.is_full = true;
            self.nodes.clear();
            return;
        }
        self.found.add(&found);
        for child in children.into_iter().rev() {
            self.nodes.push(match child {
                Child::File(path) => Node::File(path),
                Child::Directory(directory) => {
                    self.n_directories += 1;
                    Node::Directory(self.n_directories, Some(directory))
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with these entries; names that end in `/` are directories.
    fn visit(names: &[&str]) -> Visit {
        let child = |name: &&str| match name.strip_suffix('/') {
            Some(name) => Child::Directory(Directory::without_rules(name)),
            None => Child::File(Path::new(name).into()),
        };
        let found = WalkSummary { n_entries: names.len(), ..WalkSummary::default() };
        Visit { found, children: names.iter().map(child).collect() }
    }

    fn shown(next: Next) -> String {
        match next {
            Next::Files(first, files) => {
                let files: Vec<_> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
                format!("from {first}: {}", files.join(" "))
            }
            Next::List(number, directory) => format!("list {number}: {}", directory.path.display()),
            Next::Wait => "wait".to_owned(),
            Next::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn files_leave_in_order_although_directories_return_out_of_order() {
        let mut ahead = Ahead::new(visit(&["a", "b/", "c/", "d"]), 100);
        assert_eq!(shown(ahead.next()), "from 0: a");
        assert_eq!(shown(ahead.next()), "list 2: b");
        assert_eq!(shown(ahead.next()), "list 1: c", "before its turn");
        assert_eq!(shown(ahead.next()), "wait", "d must not leave before what is in b");
        ahead.listed(1, visit(&["c/1", "c/2"]));
        assert_eq!(shown(ahead.next()), "wait");
        ahead.listed(2, visit(&["b/1", "b/2/"]));
        assert_eq!(shown(ahead.next()), "from 1: b/1");
        assert_eq!(shown(ahead.next()), "list 3: b/2");
        ahead.listed(3, visit(&[]));
        assert_eq!(shown(ahead.next()), "from 2: c/1 c/2 d");
        assert_eq!(shown(ahead.next()), "nothing");
        assert_eq!(ahead.found.n_entries, 8);
    }

    #[test]
    fn no_further_directory_is_listed_ahead_once_the_limit_is_reached() {
        let mut ahead = Ahead::new(visit(&["a/", "b/", "c/"]), usize::MAX);
        assert_eq!(shown(ahead.next()), "list 3: a");
        assert_eq!(shown(ahead.next()), "list 2: b");
        ahead.listed(2, visit(&vec!["b/x"; MAX_ENTRIES_AHEAD + 1]));
        assert_eq!(shown(ahead.next()), "wait");
        ahead.listed(3, visit(&[]));
        assert!(shown(ahead.next()).starts_with("from 0: b/x"));
    }
}
