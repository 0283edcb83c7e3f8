//! A term: one thing that a question asks about, as it may be written in code.
//!
//! Knows how to look for itself (a regular expression for Grep) and how well a line speaks of it. Which terms a
//! question has is decided in `question`, how much a place is worth in `rank`.

use super::stem::stem;
use super::synonyms::synonyms;
use super::words::{is_stop_word, pieces, words};

/// A match on the word itself counts fully, one inside a longer word or on a synonym less.
const INNER: f64 = 0.6;
const SYNONYM: f64 = 0.5;

/// Stems at least this long are searched for anywhere in a word; shorter ones only as words of their own.
const LONG_STEM: usize = 5;

/// Endings with which a short stem is still the same word.
const ENDINGS: &str = "(?:[a-z]?(?:e|ed|er|ers|ing|ings|es|ion|ions|or|ors|able)|s|d|y|ies|ied)?";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    /// The term as the question has it.
    pub(super) label: String,
    /// How much it says about the topic, before its rarity is known: 1 for an ordinary word.
    pub(super) weight: f64,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Word { stem: String, synonyms: Vec<String>, compounds: Vec<String> },
    Identifier { flat: String, pieces: Vec<String> },
    Phrase { lower: String },
}

/// A line (or a name, or a path) made ready for matching.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tokens {
    pieces: Vec<Piece>,
    /// Whole identifiers, lower-case without separators, each with the place of its first piece.
    flats: Vec<(String, usize)>,
    lower: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Piece {
    text: String,
    stem: String,
}

/// How well and where a line speaks of a term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Match {
    /// 1 for the word itself, less for relatives.
    pub(super) strength: f64,
    /// Which piece of the line it is.
    pub(super) position: usize,
}

impl Tokens {
    pub(super) fn of(text: &str) -> Self {
        let mut tokens = Self { lower: text.to_lowercase(), ..Self::default() };
        for word in words(text) {
            let at = tokens.pieces.len();
            let parts = pieces(word);
            tokens.flats.push((parts.concat(), at));
            tokens.pieces.extend(parts.into_iter().map(|text| Piece { stem: stem(&text), text }));
        }
        tokens
    }

    /// How many of its words could be a topic: `is_hidden` has one.
    pub(super) fn topical(&self) -> usize {
        self.pieces.iter().filter(|piece| !is_stop_word(&piece.text)).count()
    }
}

impl Term {
    /// An ordinary word of prose, lower-case.
    pub(super) fn word(word: &str, weight: f64) -> Self {
        let stem = stem(word);
        let synonyms = synonyms(&stem);
        Self { label: word.to_owned(), weight, shape: Shape::Word { stem, synonyms, compounds: Vec::new() } }
    }

    /// A name from code; every case style of it is meant.
    pub(super) fn identifier(name: &str, weight: f64) -> Self {
        let pieces: Vec<String> = words(name).flat_map(pieces).collect();
        Self { label: name.to_owned(), weight, shape: Shape::Identifier { flat: pieces.concat(), pieces } }
    }

    /// Quoted text, meant as it stands.
    pub(super) fn phrase(text: &str, weight: f64) -> Self {
        Self { label: text.to_owned(), weight, shape: Shape::Phrase { lower: text.to_lowercase() } }
    }

    /// Adds a spelling that joins this word with its neighbour in the question: `user agent` as `useragent`.
    pub(super) fn add_compound(&mut self, joined: String) {
        if let Shape::Word { compounds, .. } = &mut self.shape {
            compounds.push(joined);
        }
    }

