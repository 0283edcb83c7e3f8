//! `sed` and `awk`: options that leave files alone and scripts that only print.

use super::Arms;
use crate::findings::{Arming, Word};

/// Arms everything but options and scripts that leave files alone.
pub(super) fn sed(words: &[Word]) -> Arms {
    let texts: Vec<&str> = words.iter().map(|word| word.text().unwrap_or_default()).collect();
    let (mut arms, mut expression, mut in_place) = (Arms::default(), false, false);
    let (mut operands, mut at) = (Vec::new(), 1);
    while let Some(text) = texts.get(at) {
        match *text {
            "-e" | "--expression" => {
                expression = true;
                at += 1;
                let script = texts.get(at).copied().unwrap_or_default();
                if !sed_is_plain(script) {
                    arms.add(at.min(words.len() - 1), sed_arming(script));
                }
            }
            "--quiet" | "--silent" | "--regexp-extended" | "--debug" => {}
            option if option.len() > 1 && option.starts_with('-') => {
                if !option[1..].chars().all(|letter| "nErsuz".contains(letter)) {
                    let edits = is_in_place(option);
                    in_place |= edits;
                    arms.add(at, if edits { Arming::Writes } else { Arming::Runs });
                }
            }
            _ => operands.push(at),
        }
        at += 1;
    }
    let script = if expression || operands.is_empty() { None } else { Some(operands.remove(0)) };
    if let Some(script) = script.filter(|&script| !sed_is_plain(texts[script])) {
        arms.add(script, sed_arming(texts[script]));
    }
    if in_place {
        arms.written = operands.into_iter().map(|at| words[at].clone()).collect();
    }
    arms.armed.sort_unstable_by_key(|armed| armed.at);
    arms
}

/// True for `-i`, also bundled after letters without a value, and for every form of `--in-place`.
fn is_in_place(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => "in-place".starts_with(long.split('=').next().unwrap_or(long)),
        None => option[1..].trim_start_matches(|letter| "nErsuz".contains(letter)).starts_with('i'),
    }
}

/// The arming of a script that may do more than print: `e` executes, `w` writes.
fn sed_arming(script: &str) -> Arming {
    match script {
        _ if script.is_empty() || script.contains('e') => Arming::Runs,
        _ if script.contains(['w', 'W']) => Arming::Spills,
        _ => Arming::Turns,
    }
}

/// Arms everything but field separators, variables and programs that only print.
pub(super) fn awk(words: &[Word]) -> Arms {
    let (mut arms, mut program, mut at) = (Arms::default(), false, 1);
    while let Some(word) = words.get(at) {
        match word.text().unwrap_or_default() {
            "-F" | "-v" if !program => at += 1,
            text if !program && text.starts_with("-F") => {}
            text if !program && text.starts_with('-') => arms.add(at, Arming::Runs),
            text if !program => {
                program = true;
                if !awk_is_plain(text) {
                    arms.add(at, awk_arming(text));
                }
            }
            _ => {}
        }
        at += 1;
    }
    arms
}

/// The arming of a program that may do more than print. `||` only joins conditions.
fn awk_arming(program: &str) -> Arming {
    let without_or = program.replace("||", "");
    match program {
        _ if program.is_empty() || program.contains("system") || without_or.contains(['|', '@']) => Arming::Runs,
        _ if program.contains('>') => Arming::Spills,
        _ => Arming::Turns,
    }
}

/// True if a `sed` script has only addresses, `p`, `d`, `q`, `=` and substitutions that neither run nor write.
fn sed_is_plain(script: &str) -> bool {
    let mut rest = script.trim();
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let Some(behind) = sed_command(rest) else { return false };
        rest = behind.trim_start_matches([';', ' ']);
        if !(rest.is_empty() || behind.starts_with(';')) {
            return false;
        }
    }
    true
}

/// Returns the text after the first command of a script, if that command is plain.
fn sed_command(script: &str) -> Option<&str> {
    let mut rest = sed_address(script)?;
    if let Some(second) = rest.strip_prefix(',') {
        rest = sed_address(second)?;
    }
    let rest = rest.trim_start_matches(['!', ' ']);
    if let Some(substitution) = rest.strip_prefix('s') {
        let delimiter = substitution.chars().next().filter(char::is_ascii_punctuation).filter(|&mark| mark != '\\')?;
        let behind = up_to(&substitution[1..], delimiter)?;
        let flags = up_to(behind, delimiter)?;
        return Some(flags.trim_start_matches(|flag: char| "gpiI".contains(flag) || flag.is_ascii_digit()));
    }
    rest.strip_prefix(['p', 'd', 'q', '='])
}

/// Returns the text after an address, which is optional.
fn sed_address(script: &str) -> Option<&str> {
    if let Some(pattern) = script.strip_prefix('/') {
        return up_to(pattern, '/').map(|behind| behind.trim_start_matches('I'));
    }
    Some(script.strip_prefix('$').unwrap_or_else(|| script.trim_start_matches(|digit: char| digit.is_ascii_digit())))
}

/// Returns the text after the next unescaped delimiter. `sed` ignores a delimiter within brackets, so text with such
/// brackets is not parsed.
fn up_to(text: &str, delimiter: char) -> Option<&str> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '\n' => return None,
            _ if character == delimiter => return Some(&text[at + character.len_utf8()..]),
            '[' if text[at..].find(']').is_none_or(|end| text[at..at + end].contains(delimiter)) => return None,
            _ => {}
        }
    }
    None
}

/// True if an `awk` program has nothing that runs programs, or reads or writes other files.
fn awk_is_plain(program: &str) -> bool {
    let acts = ["system", "getline", "|", ">", "@", "\\"];
    !program.is_empty() && !acts.iter().any(|word| program.contains(word))
}
