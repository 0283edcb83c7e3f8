//! Programs that run another command, such as `env` and `timeout`, and where that command starts.

use super::runs::{Runs, Variable};
use super::shell;
use super::unclear::is_unclear;
use crate::findings::Word;

/// Command-line syntax of a wrapper, to find the command it runs.
struct Wrapper {
    name: &'static str,
    /// Short options without a value.
    alone: &'static str,
    /// Short options with a value.
    valued: &'static str,
    /// Number of operands before the command.
    operands: usize,
    /// True if `NAME=value` may stand before the command.
    variables: bool,
    transparent: bool,
}

const fn wrapper(name: &'static str, alone: &'static str, valued: &'static str) -> Wrapper {
    Wrapper { name, alone, valued, operands: 0, variables: false, transparent: true }
}

const WRAPPERS: [Wrapper; 13] = [
    wrapper("command", "p", ""),
    wrapper("builtin", "", ""),
    wrapper("exec", "cl", "a"),
    wrapper("nohup", "", ""),
    wrapper("setsid", "cfw", ""),
    wrapper("nice", "0123456789", "n"),
    wrapper("stdbuf", "", "ioe"),
    wrapper("ionice", "t", "cn"),
    wrapper("time", "pv", ""),
    Wrapper { operands: 1, ..wrapper("timeout", "v", "ks") },
    Wrapper { variables: true, ..wrapper("env", "i0", "u") },
    Wrapper { variables: true, transparent: false, ..wrapper("sudo", "nEHSkb", "ugp") },
    Wrapper { transparent: false, ..wrapper("xargs", "0rtx", "dEILnPs") },
];

/// Programs that run the command after one of their subcommands. Nothing unknown may stand in between.
const SUBCOMMANDS: [(&str, &str); 32] = [
    ("asdf", "exec"),
    ("bundle", "exec"),
    ("cabal", "exec"),
    ("composer", "exec"),
    ("conda", "run"),
    ("dune", "exec"),
    ("gem", "exec"),
    ("goenv", "exec"),
    ("hatch", "run"),
    ("jenv", "exec"),
    ("mamba", "run"),
    ("micromamba", "run"),
    ("mise", "exec"),
    ("mise", "x"),
    ("nodenv", "exec"),
    ("opam", "exec"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("pipx", "run"),
    ("pixi", "exec"),
    ("pixi", "run"),
    ("plenv", "exec"),
    ("pnpm", "exec"),
    ("poetry", "run"),
    ("pyenv", "exec"),
    ("rbenv", "exec"),
    ("rye", "run"),
    ("stack", "exec"),
    ("uv", "run"),
    ("volta", "run"),
    ("yarn", "dlx"),
    ("yarn", "exec"),
];

/// Programs that run the command in their first operand, or find a program of that name elsewhere.
const DIRECT: [&str; 9] = ["bunx", "ccache", "chronic", "distcc", "npx", "pnpx", "sccache", "uvx", "with-contenv"];

/// Programs that run a command somewhere after one of their words: of Debian, and of version managers.
const LOOSE: [(&str, &str); 12] = [
    ("devbox", "run"),
    ("flatpak", "run"),
    ("fnm", "exec"),
    ("incus", "exec"),
    ("lxc", "exec"),
    ("nvm", "exec"),
    ("nvm", "run"),
    ("rustup", "run"),
    ("rvm", "do"),
    ("snap", "run"),
    ("tox", "exec"),
    ("vagrant", "ssh"),
];

/// Returns what a command with these words runs, if its program runs others.
pub(crate) fn runs(name: &str, words: &[Word]) -> Option<Runs> {
    let operand = words[1..].iter().find(|word| word.text().is_none_or(|text| !text.starts_with('-')));
    let is_hidden = operand.is_some_and(|word| word.text().is_none());
    let is_named = |word: &str| words[1..].iter().any(|other| other.text() == Some(word));
    let is_loose = |(own, word): &(&str, &str)| *own == name && (is_hidden || is_named(word));
    if is_unclear(name) || LOOSE.iter().any(is_loose) {
        return Some(Runs::unclear());
    }
    if shell::is_shell(name) {
        return shell::runs(name, words);
    }
    if name == "find" || name == "gfind" {
        return found(words);
    }
    if DIRECT.contains(&name) {
        return direct(words);
    }
    if let Some(runs) = SUBCOMMANDS
        .iter()
        .filter(|(own, _)| *own == name)
        .find_map(|(_, subcommand)| behind_subcommand(subcommand, words))
    {
        return Some(runs);
    }
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    if name == "command" && matches!(words.get(1).and_then(Word::text), Some("-v" | "-V")) {
        return Some(Runs { transparent: true, ..Runs::default() });
    }
    let Some(start) = wrapper.start(words) else { return Some(Runs::unclear()) };
    let is_variable = |word: &&Word| wrapper.variables && word.text().is_some_and(|text| text.contains('='));
    let variables: Vec<Variable> = words[start..].iter().take_while(is_variable).map(Variable::of).collect();
    let mut command = words[start + variables.len()..].to_vec();
    if name == "xargs" {
        command = extended(command, words, start)?;
    }
    Some(Runs {
        transparent: wrapper.transparent && !command.is_empty(),
        commands: if command.is_empty() { Vec::new() } else { vec![command] },
        variables,
        ..Runs::default()
    })
}

impl Wrapper {
    /// Returns the position after options and operands; `None` if an option is unknown.
    fn start(&self, words: &[Word]) -> Option<usize> {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let Some(option) = word.text()?.strip_prefix('-') else { break };
            if option == "-" {
                at += 1;
                break;
            }
            let first = option.chars().next()?;
            if option.chars().all(|letter| self.alone.contains(letter)) {
                at += 1;
            } else if self.valued.contains(first) {
                at += if option.len() == 1 { 2 } else { 1 };
            } else {
                return None;
            }
        }
        Some((at + self.operands).min(words.len()))
    }
}

