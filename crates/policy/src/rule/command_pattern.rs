//! Patterns for shell commands: `git diff:*` for all that begin with these words, anything else exactly.
//!
//! A pattern compares its words with those of one command. `sortie_shell_reader` finds the commands of a line and
//! reports if the line is understood.

use crate::text::Bigrams;
use sortie_mutant::is_out;
use sortie_shell_reader::{Armed, Part, Word, known_words};

/// A pattern for commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    words: Vec<String>,
    /// True if more words may follow.
    open: bool,
}

impl CommandPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let prefix = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
        let said = prefix.unwrap_or(text);
        if said.contains('*') {
            return Err("`*` is supported only at the end, for further words: `git diff:*`");
        }
        let as_written = || said.split_whitespace().map(str::to_owned).collect();
        let words: Vec<String> = known_words(said).unwrap_or_else(as_written);
        if words.is_empty() { Err("it names no command") } else { Ok(Self { words, open: prefix.is_some() }) }
    }

    /// The pattern for rules that forbid: some file systems find programs in any letter case.
    pub(crate) fn folded(mut self) -> Self {
        if let Some(program) = self.words.first_mut() {
            program.make_ascii_lowercase();
        }
        self
    }

    /// True if it permits this command: its words are known and match, and the pattern names each armed word.
    pub(crate) fn permits(&self, part: &Part) -> bool {
        let named = |armed: &Armed| !self.open || armed.at < self.words.len();
        let known = |(own, word): (&String, &Word)| matches!(word, Word::Plain(text) if text == own);
        (self.open && part.words.len() >= self.words.len() || part.words.len() == self.words.len())
            && self.words.iter().zip(&part.words).all(known)
            && part.armed.iter().all(named)
    }

    /// True if it names every word of a command, and so covers what that command runs.
    pub(crate) fn names_all_of(&self, part: &Part) -> bool {
        part.words.len() == self.words.len() && self.permits(part)
    }

    /// True if it permits the runner and also names words of the command at its end.
    pub(crate) fn reaches(&self, runner: &Part, part: &Part) -> bool {
        let start = runner.words.len().saturating_sub(part.words.len());
        let is_behind = 0 < start && start < self.words.len() && runner.words[start..] == part.words[..];
        is_behind && self.permits(runner) && {
            let of_part = Self { words: self.words[start..].to_vec(), open: self.open };
            of_part.permits(part)
        }
    }

    /// True if it is, or could be, about this command or something that the command executes.
    pub(crate) fn could_be(&self, part: &Part) -> bool {
        self.could_name(part) || part.runs_anything().is_some()
    }

    /// True if it is, or could be, about this command once it runs.
    pub(crate) fn could_name(&self, part: &Part) -> bool {
        let [program, rest @ ..] = &self.words[..] else { return false };
        let Some((first, words)) = part.words.split_first() else { return false };
        let Some(first) = first.text() else { return true };
        let same = |name: &str| name.eq_ignore_ascii_case(program);
        let name = base_name(first);
        if same(first) || same(name) {
            return starts_behind_options(words).any(|start| self.could_follow(rest, &words[start..]));
        }
        // `git-push` is `git push`, wherever it is installed.
        let Some((_, subcommand)) = dashed(name).filter(|(outer, _)| same(outer) && !is_out("helper-programs")) else {
            return false;
        };
        let words: Vec<Word> = [Word::Plain(subcommand.to_owned())].into_iter().chain(words.iter().cloned()).collect();
        self.could_follow(rest, &words)
    }

    fn could_follow(&self, rest: &[String], words: &[Word]) -> bool {
        for (at, own) in rest.iter().enumerate() {
            match words.get(at).map(Word::text) {
                Some(None) => return true,
                Some(Some(text)) if text == own => {}
                _ => return false,
            }
        }
        // An unknown word may also be empty.
        self.open || words[rest.len()..].iter().all(|word| *word == Word::Unknown)
    }

    /// Bigrams that occur in every command it covers.
    pub(crate) fn bigrams(&self) -> Bigrams {
        let mut bigrams = Bigrams::default();
        self.words.iter().for_each(|word| bigrams.add_name(word));
        bigrams
    }
}

/// The name of a program without its directory.
fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Splits the name of a program that is another one's subcommand: `git-push`.
fn dashed(name: &str) -> Option<(&str, &str)> {
    name.split_once('-').filter(|(outer, subcommand)| !outer.is_empty() && !subcommand.is_empty())
}

/// Positions where the words of a rule may begin: at once, or after options and their values, as in `git -C x push`.
fn starts_behind_options(words: &[Word]) -> impl Iterator<Item = usize> {
    let is_option = |at: usize| words.get(at).and_then(Word::text).is_some_and(|text| text.starts_with(['-', '+']));
    let mut reachable = vec![false; words.len() + 3];
    reachable[0] = true;
    for at in 0..words.len() {
        if reachable[at] && is_option(at) {
            reachable[at + 1] = true;
            reachable[at + 2] = true;
        }
    }
    (0..=words.len()).filter(move |&at| reachable[at])
}

/// Bigrams of a command in all the forms that rules may match.
pub(crate) fn bigrams_of_command(part: &Part) -> Bigrams {
    if part.runs_anything().is_some() {
        return Bigrams::ALL;
    }
    let mut bigrams = Bigrams::default();
    for (at, word) in part.words.iter().enumerate() {
        let Some(text) = word.text() else { return Bigrams::ALL };
        bigrams.add_name(text);
        if at == 0 {
            let name = base_name(text).to_ascii_lowercase();
            bigrams.add_name(&name);
            if let Some((outer, _)) = dashed(&name) {
                bigrams.add_name(outer);
            }
            if let Some((_, subcommand)) = dashed(base_name(text)) {
                bigrams.add_name(subcommand);
            }
            bigrams.add_name(&text.to_ascii_lowercase());
        }
    }
    bigrams
}
