//! Term of a question: one thing that it asks about, as code may write it.
//!
//! A term knows the regular expression that finds it. `question` picks the terms, `ranking::matching` finds them in
//! lines, and `ranking::rank` weighs them.

use crate::language::lexicon::{synonyms, verb_of};
use crate::language::stem::stem;
use crate::language::words::{escape, pieces, words};

/// Weight of a word that most questions about code contain; terms of at most this weight are never searched for.
pub(crate) const WEAK: f64 = 0.25;

/// Stems at least this long are searched for anywhere in a word; shorter ones only as whole words.
pub(crate) const LONG_STEM: usize = 5;

/// End of a word, in any case style.
const WORD_END: &str = "(?-i:[^a-z]|$)";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Term {
    /// The term as written in the question.
    pub(crate) label: String,
    /// Relevance to the topic, before its rarity is known: 1 for an ordinary word.
    pub(crate) weight: f64,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// `stems` holds the word's own first, then those of other words of the question that mean the same.
    Word {
        stems: Vec<String>,
        synonyms: Vec<String>,
        compounds: Vec<String>,
    },
    Identifier {
        flat: String,
        pieces: Vec<String>,
    },
    Phrase {
        lower: String,
    },
}

impl Term {
    /// An ordinary word of prose, lower-case.
    pub(crate) fn word(word: &str, weight: f64) -> Self {
        let stems: Vec<String> = std::iter::once(word).chain(verb_of(word)).map(stem).collect();
        let mut synonyms: Vec<String> = stems.iter().flat_map(|stem| synonyms(stem)).cloned().collect();
        synonyms.retain(|synonym| !stems.contains(synonym));
        Self { label: word.to_owned(), weight, shape: Shape::Word { stems, synonyms, compounds: Vec::new() } }
    }

    /// A name from code, in every case style.
    pub(crate) fn identifier(name: &str, weight: f64) -> Self {
        let pieces: Vec<String> = words(name).flat_map(pieces).collect();
        Self { label: name.to_owned(), weight, shape: Shape::Identifier { flat: pieces.concat(), pieces } }
    }

    /// Quoted text, taken literally.
    pub(crate) fn phrase(text: &str, weight: f64) -> Self {
        Self { label: text.to_owned(), weight, shape: Shape::Phrase { lower: text.to_lowercase() } }
    }

    /// The first letters of a word, anywhere in a text.
    pub(crate) fn start(word: &str, letters: &str, weight: f64) -> Self {
        Self { label: word.to_owned(), ..Self::phrase(letters, weight) }
    }

    /// Adds a spelling that joins this word with its neighbour in the question: `user agent` as `useragent`.
    pub(crate) fn add_compound(&mut self, joined: String) {
        if let Shape::Word { compounds, .. } = &mut self.shape {
            compounds.push(joined);
        }
    }

    /// Merges another term of the question into this one if both mean the same; returns true if so.
    pub(crate) fn absorb(&mut self, other: &Self) -> bool {
        let same = match (&mut self.shape, &other.shape) {
            (Shape::Word { stems, synonyms, .. }, Shape::Word { stems: others, .. }) => {
                let Some(other) = others.first() else { return false };
                if synonyms.contains(other) {
                    synonyms.retain(|synonym| synonym != other);
                    stems.push(other.clone());
                }
                stems.contains(other)
            }
            (left, right) => left == right,
        };
        if same {
            self.weight = self.weight.max(other.weight);
        }
        same
    }

    /// True if it is too common in questions to be searched for by itself.
    pub(crate) fn is_weak(&self) -> bool {
        self.weight <= WEAK
    }

    /// True if the question is about it, rather than only phrased with it.
    pub(crate) fn is_topic(&self) -> bool {
        self.weight >= 1.0
    }

    /// True if it was written as code or in quotes.
    pub(crate) fn is_verbatim(&self) -> bool {
        !matches!(self.shape, Shape::Word { .. })
    }

    /// Returns the words of an identifier, to search for if the whole is not found.
    pub(crate) fn parts(&self) -> Vec<String> {
        match &self.shape {
            Shape::Identifier { pieces, .. } => pieces.clone(),
            Shape::Phrase { lower } => words(lower).map(str::to_owned).collect(),
            Shape::Word { .. } => Vec::new(),
        }
    }

    /// Returns its possible spellings, for a matcher.
    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns a regular expression for the term itself, self-contained in flags and groups.
    pub(crate) fn pattern(&self) -> String {
        match &self.shape {
            Shape::Word { stems, compounds, .. } => {
                let family = family_pattern(stems);
                let joined: Vec<String> = compounds.iter().map(|joined| escape(joined)).collect();
                if joined.is_empty() { family } else { format!("{family}|(?i-u:{})", joined.join("|")) }
            }
            Shape::Identifier { pieces, .. } => {
                let pieces: Vec<String> = pieces.iter().map(|piece| escape(piece)).collect();
                format!("(?i:{})", pieces.join("[_-]?"))
            }
            Shape::Phrase { lower } => format!("(?i:{})", escape(lower)),
        }
    }

