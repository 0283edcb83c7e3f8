//! A line as a tree: its commands, and how one follows another.

use crate::findings::Word;

/// Commands one after the other.
pub(crate) type List = Vec<Item>;

#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Then, Pipeline)>,
    pub(crate) background: bool,
}

/// The condition on which the next pipeline of an item runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    OnSuccess,
    OnFailure,
}

#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) negated: bool,
    pub(crate) commands: Vec<Command>,
}

#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) shape: Shape,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(crate) enum Shape {
    Simple {
        assignments: Vec<Assignment>,
        words: Vec<Spelled>,
    },
    Group(List),
    Subshell(List),
    If {
        branches: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    While {
        condition: List,
        body: List,
    },
    For {
        /// The variable.
        name: String,
        words: Vec<Spelled>,
        body: List,
    },
    Case {
        /// The subject and all patterns.
        words: Vec<Spelled>,
        arms: Vec<List>,
    },
    /// `[[ … ]]`
    Test(Vec<Spelled>),
    Function(Box<Command>),
}

#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: Spelled,
}

/// A word as it was spelled.
#[derive(Debug)]
pub(crate) struct Spelled {
    pub(crate) word: Word,
    /// True if it has no quotes, escapes or expansions.
    pub(crate) bare: bool,
    /// Commands run by its substitutions.
    pub(crate) runs: Vec<List>,
}

impl Spelled {
    /// Returns its text if it is bare, as reserved words must be.
    pub(crate) fn bare_text(&self) -> Option<&str> {
        self.word.text().filter(|_| self.bare)
    }
}

#[derive(Debug)]
pub(crate) enum Redirect {
    Write(Spelled),
    Read(Spelled),
    /// A duplicated file descriptor.
    Duplicate,
    /// A text as input, with the commands run by its substitutions.
    Text(Vec<List>),
}

/// Returns the words of a list that is exactly one simple command.
pub(crate) fn only_words(list: &List) -> Option<&[Spelled]> {
    let [Item { first: Pipeline { negated: false, commands }, rest, background: false }] = &list[..] else {
        return None;
    };
    match &commands[..] {
        [Command { shape: Shape::Simple { assignments, words }, redirects }]
            if rest.is_empty() && assignments.is_empty() && redirects.is_empty() =>
        {
            Some(words)
        }
        _ => None,
    }
}
