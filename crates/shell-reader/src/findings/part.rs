//! One command of a line, and the words by which its program does more than a rule for it means.

use std::path::PathBuf;

use super::{WhyNot, Word};

/// One command that a line could execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The program and its arguments. An unknown word stands for any number of words.
    pub words: Vec<Word>,
    /// Where it would run, if that is one known directory.
    pub directory: Option<PathBuf>,
    /// The words by which its program does more than a rule for it means.
    pub armed: Vec<Armed>,
    /// Whether all that it does is to run another part, as `nice` and `timeout` do.
    pub transparent: bool,
    /// The part that runs this one.
    pub runner: Option<usize>,
}

/// A word that makes a program do more than a rule for it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Armed {
    /// The position of the word; that behind the last one where it is a word that is missing.
    pub at: usize,
    pub arming: Arming,
}

/// What an armed program does, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arming {
    /// It executes what is not judged.
    Runs,
    /// It writes, replaces or removes files that are not known.
    Spills,
    /// It writes the file that the word names, which is judged.
    Writes,
    /// It obeys other settings, or works elsewhere.
    Turns,
}

impl Part {
    /// A part that stands for any command.
    pub(crate) fn anything() -> Self {
        Self { words: vec![Word::Unknown], directory: None, armed: Vec::new(), transparent: false, runner: None }
    }

    /// Why it could execute anything, if its words are known and it could.
    pub fn runs_anything(&self) -> Option<WhyNot> {
        self.armed_by(Arming::Runs).map(|(program, word)| WhyNot::Runs { program, word })
    }

    /// Why it could write any file, if it could.
    pub fn writes_anything(&self) -> Option<WhyNot> {
        self.armed_by(Arming::Spills).map(|(program, word)| WhyNot::Spills { program, word })
    }

    /// Its program, and the first word that arms it so.
    fn armed_by(&self, arming: Arming) -> Option<(String, Option<String>)> {
        let armed = self.armed.iter().find(|armed| armed.arming == arming)?;
        let text = |at: usize| self.words.get(at).and_then(Word::text).map(str::to_owned);
        Some((text(0).unwrap_or_default(), text(armed.at)))
    }
}
