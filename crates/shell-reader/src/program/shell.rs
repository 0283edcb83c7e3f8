//! Shells as programs: they run the line behind `-c`, a file, or their input.
//!
//! A line is read further only if the shell reads as `bash` does, under options that leave the reading alone.

use super::runs::Runs;
use crate::findings::Word;

/// They read as `bash` does, as far as lines are understood here at all.
const ALIKE: [&str; 5] = ["ash", "bash", "dash", "rbash", "sh"];

/// Languages of their own.
const OTHERS: [&str; 19] = [
    "csh",
    "elvish",
    "fish",
    "hush",
    "ksh",
    "ksh93",
    "lksh",
    "mksh",
    "nu",
    "oksh",
    "osh",
    "posh",
    "powershell",
    "pwsh",
    "tcsh",
    "xonsh",
    "yash",
    "ysh",
    "zsh",
];

/// Letters of options that change nothing of what a line means. What a shell reads at a login is its user's own.
const HARMLESS: &str = "celuvx";

/// What `-o` may turn on without changing it either.
const HARMLESS_NAMES: [&str; 5] = ["errexit", "nounset", "pipefail", "verbose", "xtrace"];

pub(super) fn is_shell(name: &str) -> bool {
    ALIKE.contains(&name) || OTHERS.contains(&name)
}

/// What a shell of this name runs; `None` where that is a file.
pub(super) fn runs(name: &str, words: &[Word]) -> Option<Runs> {
    let is_alike = ALIKE.contains(&name);
    let (mut at, mut is_line, mut is_plain) = (1, false, is_alike);
    while let Some(word) = words.get(at) {
        let Some(text) = word.text() else { return Some(Runs::unclear()) };
        match text {
            "--version" | "--help" => return None,
            "--login" | "--noprofile" | "--norc" => {}
            "-o" | "+o" | "-O" | "+O" => {
                at += 1;
                let value = words.get(at).and_then(Word::text).unwrap_or_default();
                is_plain &= text == "-o" && HARMLESS_NAMES.contains(&value);
            }
            // Some of them make it read its input, or run files beside the one that is named.
            _ if text.starts_with("--") || text.starts_with('-') && text.contains('s') => return Some(Runs::unclear()),
            _ if text.starts_with(['-', '+']) => {
                is_line |= text.starts_with('-') && text.contains('c');
                is_plain &= text[1..].chars().all(|letter| HARMLESS.contains(letter));
            }
            _ => break,
        }
        at += 1;
    }
    match (words.get(at), is_line) {
        (Some(script), true) => Some(line(name, script, is_plain)),
        // Others run what is behind other options, too.
        (Some(_), false) if is_alike || at == 1 => None,
        _ => Some(Runs::unclear()),
    }
}

fn line(name: &str, script: &Word, is_plain: bool) -> Runs {
    // Elsewhere `[[` is a program, and what it joins are commands.
    let is_bash = name.ends_with("bash");
    let is_read = is_plain && (is_bash || script.text().is_some_and(|text| !text.contains("[[")));
    Runs { scripts: vec![script.clone()], transparent: is_read, unclear: !is_read, ..Runs::default() }
}
