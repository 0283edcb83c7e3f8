//! A sieve for patterns: the pairs of neighbouring characters in a text.
//!
//! A pattern can match only if all pairs of its own literal parts occur. This check takes one step per rule and saves
//! nearly all comparisons.

/// A set of bigrams, stored by their hashes: it may hold more than was put in, never less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Bigrams(u128);

/// Marks both ends of a whole name.
pub(crate) const EDGE: char = '/';

impl Bigrams {
    /// Bigrams of an unknown text, in which any may occur.
    pub(crate) const ALL: Self = Self(u128::MAX);

    /// Adds a name with its edges.
    pub(crate) fn add_name(&mut self, name: &str) {
        self.add([EDGE].into_iter().chain(name.chars()).chain([EDGE]));
    }

    /// Adds a sequence of characters.
    pub(crate) fn add(&mut self, characters: impl IntoIterator<Item = char>) {
        let mut before: Option<char> = None;
        for character in characters {
            if let Some(before) = before {
                let hash = (before as u32).wrapping_mul(0x9E37_79B1) ^ (character as u32).wrapping_mul(0x85EB_CA6B);
                self.0 |= 1 << (hash.wrapping_mul(0xC2B2_AE35) >> 25);
            }
            before = Some(character);
        }
    }

    pub(crate) fn has_all_of(self, needed: Self) -> bool {
        needed.0 & !self.0 == 0
    }
}
