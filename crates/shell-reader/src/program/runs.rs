//! Programs and lines run by a command, and the variables it sets for them.

use crate::findings::Word;

/// The commands and lines that a program runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    pub(crate) commands: Vec<Vec<Word>>,
    /// Lines for a shell.
    pub(crate) scripts: Vec<Word>,
    /// True if the program does nothing but run them.
    pub(crate) transparent: bool,
    /// True if it may run something else.
    pub(crate) unclear: bool,
    /// Variables it sets for them.
    pub(crate) variables: Vec<Variable>,
}

/// A variable that a program sets for another.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// The value, if it is known.
    pub(crate) value: Option<String>,
    /// True if the whole value is known and spelled as people do.
    pub(crate) is_plain: bool,
}

impl Runs {
    /// Stands for something unknown.
    pub(super) fn unclear() -> Self {
        Self { unclear: true, ..Self::default() }
    }
}

impl Variable {
    /// The variable that a word `NAME=value` sets.
    pub(crate) fn of(word: &Word) -> Self {
        let (name, value) = word.text().and_then(|text| text.split_once('=')).unzip();
        Self {
            name: name.unwrap_or_default().to_owned(),
            value: value.map(str::to_owned),
            is_plain: matches!(word, Word::Plain(_)),
        }
    }
}