/// Returns the command of `xargs`: more words follow, and some may be replaced.
fn extended(mut command: Vec<Word>, words: &[Word], start: usize) -> Option<Vec<Word>> {
    let replaces = words[..start].iter().any(|word| word.text().is_none_or(|text| text.starts_with("-I")));
    if command.is_empty() {
        command.push(Word::Plain("echo".to_owned()));
    }
    if replaces {
        let marks: Vec<&str> = words[..start].iter().filter_map(Word::text).collect();
        let at = marks.iter().position(|text| text.starts_with("-I"))?;
        let mark = marks[at].strip_prefix("-I").filter(|mark| !mark.is_empty()).or_else(|| marks.get(at + 1).copied());
        let mark = mark.unwrap_or("{}").to_owned();
        command = command.into_iter().map(|word| without(word, &mark)).collect();
    }
    command.push(Word::Unknown);
    Some(command)
}

fn without(word: Word, mark: &str) -> Word {
    if word.text().is_some_and(|text| text.contains(mark)) { Word::Unknown } else { word }
}

/// Returns the commands that `find` runs for its matches.
fn found(words: &[Word]) -> Option<Runs> {
    let mut runs = Runs::default();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        if !matches!(word.text(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
            continue;
        }
        // `+` ends a command only after `{}`.
        let ends = |&end: &usize| match words[end].text() {
            Some("+") => words[end - 1].text() == Some("{}"),
            text => text == Some(";"),
        };
        let length = (at..words.len()).find(ends).unwrap_or(words.len()) - at;
        let command: Vec<Word> = words[at..at + length].iter().map(|word| without(word.clone(), "{}")).collect();
        if !command.is_empty() {
            runs.commands.push(command);
        }
        at += length;
    }
    (!runs.commands.is_empty()).then_some(runs)
}

/// Returns the command in the first operand. Options before it may have values or run something themselves.
fn direct(words: &[Word]) -> Option<Runs> {
    match words.get(1).map(Word::text) {
        None => None,
        Some(Some(program)) if !program.starts_with('-') => {
            Some(Runs { commands: vec![words[1..].to_vec()], ..Runs::default() })
        }
        Some(_) => Some(Runs::unclear()),
    }
}

/// Returns the command after a subcommand. Options in between may have values or run something themselves.
fn behind_subcommand(subcommand: &str, words: &[Word]) -> Option<Runs> {
    let text = |at: usize| words.get(at).and_then(Word::text);
    match (text(1), text(2)) {
        (Some(first), Some(program)) if first == subcommand && !program.starts_with('-') => {
            Some(Runs { commands: vec![words[2..].to_vec()], ..Runs::default() })
        }
        (Some(first), _) if first != subcommand && !first.starts_with('-') => None,
        _ if words.iter().any(|word| word.text().is_none_or(|text| text == subcommand)) => Some(Runs::unclear()),
        _ => None,
    }
}
