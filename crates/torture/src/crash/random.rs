//! Numbers that look random and depend on the seed alone, on every machine (`SplitMix64`).

#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates one of many sequences: neighbouring ones have nothing in common.
    pub(crate) fn new(seed: u64, sequence: u64) -> Self {
        let mut random = Self(seed);
        let begin = random.next();
        let mut random = Self(begin ^ sequence.wrapping_mul(0xA24B_AED4_963E_E407));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to but not including `end`, which is not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// One of so many times.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_says_it_all() {
        let numbers = |seed, sequence| {
            let mut random = Random::new(seed, sequence);
            [(); 4].map(|()| random.below(1000))
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        assert_ne!(numbers(1, 2), numbers(2, 2));
    }
}
