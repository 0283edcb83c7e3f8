//! Options of `cargo xtask practice`.

use std::time::Duration;

/// A small model on a small machine needs most of this for a scenario.
const USUAL_MINUTES: u64 = 10;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// The number of the only scenario to play.
    only: Option<usize>,
    /// Time of one command.
    minutes: u64,
    pub(super) write: bool,
}

impl Options {
    /// Reads the options; `None` for an unknown flag.
    pub(super) fn parse(flags: &[String]) -> Option<Self> {
        let mut options = Self { only: None, minutes: USUAL_MINUTES, write: false };
        let mut flags = flags.iter();
        while let Some(flag) = flags.next() {
            match flag.as_str() {
                "--only" => options.only = Some(flags.next()?.parse().ok().filter(|number| (1..=5).contains(number))?),
                "--minutes" => options.minutes = flags.next()?.parse().ok().filter(|&minutes| minutes > 0)?,
                "--write" => options.write = true,
                _ => return None,
            }
        }
        // A page of one scenario would look as if the others had been played.
        (options.only.is_none() || !options.write).then_some(options)
    }

    pub(super) fn plays(&self, number: usize) -> bool {
        self.only.is_none_or(|only| only == number)
    }

    pub(super) fn limit(&self) -> Duration {
        Duration::from_mins(self.minutes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(flags: &str) -> Option<Options> {
        Options::parse(&flags.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_are_read() {
        assert_eq!(parse("--write"), Some(Options { only: None, minutes: USUAL_MINUTES, write: true }));
        assert_eq!(parse("--only 3 --minutes 5"), Some(Options { only: Some(3), minutes: 5, write: false }));
    }

    #[test]
    fn unusable_flags_are_refused() {
        for flags in ["--only", "--only 0", "--only 6", "--minutes 0", "--all", "--only 1 --write"] {
            assert_eq!(parse(flags), None, "{flags}");
        }
    }
}
