//! Armed words: options and operands by which a harmless program executes others, or writes files.
//!
//! A rule that allows a program does not allow these with it, unless it names them. A long option counts in every
//! abbreviation, a short one in every bundle; more is taken for armed than is.

mod script;
mod table;

use sortie_mutant::is_out;

use self::script::{awk_is_plain, sed_is_plain};
use self::table::FETCHING;
use super::Word;

/// What arms one program.
struct Program {
    names: &'static str,
    /// Options, without their dashes.
    long: &'static str,
    /// Letters of options.
    short: &'static str,
    /// Beginnings of words of any kind.
    starts: &'static str,
    /// Commands of the program: its first operand.
    verbs: &'static str,
    /// Options that count in front of the first operand only.
    leading: &'static str,
    /// Whether `NAME=value` arms it.
    variables: bool,
    /// Whether its first word has letters of options, dash or not.
    bundle: bool,
}

/// The positions of the armed words, in rising order.
pub(super) fn positions(name: &str, words: &[Word]) -> Vec<usize> {
    match name {
        _ if is_out("armed-words") => return Vec::new(),
        "sed" | "gsed" => return sed(words),
        "awk" | "gawk" | "mawk" | "nawk" => return awk(words),
        _ if FETCHING.contains(&name) => return (1..words.len()).collect(),
        _ => {}
    }
    let Some(program) = table::find(name) else { return Vec::new() };
    let texts = || words.iter().enumerate().skip(1).filter_map(|(at, word)| Some((at, word.text()?)));
    let verb = texts().find(|(_, text)| !text.starts_with(['-', '+'])).map_or(words.len(), |(at, _)| at);
    let armed = texts().filter(|&(at, text)| {
        program.is_armed_by(text)
            || at == verb && one_of(program.verbs).any(|verb| verb == text)
            || at < verb && one_of(program.leading).any(|option| text.starts_with(option))
            || at == 1 && program.bundle && text.contains(|letter| program.short.contains(letter))
    });
    armed.map(|(at, _)| at).collect()
}

impl Program {
    fn is_armed_by(&self, text: &str) -> bool {
        if one_of(self.starts).any(|start| text.starts_with(start)) {
            return true;
        }
        if let Some(option) = text.strip_prefix("--") {
            let option = option.split('=').next().unwrap_or(option);
            return !option.is_empty() && one_of(self.long).any(|long| long.starts_with(option));
        }
        match text.strip_prefix('-') {
            Some(letters) => letters.contains(|letter| self.short.contains(letter)),
            None => self.variables && text.contains('='),
        }
    }
}

fn one_of(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(' ').filter(|word| !word.is_empty())
}

/// Only the options that leave files alone, and scripts that do.
fn sed(words: &[Word]) -> Vec<usize> {
    let texts: Vec<&str> = words.iter().map(|word| word.text().unwrap_or_default()).collect();
    let (mut armed, mut expression, mut at) = (Vec::new(), false, 1);
    let mut operands = Vec::new();
    while let Some(text) = texts.get(at) {
        match *text {
            "-e" | "--expression" => {
                expression = true;
                at += 1;
                if !texts.get(at).is_some_and(|script| sed_is_plain(script)) {
                    armed.push(at.min(words.len() - 1));
                }
            }
            "--quiet" | "--silent" | "--regexp-extended" | "--debug" => {}
            option if option.len() > 1 && option.starts_with('-') => {
                if !option[1..].chars().all(|letter| "nErsuz".contains(letter)) {
                    armed.push(at);
                }
            }
            _ => operands.push(at),
        }
        at += 1;
    }
    if let Some(&script) = operands.first().filter(|_| !expression)
        && !sed_is_plain(texts[script])
    {
        armed.push(script);
    }
    armed.sort_unstable();
    armed
}

/// Only field separators, variables, and programs that print.
fn awk(words: &[Word]) -> Vec<usize> {
    let (mut armed, mut program, mut at) = (Vec::new(), false, 1);
    while let Some(word) = words.get(at) {
        match word.text().unwrap_or_default() {
            "-F" | "-v" if !program => at += 1,
            text if !program && text.starts_with("-F") => {}
            text if !program && text.starts_with('-') => armed.push(at),
            text if !program => {
                program = true;
                if !awk_is_plain(text) {
                    armed.push(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    armed
}