    /// Whether both are the same word for a search.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        match (&self.shape, &other.shape) {
            (Shape::Word { stem: left, .. }, Shape::Word { stem: right, .. }) => left == right,
            (left, right) => left == right,
        }
    }

    /// Whether it was written as code or in quotes.
    pub(super) fn is_verbatim(&self) -> bool {
        !matches!(self.shape, Shape::Word { .. })
    }

    /// The words that an identifier is made of: something to look for when it is nowhere as a whole.
    pub(super) fn parts(&self) -> Vec<String> {
        match &self.shape {
            Shape::Identifier { pieces, .. } => pieces.clone(),
            Shape::Phrase { lower } => words(lower).map(str::to_owned).collect(),
            Shape::Word { .. } => Vec::new(),
        }
    }

    /// The stem for words, nothing for the rest.
    pub(super) fn stem(&self) -> Option<&str> {
        match &self.shape {
            Shape::Word { stem, .. } => Some(stem),
            Shape::Identifier { .. } | Shape::Phrase { .. } => None,
        }
    }

    /// The best match in a line.
    pub(super) fn find_in(&self, tokens: &Tokens) -> Option<Match> {
        match &self.shape {
            Shape::Word { stem, synonyms, compounds } => tokens
                .pieces
                .iter()
                .enumerate()
                .filter_map(|(position, piece)| {
                    let strength = piece_strength(piece, stem, synonyms, compounds);
                    (strength > 0.0).then_some(Match { strength, position })
                })
                .fold(None, better),
            Shape::Identifier { flat, .. } => tokens
                .flats
                .iter()
                .filter_map(|(word, position)| {
                    let strength = if word == flat {
                        1.0
                    } else if flat.len() >= LONG_STEM && word.contains(flat.as_str()) {
                        INNER
                    } else {
                        return None;
                    };
                    Some(Match { strength, position: *position })
                })
                .fold(None, better),
            Shape::Phrase { lower } => {
                tokens.lower.contains(lower.as_str()).then_some(Match { strength: 1.0, position: 0 })
            }
        }
    }

    /// A regular expression for the term and its relatives. It stands alone: flags and groups are its own.
    pub(super) fn pattern(&self) -> String {
        match &self.shape {
            Shape::Word { stem, synonyms, compounds } => {
                let mut all: Vec<String> = vec![word_pattern(stem)];
                all.extend(compounds.iter().map(|joined| escape(joined)));
                all.extend(synonyms.iter().map(|stem| word_pattern(stem)));
                format!("(?i:{})", all.join("|"))
            }
            Shape::Identifier { pieces, .. } => {
                let pieces: Vec<String> = pieces.iter().map(|piece| escape(piece)).collect();
                format!("(?i:{})", pieces.join("[_-]?"))
            }
            Shape::Phrase { lower } => format!("(?i:{})", escape(lower)),
        }
    }

    /// A glob fragment for file names that carry the word itself, in any case; nothing where that would find noise.
    pub(super) fn file_fragments(&self) -> Vec<String> {
        let core = match &self.shape {
            Shape::Word { stem, .. } if stem.len() >= 3 => stem.clone(),
            Shape::Identifier { pieces, .. } => pieces.join("_"),
            Shape::Word { .. } | Shape::Phrase { .. } => return Vec::new(),
        };
        let mut capital = core.clone();
        if let Some(first) = capital.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        if capital == core { vec![core] } else { vec![core, capital] }
    }
}

fn better(best: Option<Match>, next: Match) -> Option<Match> {
    match best {
        Some(best) if best.strength >= next.strength => Some(best),
        _ => Some(next),
    }
}

fn piece_strength(piece: &Piece, stem: &str, synonyms: &[String], compounds: &[String]) -> f64 {
    if piece.stem == stem || compounds.iter().any(|joined| piece.text.starts_with(joined.as_str())) {
        1.0
    } else if synonyms.contains(&piece.stem) {
        SYNONYM
    } else if stem.len() >= LONG_STEM && piece.text.contains(stem) {
        INNER
    } else {
        0.0
    }
}

fn word_pattern(stem: &str) -> String {
    if stem.len() >= LONG_STEM {
        return loosen(&escape(stem));
    }
    let mut characters = stem.chars();
    let Some(first) = characters.next() else { return String::new() };
    let rest = loosen(&escape(characters.as_str()));
    let capital: String = first.to_uppercase().collect();
    let first = escape(&first.to_string());
    format!(r"(?:(?:\b|_){first}|(?-i:[a-z0-9]{capital})){rest}{ENDINGS}(?-i:[^a-z]|$)")
}

/// Lets an ending match both of its spellings: `retry` and `retries`, `serialize` and `serialise`.
fn loosen(pattern: &str) -> String {
    if let Some(head) = pattern.strip_suffix("iz") {
        format!("{head}i[sz]")
    } else if let Some(head) = pattern.strip_suffix('y') {
        format!("{head}[yi]")
    } else {
        pattern.to_owned()
    }
}

/// Escapes what a regular expression would read as its own.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~/".contains(character) && character != '/' {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strength(term: &Term, line: &str) -> f64 {
        term.find_in(&Tokens::of(line)).map_or(0.0, |found| found.strength)
    }

    #[test]
    fn a_word_is_found_in_every_inflection_and_case_style() {
        let term = Term::word("parsing", 1.0);
        for line in ["fn parse(", "struct UrlParser", "PARSED_ALL", "parsers:"] {
            assert!((strength(&term, line) - 1.0).abs() < f64::EPSILON, "{line}");
        }
        assert!(strength(&term, "sparse matrix") < 1.0);
    }

    #[test]
    fn a_synonym_counts_less_than_the_word_itself() {
        let term = Term::word("retries", 1.0);
        assert!((strength(&term, "with_backoff()") - SYNONYM).abs() < f64::EPSILON);
        assert!(strength(&term, "retry()") > strength(&term, "with_backoff()"));
        assert!(strength(&term, "retrieve()") < f64::EPSILON);
    }

    #[test]
    fn an_identifier_is_found_in_every_case_style() {
        let term = Term::identifier("maxDepth", 1.0);
        for line in ["max_depth: 3", "MAX_DEPTH", "let maxDepth = 1", "MaxDepth"] {
            assert!((strength(&term, line) - 1.0).abs() < f64::EPSILON, "{line}");
        }
        assert!(strength(&term, "max and depth") < f64::EPSILON);
        assert_eq!(term.pattern(), "(?i:max[_-]?depth)");
    }

    #[test]
    fn neighbours_in_a_question_are_found_joined() {
        let mut term = Term::word("user", 1.0);
        term.add_compound("useragent".to_owned());
        assert!((strength(&term, "fn useragent()") - 1.0).abs() < f64::EPSILON);
    }
}
