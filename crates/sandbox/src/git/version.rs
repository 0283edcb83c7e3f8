//! Versions of git: which can be pinned, and which have a known vulnerability.

use std::fmt;

/// A version of git, without distribution suffixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

/// First version without CVE-2025-48384 in each release line; later lines never had it.
const MENDED: [GitVersion; 8] = [
    GitVersion::new(2, 43, 7),
    GitVersion::new(2, 44, 4),
    GitVersion::new(2, 45, 4),
    GitVersion::new(2, 46, 4),
    GitVersion::new(2, 47, 3),
    GitVersion::new(2, 48, 2),
    GitVersion::new(2, 49, 1),
    GitVersion::new(2, 50, 1),
];

impl GitVersion {
    /// First version that can refuse bare repositories within a working tree.
    pub(super) const OLDEST: Self = Self::new(2, 38, 0);

    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// Parses the output of `git version`.
    pub(super) fn parse(words: &str) -> Option<Self> {
        let numbers = words.trim().strip_prefix("git version ")?.split(' ').next()?;
        let mut numbers = numbers.split('.').map(str::parse);
        let major = numbers.next()?.ok()?;
        let minor = numbers.next()?.ok()?;
        // A release candidate counts as patch 0.
        let patch = numbers.next().and_then(Result::ok).unwrap_or_default();
        Some(Self { major, minor, patch })
    }

    /// The version to upgrade to, if this one lets a repository write its own hooks when submodules are fetched
    /// (CVE-2025-48384). A distribution may have fixed it without a new number.
    pub fn mended_by(self) -> Option<Self> {
        let line = MENDED.iter().find(|mended| (mended.major, mended.minor) == (self.major, self.minor));
        let next = line.or(MENDED.first().filter(|first| self < **first))?;
        (self < *next).then_some(*next)
    }
}

impl fmt::Display for GitVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_with_distribution_suffixes() {
        for (words, version) in [
            ("git version 2.47.3\n", GitVersion::new(2, 47, 3)),
            ("git version 2.39.5 (Apple Git-154)", GitVersion::new(2, 39, 5)),
            ("git version 2.50.1.windows.1", GitVersion::new(2, 50, 1)),
            ("git version 2.51.rc0", GitVersion::new(2, 51, 0)),
        ] {
            assert_eq!(GitVersion::parse(words), Some(version), "{words}");
        }
        assert_eq!(GitVersion::parse("busybox"), None);
    }

    #[test]
    fn each_release_line_has_a_fixed_version() {
        for (version, mended) in [
            ((2, 39, 5), Some((2, 43, 7))),
            ((2, 43, 6), Some((2, 43, 7))),
            ((2, 43, 7), None),
            ((2, 44, 3), Some((2, 44, 4))),
            ((2, 47, 2), Some((2, 47, 3))),
            ((2, 47, 3), None),
            ((2, 50, 0), Some((2, 50, 1))),
            ((2, 50, 1), None),
            ((2, 51, 0), None),
            ((3, 0, 0), None),
        ] {
            let new = |(major, minor, patch)| GitVersion::new(major, minor, patch);
            assert_eq!(new(version).mended_by(), mended.map(new), "{version:?}");
        }
    }
}
