//! The query: the content words of a text, and their stems.

use std::collections::HashMap;

use crate::matching::words::{each_word, is_empty_word, is_simple, write_folded, write_stem};

/// One word of the query.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// In lower case, as in the text.
    pub(super) text: String,
    /// Its index among all stems of the query.
    pub(super) stem: usize,
}

/// The stems to count, and which of them are words or parts of words.
#[derive(Debug, Default)]
pub(super) struct Query {
    stems: HashMap<String, usize>,
    words: Vec<Asked>,
    /// Bit n: some stem begins with the n-th letter or digit. The last bit: one begins with something else.
    first_letters: u64,
}

/// A word of the text, and its parts if it is in camel case.
#[derive(Debug)]
struct Asked {
    whole: Word,
    parts: Vec<Word>,
}

impl Query {
    pub(super) fn new(text: &str) -> Self {
        let mut query = Self::default();
        let mut folded = String::new();
        each_word(text, |word, part| {
            write_folded(word, &mut folded);
            if !is_empty_word(&folded) {
                query.add(word.to_lowercase(), part);
            }
        });
        query
    }

    fn add(&mut self, text: String, part: bool) {
        let mut stem = String::new();
        write_stem(&text, &mut stem);
        self.first_letters |= first_letter(&stem);
        let next = self.stems.len();
        let word = Word { text, stem: *self.stems.entry(stem).or_insert(next) };
        match self.words.last_mut() {
            Some(last) if part => last.parts.push(word),
            _ => self.words.push(Asked { whole: word, parts: Vec::new() }),
        }
    }

    /// Number of stems.
    pub(super) fn stem_count(&self) -> usize {
        self.stems.len()
    }

    /// The stem index of this word, if the query has it.
    pub(super) fn stem_of(&self, word: &str, buffer: &mut String) -> Option<usize> {
        // Stemming never changes the first letter of such a word, so most words can be ruled out without stemming.
        if is_simple(word) && self.first_letters & first_letter(word) == 0 {
            return None;
        }
        write_stem(word, buffer);
        self.stems.get(buffer.as_str()).copied()
    }

    /// The content words, each once. A word in camel case counts as a whole if some agent has it, otherwise by its
    /// parts.
    pub(super) fn words(self, is_found: impl Fn(usize) -> bool) -> Vec<Word> {
        let mut seen = vec![false; self.stems.len()];
        let mut words = Vec::new();
        for Asked { whole, parts } in self.words {
            let as_whole = parts.is_empty() || is_found(whole.stem);
            let chosen = if as_whole { vec![whole] } else { parts };
            words.extend(chosen.into_iter().filter(|word| !std::mem::replace(&mut seen[word.stem], true)));
        }
        words
    }
}

/// The bit of a word's first letter.
fn first_letter(word: &str) -> u64 {
    match word.bytes().next() {
        Some(letter @ (b'a'..=b'z' | b'A'..=b'Z')) => 1 << (letter.to_ascii_lowercase() - b'a'),
        Some(digit @ b'0'..=b'9') => 1 << (26 + digit - b'0'),
        Some(_) => 1 << 63,
        None => 0,
    }
}
