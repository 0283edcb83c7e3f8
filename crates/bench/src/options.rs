//! Options of `cargo xtask bench`.

use std::fmt;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) parts: Vec<Part>,
    /// Repetitions of each measurement.
    pub(super) runs: usize,
    pub(super) check: bool,
    pub(super) write: bool,
    pub(super) cold: bool,
}

/// A group of figures that is measured together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Start,
    Delegation,
    Parallel,
    Wake,
    Mcp,
    Live,
    Journal,
    Resume,
    Search,
    Match,
    Grants,
    Shell,
    Tokens,
    Size,
}

const PARTS: [Part; 14] = [
    Part::Start,
    Part::Delegation,
    Part::Parallel,
    Part::Wake,
    Part::Mcp,
    Part::Live,
    Part::Journal,
    Part::Resume,
    Part::Search,
    Part::Match,
    Part::Grants,
    Part::Shell,
    Part::Tokens,
    Part::Size,
];

impl Part {
    /// True if it runs `sortie` itself.
    pub(super) fn needs_program(self) -> bool {
        !matches!(self, Self::Live | Self::Search | Self::Grants | Self::Tokens)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::Delegation => "delegation",
            Self::Parallel => "parallel",
            Self::Wake => "wake",
            Self::Mcp => "mcp",
            Self::Live => "live",
            Self::Journal => "journal",
            Self::Resume => "resume",
            Self::Search => "search",
            Self::Match => "match",
            Self::Grants => "grants",
            Self::Shell => "shell",
            Self::Tokens => "tokens",
            Self::Size => "size",
        })
    }
}

impl Options {
    /// Reads the options; `None` for an unknown flag.
    pub(super) fn parse(flags: &[String]) -> Option<Self> {
        let mut options = Self { parts: PARTS.to_vec(), runs: 20, check: false, write: false, cold: false };
        let mut flags = flags.iter();
        while let Some(flag) = flags.next() {
            match flag.as_str() {
                "--check" => options.check = true,
                "--write" => options.write = true,
                "--cold" => options.cold = true,
                "--runs" => options.runs = flags.next()?.parse().ok().filter(|&runs| runs > 0)?,
                "--only" => options.parts = flags.next()?.split(',').map(part).collect::<Option<_>>()?,
                _ => return None,
            }
        }
        // A page with some of the figures would pass for one with all of them.
        (!options.write || options.parts == PARTS).then_some(options)
    }
}

fn part(name: &str) -> Option<Part> {
    PARTS.into_iter().find(|part| part.to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(flags: &str) -> Option<Options> {
        Options::parse(&flags.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_are_read() {
        let options = parse("--check --runs 5 --only start,live").unwrap();
        assert_eq!((options.check, options.runs), (true, 5));
        assert_eq!(options.parts, [Part::Start, Part::Live]);
        assert_eq!(parse("").unwrap().parts, PARTS);
    }

    #[test]
    fn invalid_flags_are_refused() {
        for flags in ["--chek", "--runs", "--runs 0", "--only start,nothing", "--write --only start"] {
            assert_eq!(parse(flags), None, "{flags}");
        }
    }
}
