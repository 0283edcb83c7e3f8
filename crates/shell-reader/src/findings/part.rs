//! One command of a line, and the words that make its program do more than a rule for it means.

use std::path::PathBuf;

use super::{WhyNot, Word};

/// One command that a line could execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The program and its arguments. An unknown word stands for any number of words.
    pub words: Vec<Word>,
    /// Working directory, if it is a single known one.
    pub directory: Option<PathBuf>,
    /// The words that make its program do more than a rule for it means.
    pub armed: Vec<Armed>,
    /// True if it only runs another part, as `nice` and `timeout` do.
    pub transparent: bool,
    /// The part that runs this one.
    pub runner: Option<usize>,
}

/// A word that makes a program do more than a rule for it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Armed {
    /// Position of the word. A missing word counts as the position after the last one.
    pub at: usize,
    pub arming: Arming,
}

/// Effect of an armed program, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arming {
    /// Executes something that is not judged.
    Runs,
    /// Writes, replaces or removes unknown files.
    Spills,
    /// Writes the file that the word names; that file is judged.
    Writes,
    /// Obeys other settings or works elsewhere.
    Turns,
}

impl Part {
    /// Returns a part that stands for any command.
    pub(crate) fn anything() -> Self {
        Self { words: vec![Word::Unknown], directory: None, armed: Vec::new(), transparent: false, runner: None }
    }

    /// Returns the reason why this part, with known words, could execute anything.
    pub fn runs_anything(&self) -> Option<WhyNot> {
        self.armed_by(Arming::Runs).map(|(program, word)| WhyNot::Runs { program, word })
    }

    /// Returns the reason why this part could write any file.
    pub fn writes_anything(&self) -> Option<WhyNot> {
        self.armed_by(Arming::Spills).map(|(program, word)| WhyNot::Spills { program, word })
    }

    /// Returns its program and the first word with this arming.
    fn armed_by(&self, arming: Arming) -> Option<(String, Option<String>)> {
        let armed = self.armed.iter().find(|armed| armed.arming == arming)?;
        let text = |at: usize| self.words.get(at).and_then(Word::text).map(str::to_owned);
        Some((text(0).unwrap_or_default(), text(armed.at)))
    }
}
