//! A sieve for patterns: the pairs of neighbouring characters that occur in a text.
//!
//! A pattern can match only where all pairs of its own literal parts occur. Looking at that first takes one step a
//! rule, and spares nearly all of the comparing.

/// A set of bigrams, kept by their hashes: it may hold more than was put in, never less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Bigrams(u128);

/// Stands before and behind a whole name.
pub(crate) const EDGE: char = '/';

impl Bigrams {
    /// Of what is not known, anything may occur.
    pub(crate) const ALL: Self = Self(u128::MAX);

    /// Adds a name with its edges.
    pub(crate) fn add_name(&mut self, name: &str) {
        self.add([EDGE].into_iter().chain(name.chars()).chain([EDGE]));
    }

    /// Adds characters that stand side by side.
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
