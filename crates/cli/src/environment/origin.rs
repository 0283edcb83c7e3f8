//! Origin of a value: a default, a file, a variable or a flag.

use std::fmt;
use std::path::PathBuf;

/// Origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    /// Default of the contract in use.
    Contract(&'static str),
    File {
        path: PathBuf,
        line: usize,
        owner: Owner,
    },
    Variable {
        name: String,
        /// File and line, if the variable is not from the process's own environment.
        file: Option<(PathBuf, usize)>,
        owner: Owner,
    },
    Flag(&'static str),
}

/// Owner of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    User,
    Project,
}

impl Origin {
    /// True if the value is a project's.
    pub(crate) fn is_projects(&self) -> bool {
        matches!(self, Self::File { owner: Owner::Project, .. } | Self::Variable { owner: Owner::Project, .. })
    }

    /// Precedence of its layer: a higher one overrides a lower one.
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
