//! Shells as programs: they run the line after `-c`, a file, or their input.
//!
//! The line is analysed only if the shell reads as `bash` does and its options do not affect parsing.

use std::path::Path;

use super::runs::Runs;
use crate::findings::Word;

/// Shells that read as `bash` does, within the supported grammar.
const ALIKE: [&str; 6] = ["ash", "bash", "bash-static", "dash", "rbash", "sh"];

/// Shells with languages of their own.
const OTHERS: &str = "bsd-csh csh elvish es fish fizsh gash hush ion jk_lsh kaem ksh ksh2020 ksh93 lksh loksh mksh mksh-static nash nu oksh osh pdksh posh powershell psh pwsh rc rc.byron rksh93 rlksh rmksh rssh rzsh sash scsh tcsh xonsh yash ysh zsh zsh-static zsh5 zsh5-static";

/// Letters of options that do not change the meaning of a line. The files of a login shell are the user's own.
const HARMLESS: &str = "celuvx";

/// Values of `-o` that do not change the meaning either.
const HARMLESS_NAMES: [&str; 5] = ["errexit", "nounset", "pipefail", "verbose", "xtrace"];

pub(super) fn is_shell(name: &str) -> bool {
    ALIKE.contains(&name) || OTHERS.split(' ').any(|own| own == name)
}

/// Returns what a shell of this name runs; `None` if that is a file.
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
            // Some of these make it read its input, or run other files as well.
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
        // Not a file, but what the line itself passes on.
        (Some(script), false) if script.text().is_some_and(is_passed_on) => Some(Runs::unclear()),
        // Other shells also run the text after other options.
        (Some(_), false) if is_alike || at == 1 => None,
        _ => Some(Runs::unclear()),
    }
}

/// True for the name of an open file, such as the input.
fn is_passed_on(text: &str) -> bool {
    ["/dev", "/proc"].iter().any(|directory| Path::new(text).starts_with(directory))
}

fn line(name: &str, script: &Word, is_plain: bool) -> Runs {
    // Elsewhere `[[` is a program, and the parts it joins are commands.
    let is_bash = name.ends_with("bash");
    let is_read = is_plain && (is_bash || script.text().is_some_and(|text| !text.contains("[[")));
    Runs { scripts: vec![script.clone()], transparent: is_read, unclear: !is_read, ..Runs::default() }
}
