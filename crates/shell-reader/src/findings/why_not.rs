//! The reason why a line is not fully understood, in words for people.

use std::fmt;

use super::{MAX_BYTES, MAX_PARTS, printable};

/// The reason why a line is not fully understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyNot {
    TooLong,
    TooManyParts,
    /// Syntax that is not supported.
    Unread(&'static str),
    /// A word known only when the line runs.
    UnknownWord,
    /// A word spelled as people do not spell it.
    Respelled(String),
    /// A builtin command that affects what the shell does next, or runs its arguments.
    Builtin(String),
    /// A variable that is set.
    Variable(String),
    /// A directory known only when the line runs.
    Directory,
    /// A file known only when the line runs.
    File,
    /// A wrapper whose command is not clear.
    Wrapper(String),
    /// A program executes something that is not judged, because of this word or, without one, by itself.
    Runs {
        program: String,
        word: Option<String>,
    },
    /// A program writes unknown files, because of this word or, without one, by itself.
    Spills {
        program: String,
        word: Option<String>,
    },
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "it is longer than {MAX_BYTES} bytes"),
            Self::TooManyParts => write!(f, "it has more than {MAX_PARTS} commands"),
            Self::Unread(what) => write!(f, "it has {what}"),
            Self::UnknownWord => f.write_str("it has a word that is known only when it runs"),
            Self::Respelled(word) => write!(f, "`{}` is spelled in an unusual way", printable(word)),
            Self::Builtin(name) => write!(f, "`{name}` can run or change anything that follows"),
            Self::Variable(name) => write!(f, "it sets the variable `{}`", printable(name)),
            Self::Directory => f.write_str("the directory it would run in is unknown"),
            Self::File => f.write_str("a file it would write is unknown"),
            Self::Wrapper(name) => write!(f, "it is not clear what `{name}` would run"),
            Self::Runs { program, word: Some(word) } => {
                write!(f, "`{}` can make `{}` run something else", printable(word), printable(program))
            }
            Self::Runs { program, word: None } => write!(f, "`{}` runs what it reads", printable(program)),
            Self::Spills { program, word: Some(word) } => {
                write!(f, "`{}` can make `{}` write other files", printable(word), printable(program))
            }
            Self::Spills { program, word: None } => {
                write!(f, "`{}` may write unknown files", printable(program))
            }
        }
    }
}
