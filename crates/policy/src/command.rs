//! What a shell command line could execute and write, found by reading it as `bash` would.
//!
//! It reads a part of the language and knows exactly where that part ends: beyond it a line counts as one that could run
//! anything. It expands nothing, follows no links and looks up no program; rules are compared with what it finds in
//! `judge`.

mod armed;
mod builtin;
mod expansion;
mod grammar;
mod here;
mod location;
mod operand;
mod quote;
mod redirect;
mod source;
mod tree;
mod walk;
mod word;
mod wrapper;

use std::fmt;
use std::path::{Path, PathBuf};

use self::grammar::Parser;
use self::location::Location;
pub(crate) use self::location::entered;
use self::walk::Walk;

/// Longer lines are not read.
pub(crate) const MAX_BYTES: usize = 10_000;
/// Lines that could run more commands than this are not judged one by one.
pub(crate) const MAX_PARTS: usize = 200;

/// Everything that a line could execute, and the files that it names to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command, wherever it stands, and what wrappers run.
    pub parts: Vec<Part>,
    /// What it would write or replace by a redirect, or as the target of a program that writes.
    pub writes: Vec<Target>,
    /// What it would remove or alter otherwise, as far as it names it.
    pub changes: Vec<Target>,
    /// What it would read by a redirect.
    pub reads: Vec<Target>,
    /// Whether every word of it is known and nothing beside the parts can run or change how they run.
    pub understood: bool,
    /// The first thing that was not understood.
    pub why_not: Option<WhyNot>,
}

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

/// What makes a program do more than a rule for it means.
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

/// One word as the program would get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Written as it is, or in one pair of quotes.
    Plain(String),
    /// Known, but written in another way than people do: `c''at`, `\cat`, `$'\x63at'`.
    Respelled(String),
    /// What it will be is only known when it runs; it may also be several words, or none.
    Unknown,
}

impl Word {
    /// The word itself, if it is known.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Plain(text) | Self::Respelled(text) => Some(text),
            Self::Unknown => None,
        }
    }
}

/// A file that a line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Absolute; no links followed.
    Path(PathBuf),
    /// Which one is only known when it runs.
    Unknown,
}

/// Why a line is not fully understood, in words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyNot {
    TooLong,
    TooManyParts,
    /// Syntax that is not read.
    Unread(&'static str),
    /// A word that is only known when the line runs.
    UnknownWord,
    /// A word written in another way than people do.
    Respelled(String),
    /// A builtin command that changes what the shell does next, or runs what it is given.
    Builtin(String),
    /// A variable that is set.
    Variable(String),
    /// A directory that is only known when the line runs.
    Directory,
    /// A file that is only known when the line runs.
    File,
    /// What a wrapper would run is not clear.
    Wrapper(String),
    /// A word makes a program execute what is not judged; none where the program does so by itself.
    Runs {
        program: String,
        word: Option<String>,
    },
    /// A word makes a program write files that are not known; none where the program does so by itself.
    Spills {
        program: String,
        word: Option<String>,
    },
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = crate::rule::shown;
        match self {
            Self::TooLong => write!(f, "it is longer than {MAX_BYTES} bytes"),
            Self::TooManyParts => write!(f, "it has more than {MAX_PARTS} commands"),
            Self::Unread(what) => write!(f, "it has {what}"),
            Self::UnknownWord => f.write_str("it has a word that is only known when it runs"),
            Self::Respelled(word) => write!(f, "`{}` is spelled in an unusual way", shown(word)),
            Self::Builtin(name) => write!(f, "`{name}` can run or change anything that follows"),
            Self::Variable(name) => write!(f, "it sets the variable `{}`", shown(name)),
            Self::Directory => f.write_str("the directory that it would run in is not known"),
            Self::File => f.write_str("a file that it would write is not known"),
            Self::Wrapper(name) => write!(f, "what `{name}` would run is not clear"),
            Self::Runs { program, word: Some(word) } => {
                write!(f, "`{}` can make `{}` run something else", shown(word), shown(program))
            }
            Self::Runs { program, word: None } => write!(f, "`{}` runs what it reads", shown(program)),
            Self::Spills { program, word: Some(word) } => {
                write!(f, "`{}` can make `{}` write other files", shown(word), shown(program))
            }
            Self::Spills { program, word: None } => {
                write!(f, "which files `{}` writes is not known", shown(program))
            }
        }
    }
}

/// Finds everything that a line could execute and write when it is run by `bash` in a directory, which is absolute and
/// resolved.
pub fn analyse(command: &str, directory: &Path) -> Analysis {
    analyse_in(command, Some(directory))
}

/// The same, also where the directory is not known.
pub(crate) fn analyse_in(command: &str, directory: Option<&Path>) -> Analysis {
    analyse_at(command, Location::new(directory))
}

fn analyse_at(command: &str, location: Location) -> Analysis {
    if command.len() > MAX_BYTES {
        return Analysis::of_anything(WhyNot::TooLong);
    }
    let mut parser = Parser::new(command);
    match parser.line() {
        Ok(list) => Walk::over(&list, &parser.here_runs, location),
        Err(why) => Analysis::of_anything(why),
    }
}

/// The words of a text that is one command of known words and nothing else.
pub(crate) fn known_words(text: &str) -> Option<Vec<String>> {
    let list = Parser::new(text).line().ok()?;
    let words = tree::only_words(&list)?;
    words.iter().map(|spelled| spelled.word.text().map(str::to_owned)).collect()
}

impl Analysis {
    /// What is to be said of a line that could do anything.
    fn of_anything(why: WhyNot) -> Self {
        Self {
            parts: vec![Part::anything()],
            writes: vec![Target::Unknown],
            changes: Vec::new(),
            reads: Vec::new(),
            understood: false,
            why_not: Some(why),
        }
    }
}

impl Part {
    /// A part that stands for any command.
    fn anything() -> Self {
        Self { words: vec![Word::Unknown], directory: None, armed: Vec::new(), transparent: false, runner: None }
    }

    /// Why it could execute anything, if its words are known and it could.
    pub(crate) fn runs_anything(&self) -> Option<WhyNot> {
        self.armed_by(Arming::Runs).map(|(program, word)| WhyNot::Runs { program, word })
    }

    /// Why it could write any file, if it could.
    pub(crate) fn writes_anything(&self) -> Option<WhyNot> {
        self.armed_by(Arming::Spills).map(|(program, word)| WhyNot::Spills { program, word })
    }

    /// Its program, and the first word that arms it so.
    fn armed_by(&self, arming: Arming) -> Option<(String, Option<String>)> {
        let armed = self.armed.iter().find(|armed| armed.arming == arming)?;
        let text = |at: usize| self.words.get(at).and_then(Word::text).map(str::to_owned);
        Some((text(0).unwrap_or_default(), text(armed.at)))
    }
}
