//! A line as it was read: which commands it has, and how one follows another.

use super::Word;

/// Commands one after the other.
pub(super) type List = Vec<Item>;

#[derive(Debug)]
pub(super) struct Item {
    pub(super) first: Pipeline,
    pub(super) rest: Vec<(Then, Pipeline)>,
    pub(super) background: bool,
}

/// When the next pipeline of an item runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    OnSuccess,
    OnFailure,
}

#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) negated: bool,
    pub(super) commands: Vec<Command>,
}

#[derive(Debug)]
pub(super) struct Command {
    pub(super) shape: Shape,
    pub(super) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(super) enum Shape {
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
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) value: Spelled,
}

/// A word as it was spelled.
#[derive(Debug)]
pub(super) struct Spelled {
    pub(super) word: Word,
    /// Whether it has no quotes, escapes or expansions.
    pub(super) bare: bool,
    /// What its substitutions run.
    pub(super) runs: Vec<List>,
}

impl Spelled {
    /// Its text if it stands bare, as words of the language do.
    pub(super) fn bare_text(&self) -> Option<&str> {
        self.word.text().filter(|_| self.bare)
    }
}

#[derive(Debug)]
pub(super) enum Redirect {
    Write(Spelled),
    Read(Spelled),
    /// Another number for an open file.
    Duplicate,
    /// A text as input, with what its substitutions run.
    Text(Vec<List>),
}

/// The words of a list that is one simple command and nothing else.
pub(super) fn only_words(list: &List) -> Option<&[Spelled]> {
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
