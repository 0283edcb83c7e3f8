//! The directories in which a command may run, and the files that its words name from there.

use std::path::{Component, Path, PathBuf};

use crate::findings::Target;

/// More possible directories than this count as unknown.
const MOST: usize = 4;

/// The directories in which a command may run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Location {
    /// Empty if unknown.
    directories: Vec<PathBuf>,
    /// Directory at the start of the line. Neither its path nor those above it contain a symbolic link.
    start: Option<PathBuf>,
}

/// The shell's directory after a command, by success or failure.
#[derive(Debug, Clone)]
pub(super) struct After {
    pub(super) success: Location,
    pub(super) failure: Location,
}

impl After {
    pub(super) fn either(location: Location) -> Self {
        Self { failure: location.clone(), success: location }
    }

    pub(super) fn any(self) -> Location {
        self.success.or(self.failure)
    }
}

impl Location {
    pub(super) fn new(directory: Option<&Path>) -> Self {
        let start = directory.map(Path::to_owned);
        Self { directories: start.iter().cloned().collect(), start }
    }

    pub(super) fn unknown() -> Self {
        Self::default()
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.directories.is_empty()
    }

    /// Returns the directory if there is exactly one.
    pub(super) fn only(&self) -> Option<&Path> {
        if let [only] = &self.directories[..] { Some(only) } else { None }
    }

    /// Merges the directories of both.
    pub(super) fn or(mut self, other: Self) -> Self {
        if self.is_unknown() || other.is_unknown() {
            return Self::unknown();
        }
        for directory in other.directories {
            if !self.directories.contains(&directory) {
                self.directories.push(directory);
            }
        }
        if self.directories.len() > MOST { Self::unknown() } else { self }
    }

    /// The location after `cd` with this word. The shell resolves `..` by name, without following links.
    pub(super) fn entered(&self, word: &str) -> Self {
        let directories = self.directories.iter().map(|directory| after_cd(directory, word)).collect();
        Self { directories, start: self.start.clone() }
    }

    /// Returns the files that a word may name.
    pub(super) fn targets(&self, word: &str) -> Vec<Target> {
        if word.is_empty() || self.is_unknown() && !word.starts_with('/') {
            return vec![Target::Unknown];
        }
        if word.starts_with('/') {
            return vec![self.target(Path::new("/"), word)];
        }
        self.directories.iter().map(|directory| self.target(directory, word)).collect()
    }

    /// Returns the file that a word names from a directory. `..` after a link leads elsewhere, so it is resolved only
    /// if no link can precede it.
    fn target(&self, directory: &Path, word: &str) -> Target {
        let above = self.start.as_ref().is_some_and(|start| start.starts_with(directory));
        let mut path = directory.to_owned();
        let mut names = 0;
        for component in Path::new(word).components() {
            match component {
                Component::ParentDir if above && names == 0 => {
                    path.pop();
                }
                Component::ParentDir => return Target::Unknown,
                Component::Normal(name) => {
                    names += 1;
                    path.push(name);
                }
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        Target::Path(path)
    }
}

/// Resolves a `cd` operand against a directory, without `.` and `..`.
pub fn after_cd(directory: &Path, word: &str) -> PathBuf {
    let mut entered = PathBuf::new();
    for component in directory.join(word).components() {
        match component {
            Component::ParentDir => {
                entered.pop();
            }
            Component::CurDir => {}
            other => entered.push(other),
        }
    }
    entered
}
