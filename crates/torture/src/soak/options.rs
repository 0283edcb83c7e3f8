//! Options of `cargo xtask soak`.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) minutes: u64,
    pub(super) seed: u64,
}

impl Options {
    /// Reads the options; `None` for an unknown flag.
    pub(super) fn parse(flags: &[String]) -> Option<Self> {
        let mut options = Self { minutes: 60, seed: 1 };
        let mut flags = flags.iter();
        while let Some(flag) = flags.next() {
            match flag.as_str() {
                "--minutes" => options.minutes = flags.next()?.parse().ok().filter(|&minutes| minutes > 0)?,
                "--seed" => options.seed = flags.next()?.parse().ok()?,
                _ => return None,
            }
        }
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
        assert_eq!(parse(""), Some(Options { minutes: 60, seed: 1 }));
        assert_eq!(parse("--minutes 5 --seed 7"), Some(Options { minutes: 5, seed: 7 }));
    }

    #[test]
    fn invalid_soak_flags_are_refused() {
        for flags in ["--minute 5", "--minutes", "--minutes 0", "--seed x"] {
            assert_eq!(parse(flags), None, "{flags}");
        }
    }
}
