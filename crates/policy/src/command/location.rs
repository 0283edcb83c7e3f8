//! Where a command would run, and where what it names would lie.

use std::path::{Component, Path, PathBuf};

use super::Target;

/// More directories than this are as good as unknown.
const MOST: usize = 4;

/// The directories in which a command may find itself; none where that is not known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Location(Vec<PathBuf>);

/// Where a command leaves the shell.
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
        Self(directory.map(Path::to_owned).into_iter().collect())
    }

    pub(super) fn unknown() -> Self {
        Self::default()
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.0.is_empty()
    }

    /// The one directory that it is.
    pub(super) fn only(&self) -> Option<&Path> {
        if let [only] = &self.0[..] { Some(only) } else { None }
    }

    /// Either of two.
    pub(super) fn or(mut self, other: Self) -> Self {
        if self.is_unknown() || other.is_unknown() {
            return Self::unknown();
        }
        for directory in other.0 {
            if !self.0.contains(&directory) {
                self.0.push(directory);
            }
        }
        if self.0.len() > MOST { Self::unknown() } else { self }
    }

    /// Where `cd` with this word leads: the shell works out `..` in names, not in links.
    pub(super) fn entered(&self, word: &str) -> Self {
        Self(self.0.iter().map(|directory| entered(directory, word)).collect())
    }

    /// The files that a word may name. `..` behind a link leads elsewhere, so it is not worked out.
    pub(super) fn targets(&self, word: &str) -> Vec<Target> {
        let path = Path::new(word);
        let upwards = path.components().any(|component| component == Component::ParentDir);
        if word.is_empty() || upwards {
            return vec![Target::Unknown];
        }
        if path.is_absolute() {
            return vec![Target::Path(path.components().collect())];
        }
        if self.is_unknown() {
            return vec![Target::Unknown];
        }
        self.0.iter().map(|directory| Target::Path(directory.join(path).components().collect())).collect()
    }
}

/// The directory that a word leads to from another, without `.` and `..`.
pub(crate) fn entered(directory: &Path, word: &str) -> PathBuf {
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
