//! Matches between a line and the terms of a question, each with its strength.
//!
//! A matcher is built once for a question and used on every line seen: the model spends most of its time here.

use std::collections::HashMap;

use crate::language::lexicon::is_stop_word;
use crate::language::stem::stem;
use crate::question::term::{LONG_STEM, Shape, Term};

/// Weight of a match inside a longer word, relative to a whole word.
const INNER: f64 = 0.6;

/// A mention of a term: its strength and its place in the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Match {
    /// Index of the term in the question.
    pub(super) term: usize,
    /// 1 for a whole word, less for a part of one.
    pub(super) strength: f64,
    /// Index of the piece in the text.
    pub(super) position: usize,
    /// True for a synonym.
    pub(super) akin: bool,
}

/// A text in lower-case pieces: `HttpServer::new` is `http`, `server`, `new`.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// All letters and digits, without separators.
    letters: String,
    /// End of each piece in `letters`.
    ends: Vec<usize>,
    /// Index of each word's first piece.
    words: Vec<usize>,
}

impl Tokens {
    pub(super) fn of(text: &str) -> Self {
        let mut tokens = Self::default();
        let mut before = ' ';
        let mut in_word = false;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            if character.is_alphanumeric() {
                let ends_capitals = before.is_uppercase() && characters.peek().is_some_and(|next| next.is_lowercase());
                if character.is_uppercase() && (before.is_lowercase() || before.is_numeric() || ends_capitals) {
                    tokens.end_piece();
                }
                if !in_word {
                    tokens.words.push(tokens.ends.len());
                    in_word = true;
                }
                tokens.letters.extend(character.to_lowercase());
            } else {
                tokens.end_piece();
                in_word &= character == '_';
            }
            before = character;
        }
        tokens.end_piece();
        tokens
    }

    fn end_piece(&mut self) {
        if self.letters.len() > self.ends.last().copied().unwrap_or_default() {
            self.ends.push(self.letters.len());
        }
    }

    fn start(&self, piece: usize) -> usize {
        piece.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    fn pieces(&self) -> impl Iterator<Item = &str> {
        self.ends.iter().enumerate().map(|(at, end)| &self.letters[self.start(at)..*end])
    }

    /// Whole identifiers without their separators, each with its first piece.
    fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        self.words.iter().enumerate().map(|(at, &first)| {
            let end = self.words.get(at + 1).map_or(self.letters.len(), |&next| self.start(next));
            (first, &self.letters[self.start(first)..end])
        })
    }

    /// Number of pieces that could be a topic: `is_hidden` has one.
    pub(super) fn topical(&self) -> usize {
        self.pieces().filter(|piece| !is_stop_word(piece)).count()
    }
}

