//! One pattern of a profile and the words it matches.
//!
//! - `--name`: a long option in every abbreviation, with or without its value
//! - `-x`: a letter in any bundle
//! - `-name`: a word that begins with it after one dash or two
//! - `=word`: exactly that word
//! - `^text`: a word that begins with it
//! - `*text`: a word that contains it
//! - `NAME=`: a word that sets a variable
//! - `<`: a word that stands for the standard input

use crate::findings::Word;

/// Names of the standard input.
const INPUT: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// A pattern's match in a word.
enum Meant<'a> {
    /// The word itself; a value would be the next word.
    Word,
    Value(&'a str),
}

impl<'a> Meant<'a> {
    /// The match for the text that follows the pattern.
    fn behind(rest: &'a str) -> Self {
        if rest.is_empty() { Self::Word } else { Self::Value(rest) }
    }

    /// The match for the text that follows an option's name.
    fn behind_name(rest: &'a str) -> Self {
        rest.strip_prefix('=').map_or_else(|| Self::behind(rest), Self::Value)
    }
}

/// True if a pattern matches a word.
pub(super) fn means(pattern: &str, text: &str) -> bool {
    meant(pattern, text).is_some()
}

/// True if the word, which matches the pattern, only abbreviates its long option.
pub(super) fn abbreviates(text: &str, pattern: &str) -> bool {
    pattern.starts_with("--") && text.split('=').next() != Some(pattern)
}

fn meant<'a>(pattern: &str, text: &'a str) -> Option<Meant<'a>> {
    let word = |is_meant: bool| is_meant.then_some(Meant::Word);
    if let Some(whole) = pattern.strip_prefix('=') {
        return word(whole == text);
    }
    if let Some(start) = pattern.strip_prefix('^') {
        return text.strip_prefix(start).map(Meant::behind);
    }
    if let Some(within) = pattern.strip_prefix('*') {
        return word(text.contains(within));
    }
    if let Some(long) = pattern.strip_prefix("--") {
        let option = text.strip_prefix("--")?;
        let name = option.split('=').next().unwrap_or(option);
        return (!name.is_empty() && long.starts_with(name)).then(|| Meant::behind_name(&option[name.len()..]));
    }
    match pattern {
        "NAME=" => return word(!text.starts_with('-') && text.contains('=')),
        "<" => return word(names_input(text)),
        _ => {}
    }
    let (name, option) = (pattern.strip_prefix('-')?, text.strip_prefix('-')?);
    if name.len() > 1 {
        return option.strip_prefix('-').unwrap_or(option).strip_prefix(name).map(Meant::behind_name);
    }
    let (_, rest) = option.split_once(name).filter(|_| !option.starts_with('-'))?;
    Some(Meant::behind(rest))
}

/// True if a word, or the option value in it, names the standard input.
fn names_input(text: &str) -> bool {
    let of_long = text.split_once('=').map(|(_, value)| value);
    let of_short = text.get(2..).filter(|_| text.starts_with('-') && !text.starts_with("--"));
    [Some(text), of_long, of_short].into_iter().flatten().any(|name| INPUT.contains(&name))
}

/// Returns the value of a pattern in the word at this position, or in the next word.
pub(super) fn named(pattern: &str, at: usize, words: &[Word]) -> Option<Word> {
    Some(match meant(pattern, words[at].text()?)? {
        Meant::Value(text) => Word::Plain(text.to_owned()),
        Meant::Word => words.get(at + 1).cloned().unwrap_or(Word::Unknown),
    })
}