    /// Returns a regular expression for its synonyms, if it has any.
    pub(crate) fn synonym_pattern(&self) -> Option<String> {
        match &self.shape {
            Shape::Word { synonyms, .. } if !synonyms.is_empty() => Some(family_pattern(synonyms)),
            _ => None,
        }
    }

    /// Returns one regular expression for the beginnings of any of several terms or their synonyms. It finds slightly
    /// more than the terms and compiles fast: for showing lines, not for counting them.
    pub(crate) fn any_pattern<'t>(terms: impl IntoIterator<Item = &'t Self>) -> String {
        let mut family: Vec<String> = Vec::new();
        let mut patterns: Vec<String> = Vec::new();
        for term in terms {
            match &term.shape {
                Shape::Word { stems, synonyms, compounds } => {
                    family.extend(stems.iter().chain(synonyms).chain(compounds).cloned());
                }
                Shape::Identifier { .. } | Shape::Phrase { .. } => patterns.push(term.pattern()),
            }
        }
        if !family.is_empty() {
            family.sort();
            family.dedup();
            patterns.push(beginnings(&family));
        }
        patterns.join("|")
    }

    /// Returns glob fragments for file names that contain the word itself, in any case; none if that would find noise.
    pub(crate) fn file_fragments(&self) -> Vec<String> {
        let core = match &self.shape {
            Shape::Word { stems, .. } => stems.first().filter(|stem| stem.len() >= 3).cloned().unwrap_or_default(),
            Shape::Identifier { pieces, .. } => pieces.join("_"),
            Shape::Phrase { .. } => String::new(),
        };
        if core.is_empty() {
            return Vec::new();
        }
        let capital = capitalized(&core);
        if capital == core { vec![core] } else { vec![core, capital] }
    }
}

/// Pattern for stems with room for their endings. Short ones must also begin a word: `log`, not `catalog`.
fn family_pattern(stems: &[String]) -> String {
    let (long, short): (Vec<&String>, Vec<&String>) = stems.iter().partition(|stem| stem.len() >= LONG_STEM);
    let mut alternatives = Vec::new();
    if !long.is_empty() {
        alternatives.push(format!("(?:{})[a-z]{{0,5}}", join(&long, spelled)));
    }
    if !short.is_empty() {
        let begins = format!(r"(?:\b|_)(?:{})", join(&short, spelled));
        let continues = format!("(?-i:[a-z0-9](?:{}))", join(&short, |stem| spelled(&capitalized(stem))));
        alternatives.push(format!("(?:{begins}|{continues})[a-z]{{0,4}}"));
    }
    format!("(?i-u:(?:{}){WORD_END})", alternatives.join("|"))
}

/// Pattern for stems in the usual spellings of their letters, with any continuation.
fn beginnings(stems: &[String]) -> String {
    let (long, short): (Vec<&String>, Vec<&String>) = stems.iter().partition(|stem| stem.len() >= LONG_STEM);
    let cased =
        |stem: &str| [stem.to_owned(), capitalized(stem), stem.to_uppercase()].map(|text| escape(&text)).join("|");
    let mut alternatives = Vec::new();
    if !long.is_empty() {
        alternatives.push(join(&long, cased));
    }
    if !short.is_empty() {
        alternatives.push(format!(r"(?:\b|_)(?:{})", join(&short, cased)));
        alternatives.push(format!("[a-z0-9](?:{})", join(&short, |stem| escape(&capitalized(stem)))));
    }
    format!("(?-u:{})", alternatives.join("|"))
}

fn join(stems: &[&String], write: impl Fn(&str) -> String) -> String {
    stems.iter().map(|stem| write(stem)).collect::<Vec<String>>().join("|")
}

/// Pattern for a stem whose last letters match all their spellings: `retry` and `retries`, `serialize` and `serialise`.
fn spelled(stem: &str) -> String {
    let pattern = escape(stem);
    if let Some(head) = pattern.strip_suffix("iz") {
        format!("{head}i[sz]")
    } else if let Some(head) = pattern.strip_suffix('y') {
        format!("{head}[yi]")
    } else {
        pattern
    }
}

fn capitalized(stem: &str) -> String {
    let mut characters = stem.chars();
    let first: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}", characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_searched_for_in_every_case_style() {
        assert_eq!(Term::identifier("maxDepth", 1.0).pattern(), "(?i:max[_-]?depth)");
        assert_eq!(Term::identifier("max_depth", 1.0).pattern(), "(?i:max[_-]?depth)");
    }

    #[test]
    fn quoted_text_is_searched_for_as_it_stands() {
        assert_eq!(Term::phrase("a.b (c)", 1.0).pattern(), r"(?i:a\.b \(c\))");
    }

    #[test]
    fn words_of_one_meaning_are_one_term() {
        let mut term = Term::word("error", 1.0);
        assert!(term.absorb(&Term::word("failures", 1.0)));
        assert!(!term.absorb(&Term::word("header", 1.0)));
        assert!(term.pattern().contains("fail"));
    }
}