/// The terms of a question, prepared for matching.
#[derive(Debug)]
pub(super) struct Matcher<'q> {
    /// Terms by stem, and true if the stem is only a synonym.
    stems: HashMap<&'q str, Vec<(usize, bool)>>,
    /// First two letters of all stems; pieces that begin otherwise need no stemming.
    openings: Vec<[u8; 2]>,
    /// Stems that also count inside a longer word.
    inner: Vec<(usize, &'q str)>,
    compounds: Vec<(usize, &'q str)>,
    names: Vec<(usize, &'q str)>,
    phrases: Vec<(usize, &'q str)>,
}

impl<'q> Matcher<'q> {
    pub(super) fn new(terms: &'q [Term]) -> Self {
        let mut matcher = Self {
            stems: HashMap::new(),
            openings: Vec::new(),
            inner: Vec::new(),
            compounds: Vec::new(),
            names: Vec::new(),
            phrases: Vec::new(),
        };
        for (index, term) in terms.iter().enumerate() {
            match term.shape() {
                Shape::Word { stems, synonyms, compounds } => {
                    for stem in stems {
                        matcher.add_stem(stem, index, false);
                    }
                    for stem in synonyms {
                        matcher.add_stem(stem, index, true);
                    }
                    let long = stems.iter().filter(|stem| stem.len() >= LONG_STEM);
                    matcher.inner.extend(long.map(|stem| (index, stem.as_str())));
                    matcher.compounds.extend(compounds.iter().map(|joined| (index, joined.as_str())));
                }
                Shape::Identifier { flat, .. } => matcher.names.push((index, flat)),
                Shape::Phrase { lower } => matcher.phrases.push((index, lower)),
            }
        }
        matcher
    }

    fn add_stem(&mut self, stem: &'q str, term: usize, akin: bool) {
        if let Some(opening) = opening(stem)
            && !self.openings.contains(&opening)
        {
            self.openings.push(opening);
        }
        self.stems.entry(stem).or_default().push((term, akin));
    }

    /// Returns the best match for each term in a text.
    pub(super) fn find(&self, text: &str, tokens: &Tokens) -> Vec<Match> {
        let mut found: Vec<Match> = Vec::new();
        for (position, piece) in tokens.pieces().enumerate() {
            if opening(piece).is_some_and(|opening| self.openings.contains(&opening)) {
                for &(term, akin) in self.stems.get(stem(piece).as_str()).into_iter().flatten() {
                    keep(&mut found, Match { term, strength: 1.0, position, akin });
                }
            }
            for &(term, _) in self.compounds.iter().filter(|(_, joined)| piece.starts_with(joined)) {
                keep(&mut found, Match { term, strength: 1.0, position, akin: false });
            }
            for &(term, _) in self.inner.iter().filter(|(_, long)| ends_with_family(piece, long)) {
                keep(&mut found, Match { term, strength: INNER, position, akin: false });
            }
        }
        self.find_verbatim(text, tokens, &mut found);
        found
    }

    fn find_verbatim(&self, text: &str, tokens: &Tokens, found: &mut Vec<Match>) {
        if !self.names.is_empty() {
            for (position, word) in tokens.words() {
                for &(term, name) in &self.names {
                    if word == name {
                        keep(found, Match { term, strength: 1.0, position, akin: false });
                    } else if name.len() >= LONG_STEM && word.contains(name) {
                        keep(found, Match { term, strength: INNER, position, akin: false });
                    }
                }
            }
        }
        if !self.phrases.is_empty() {
            let lower = text.to_lowercase();
            for &(term, _) in self.phrases.iter().filter(|(_, phrase)| lower.contains(phrase)) {
                keep(found, Match { term, strength: 1.0, position: 0, akin: false });
            }
        }
    }

    /// Finds terms in a text whose tokens are not needed otherwise.
    pub(super) fn find_in(&self, text: &str) -> Vec<Match> {
        self.find(text, &Tokens::of(text))
    }
}

/// True if a longer word ends with a word of the stem's family: `gitignores` with `ignor`.
fn ends_with_family(piece: &str, long: &str) -> bool {
    piece.find(long).is_some_and(|at| at > 0 && stem(&piece[at..]) == long)
}

fn opening(word: &str) -> Option<[u8; 2]> {
    word.as_bytes().first_chunk().copied()
}

/// Keeps the better of two matches for one term: the word itself before a synonym, a whole word before a part.
fn keep(found: &mut Vec<Match>, next: Match) {
    match found.iter_mut().find(|known| known.term == next.term) {
        None => found.push(next),
        Some(known) => {
            if (!next.akin, next.strength) > (!known.akin, known.strength) {
                *known = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strength of the term itself in a line; 0 if it is absent or only a synonym is there.
    fn strength(term: &Term, line: &str) -> f64 {
        let terms = [term.clone()];
        let found = Matcher::new(&terms).find_in(line);
        found.first().filter(|found| !found.akin).map_or(0.0, |found| found.strength)
    }

    fn assert_whole(term: &Term, line: &str) {
        assert!((strength(term, line) - 1.0).abs() < f64::EPSILON, "{line}");
    }

    #[test]
    fn a_word_is_found_in_every_inflection_and_case_style() {
        let term = Term::word("parsing", 1.0);
        for line in ["fn parse(", "struct UrlParser", "PARSED_ALL", "parsers:"] {
            assert_whole(&term, line);
        }
        assert!(strength(&term, "sparse matrix") < 1.0);
    }

    #[test]
    fn a_synonym_is_found_and_marked_as_one() {
        let terms = [Term::word("retries", 1.0)];
        let akin = |line: &str| Matcher::new(&terms).find_in(line).first().map(|found| found.akin);
        assert_eq!(akin("with_backoff()"), Some(true));
        assert_eq!(akin("retry() with backoff"), Some(false));
        assert_eq!(akin("retrieve()"), None);
    }

    #[test]
    fn an_identifier_is_found_in_every_case_style() {
        let term = Term::identifier("maxDepth", 1.0);
        for line in ["max_depth: 3", "MAX_DEPTH", "let maxDepth = 1", "MaxDepth"] {
            assert_whole(&term, line);
        }
        assert!(strength(&term, "max and depth") < f64::EPSILON);
    }

    #[test]
    fn neighbours_in_a_question_are_found_joined() {
        let mut term = Term::word("user", 1.0);
        term.add_compound("useragent".to_owned());
        assert_whole(&term, "fn useragent()");
    }

    #[test]
    fn matches_have_their_position_in_an_identifier() {
        let terms = [Term::word("header", 1.0), Term::word("sensitive", 1.0)];
        let mut found = Matcher::new(&terms).find_in("remove_sensitive_headers");
        found.sort_by_key(|found| found.term);
        assert_eq!(found.iter().map(|found| found.position).collect::<Vec<_>>(), [2, 1]);
    }
}
