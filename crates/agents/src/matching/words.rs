//! Splits texts into words, finds words without content, and folds spellings of the same word.

use crate::matching::stem::stem;
use crate::text::letter_folding::{fold, is_mark};

/// Words that occur in any request or description and so distinguish no agent. *Where* does: it asks for a search.
const EMPTY_WORDS: [&str; 93] = [
    "a", "about", "after", "agent", "agents", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
    "before", "but", "by", "can", "could", "did", "do", "does", "e", "eg", "else", "etc", "for", "from", "g", "get",
    "had", "has", "have", "he", "help", "here", "how", "i", "if", "in", "into", "is", "it", "its", "let", "like", "me",
    "more", "most", "must", "my", "need", "no", "not", "of", "on", "only", "or", "other", "our", "please", "s", "she",
    "should", "so", "some", "such", "that", "the", "them", "then", "there", "these", "they", "this", "those", "to",
    "use", "used", "using", "want", "was", "we", "what", "when", "which", "who", "will", "with", "would", "you",
    "your",
];

/// True if a folded word has no content.
pub(super) fn is_empty_word(folded: &str) -> bool {
    EMPTY_WORDS.binary_search(&folded).is_ok()
}

/// Calls `each` with every word of a text, as written.
///
/// A word is a run of letters and digits, with apostrophes inside it. A word in camel case (`codeReviewer`) is passed
/// as a whole and then in parts; the flag marks parts. Scripts without spaces are passed in pairs of neighbours, since
/// word ends are not written. Returns the number of words, not counting parts.
pub(super) fn each_word(text: &str, mut each: impl FnMut(&str, bool)) -> usize {
    let mut count = 0;
    for run in text.split(|character| !is_of_word(character)) {
        let run = run.trim_matches(is_apostrophe);
        if is_simple(run) {
            count += each_of_run(run, &mut each);
            continue;
        }
        let mut rest = run;
        while let Some(first) = rest.chars().next() {
            let is_other = |character| is_spaceless(character) != is_spaceless(first);
            let (same, below) = rest.split_at(rest.find(is_other).unwrap_or(rest.len()));
            count += if is_spaceless(first) { each_pair(same, &mut each) } else { each_of_run(same, &mut each) };
            rest = below;
        }
    }
    count
}

fn each_of_run(word: &str, each: &mut impl FnMut(&str, bool)) -> usize {
    if word.is_empty() {
        return 0;
    }
    each(word, false);
    if has_parts(word) {
        for part in parts(word) {
            each(part, true);
        }
    }
    1
}

/// Passes every two neighbours, or a single character alone.
fn each_pair(run: &str, each: &mut impl FnMut(&str, bool)) -> usize {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    if starts.len() <= 2 {
        each(run, false);
        return 1;
    }
    let pairs = starts.windows(3);
    pairs.map(|pair| each(&run[pair[0]..pair[2]], false)).count()
}

fn is_of_word(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || (!character.is_ascii() && (character.is_alphanumeric() || is_mark(character) || is_spaceless(character)))
        || is_apostrophe(character)
}

fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '’' | 'ʼ')
}

/// Thai, Lao, Burmese and Khmer; kana and Han characters. Includes marks of these scripts.
fn is_spaceless(character: char) -> bool {
    matches!(
        character,
        '\u{e01}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17d3}' | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
    ) && character != '・'
}

/// True if a word has only ASCII letters and digits.
pub(super) fn is_simple(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Writes a word into `buffer` in lower case, without marks and apostrophe endings.
pub(super) fn write_folded(word: &str, buffer: &mut String) {
    buffer.clear();
    if is_simple(word) {
        buffer.push_str(word);
        buffer.make_ascii_lowercase();
    } else {
        fold(word, |letter| buffer.push(if is_apostrophe(letter) { '\'' } else { letter }));
        resolve_apostrophe(buffer);
    }
}

/// *user's* becomes *user*, *they'll* becomes *they*, *don't* becomes *not*, *l'architecture* becomes *architecture*.
fn resolve_apostrophe(word: &mut String) {
    let Some(at) = word.find('\'') else { return };
    match (&word[..at], &word[at + 1..]) {
        (negated, "t") if negated.ends_with('n') => "not".clone_into(word),
        (_, "s" | "ll" | "re" | "ve" | "d" | "m") => word.truncate(at),
        (article, _) if article.len() <= 2 => drop(word.drain(..=at)),
        _ => word.retain(|character| character != '\''),
    }
}

/// Writes the stem of a word into `buffer`.
pub(super) fn write_stem(word: &str, buffer: &mut String) {
    write_folded(word, buffer);
    stem(buffer);
}

fn has_parts(word: &str) -> bool {
    word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Splits `parseHTTPHeader` into `parse`, `HTTP` and `Header`.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let bytes = word.as_bytes();
    let begins = |&at: &usize| {
        let (before, this) = (bytes[at - 1], bytes[at]);
        let is_lower = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
        // The last letter of `URIs` does not begin a word, though a small one follows it.
        let is_plural = bytes.get(at + 1) == Some(&b's') && !is_lower(at + 2);
        let next_is_lower = is_lower(at + 1) && !is_plural;
        this.is_ascii_uppercase() && (before.is_ascii_lowercase() || (before.is_ascii_uppercase() && next_is_lower))
    };
    let mut cuts: Vec<usize> = (1..bytes.len()).filter(begins).collect();
    cuts.push(word.len());
    let mut from = 0;
    cuts.into_iter().map(move |to| {
        let part = &word[from..to];
        from = to;
        part
    })
}
