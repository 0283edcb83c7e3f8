//! Origin of a value: a default, a file, a variable or a flag.

use std::fmt;
use std::path::PathBuf;

/// Where a value was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    /// The default of the contract in use.
    Contract(&'static str),
    File {
        path: PathBuf,
        line: usize,
        owner: Owner,
    },
    Variable {
        name: String,
        /// The file and line it was read from, when it is not in the process's own environment.
        file: Option<(PathBuf, usize)>,
        owner: Owner,
    },
    Flag(&'static str),
}

/// Whose word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    User,
    Project,
}

impl Origin {
    /// Whether it is a project's own word.
    pub(crate) fn is_projects(&self) -> bool {
        matches!(self, Self::File { owner: Owner::Project, .. } | Self::Variable { owner: Owner::Project, .. })
    }

    /// The place of its layer: a higher one wins over a lower one.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Default | Self::Contract(_) => 0,
            Self::File { owner: Owner::User, .. } => 1,
            Self::File { owner: Owner::Project, .. } => 2,
            Self::Variable { owner: Owner::Project, .. } => 3,
            Self::Variable { owner: Owner::User, .. } => 4,
            Self::Flag(_) => 5,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Contract(name) => write!(f, "contract {name}"),
            Self::File { path, line, .. } => write!(f, "{}:{line}", path.display()),
            Self::Variable { name, file: None, .. } => f.write_str(name),
            Self::Variable { name, file: Some((path, line)), .. } => write!(f, "{name} ({}:{line})", path.display()),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}
