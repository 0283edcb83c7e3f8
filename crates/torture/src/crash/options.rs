//! Options of `cargo xtask crash`.

use super::points::Crash;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    /// Kills at random instants.
    pub(super) cycles: u64,
    pub(super) seed: u64,
    /// This round alone.
    pub(super) round: Option<u64>,
    /// True if the named points are tried as well.
    pub(super) points: bool,
    /// This crash alone.
    pub(super) point: Option<Crash>,
}

impl Default for Options {
    fn default() -> Self {
        Self { cycles: 200, seed: 1, round: None, points: true, point: None }
    }
}

impl Options {
    /// Reads the options; `None` for an unknown flag.
    pub(super) fn parse(flags: &[String]) -> Option<Self> {
        let mut options = Self::default();
        let mut flags = flags.iter();
        while let Some(flag) = flags.next() {
            match flag.as_str() {
                "--cycles" => options.cycles = flags.next()?.parse().ok()?,
                "--seed" => options.seed = flags.next()?.parse().ok()?,
                "--round" => options.round = Some(flags.next()?.parse().ok()?),
                "--no-points" => options.points = false,
                "--point" => options.point = Some(flags.next()?.parse().ok()?),
                _ => return None,
            }
        }
        // A round that is repeated is all that is wanted.
        options.points &= options.round.is_none();
        Some(options)
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
        let options = parse("--cycles 10000 --seed 7 --no-points").unwrap();
        assert_eq!((options.cycles, options.seed, options.points), (10_000, 7, false));
        let options = parse("--seed 7 --round 3").unwrap();
        assert_eq!((options.round, options.points), (Some(3), false));
        assert_eq!(parse(""), Some(Options::default()));
        let crash = parse("--point Bash/call.ran/2").unwrap().point.unwrap();
        assert_eq!(crash.to_string(), "Bash/call.ran/2");
    }

    #[test]
    fn invalid_crash_flags_are_refused() {
        for flags in ["--cycle 3", "--cycles", "--cycles many", "--point Bash", "--point Bash/call.ran/x"] {
            assert_eq!(parse(flags), None, "{flags}");
        }
    }
}
