//! Word lists of the rules, kept as plain text next to this file, one per purpose.
//!
//! Lines that begin with `#` are comments. Each list is parsed on first use.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::stem::stem;

type Words = HashSet<&'static str>;
type Pairs = Vec<(&'static str, &'static str)>;

static STOP: LazyLock<Words> = LazyLock::new(|| words(include_str!("lexicon/stop.txt")).collect());
static WEAK: LazyLock<HashSet<String>> = LazyLock::new(|| words(include_str!("lexicon/weak.txt")).map(stem).collect());
static ACTION: LazyLock<HashSet<String>> =
    LazyLock::new(|| words(include_str!("lexicon/action.txt")).map(stem).collect());
static WHOLE: LazyLock<Words> = LazyLock::new(|| words(include_str!("lexicon/whole.txt")).collect());
static FOREIGN: LazyLock<Words> = LazyLock::new(|| words(include_str!("lexicon/foreign.txt")).collect());
static WORK: LazyLock<Words> = LazyLock::new(|| words(include_str!("lexicon/work.txt")).collect());
static INSTRUCTIONS: LazyLock<Words> = LazyLock::new(|| lines(include_str!("lexicon/instructions.txt")).collect());
static IRREGULAR: LazyLock<Pairs> = LazyLock::new(|| pairs(include_str!("lexicon/irregular.txt")));
static IDIOMS: LazyLock<Pairs> = LazyLock::new(|| pairs(include_str!("lexicon/idioms.txt")));
static SYNONYMS: LazyLock<HashMap<String, Vec<String>>> =
    LazyLock::new(|| groups(include_str!("lexicon/synonyms.txt")));

/// True if a lower-case word carries no topic at all.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP.contains(word)
}

/// True if a word is too common in questions about code to search for by itself.
pub(crate) fn is_weak(word: &str) -> bool {
    WEAK.contains(&stem(verb_of(word).unwrap_or(word)))
}

/// True if a word is a common verb or a participle.
pub(crate) fn is_action(word: &str) -> bool {
    word.ends_with("ed") || ACTION.contains(&stem(verb_of(word).unwrap_or(word)))
}

/// True if a word is its own stem although its ending looks like a suffix.
pub(crate) fn is_whole(word: &str) -> bool {
    WHOLE.contains(word)
}

/// True for a function word of another language.
pub(crate) fn is_foreign(word: &str) -> bool {
    FOREIGN.contains(word)
}

/// True if a request that begins with this word asks for work, not for a place.
pub(crate) fn is_work(word: &str) -> bool {
    WORK.contains(word)
}

/// True if a sentence with this opening says how to answer, not what to look for.
pub(crate) fn is_instruction(opening: &str) -> bool {
    INSTRUCTIONS.contains(opening)
}

/// Returns the verb of an irregular past form.
pub(crate) fn verb_of(word: &str) -> Option<&'static str> {
    IRREGULAR.iter().find(|(past, _)| *past == word).map(|(_, verb)| *verb)
}

/// Phrases, each with the one word that code uses for it.
pub(crate) fn idioms() -> &'static [(&'static str, &'static str)] {
    &IDIOMS
}

/// Returns the stems of the synonyms of a stem, without itself.
pub(crate) fn synonyms(stem: &str) -> &'static [String] {
    SYNONYMS.get(stem).map_or(&[], Vec::as_slice)
}

fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.starts_with('#'))
}

fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    lines(list).flat_map(str::split_whitespace)
}

/// Parses lines of `from = to`.
fn pairs(list: &'static str) -> Pairs {
    lines(list).filter_map(|line| line.split_once(" = ")).collect()
}

/// Maps each stem to the others on its line.
fn groups(list: &'static str) -> HashMap<String, Vec<String>> {
    let mut groups: HashMap<String, Vec<String>> = HashMap::new();
    for line in lines(list) {
        let stems: Vec<String> = line.split_whitespace().map(stem).collect();
        for word in &stems {
            let others = stems.iter().filter(|other| *other != word).cloned();
            groups.entry(word.clone()).or_default().extend(others);
        }
    }
    for others in groups.values_mut() {
        others.sort();
        others.dedup();
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_inflection_of_a_word_finds_its_synonyms() {
        for word in ["retries", "retrying", "retry"] {
            assert!(synonyms(&stem(word)).contains(&stem("backoff")), "{word}");
        }
        assert!(synonyms(&stem("errors")).contains(&"err".to_owned()));
        assert!(synonyms("zebra").is_empty());
    }

    #[test]
    fn lists_have_no_duplicates_and_no_capitals() {
        for list in [
            include_str!("lexicon/stop.txt"),
            include_str!("lexicon/weak.txt"),
            include_str!("lexicon/action.txt"),
            include_str!("lexicon/whole.txt"),
            include_str!("lexicon/foreign.txt"),
        ] {
            let mut seen = HashSet::new();
            for word in words(list) {
                assert_eq!(word, word.to_lowercase());
                assert!(seen.insert(word), "`{word}` occurs twice in a list");
            }
        }
    }

    #[test]
    fn pairs_are_read_from_both_sides_of_the_sign() {
        assert_eq!(verb_of("written"), Some("write"));
        assert_eq!(verb_of("write"), None);
        assert!(idioms().contains(&("out of scope", "drop")));
    }
}
