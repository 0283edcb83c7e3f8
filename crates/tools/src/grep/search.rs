//! One file's matches.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};
use sortie_sandbox::{AccessError, Workspace};

use super::OutputMode;
use super::query::Query;
use crate::answer::MAX_BYTES;
use crate::blocking::Stop;
use crate::interruptible::Interruptible;
use crate::read::BINARY_PROBE_BYTES;

const MAX_LINE_CHARS: usize = 400;
/// Of a line that is cut, this much is shown before the match.
const CHARS_BEFORE_MATCH: usize = 100;

/// What became of one file.
pub(super) enum Searched {
    Matches(FileMatches),
    Binary,
    Unreadable,
    /// A line of it (in multi-line searches: the file) is too long to be held in memory.
    TooLong,
    /// It is no longer there, or the call had to stop.
    Gone,
}

pub(super) struct FileMatches {
    pub(super) path: PathBuf,
    pub(super) n_matches: usize,
    pub(super) lines: Vec<Line>,
    /// The rest after a NUL byte was not searched.
    pub(super) is_cut_at_nul: bool,
    n_bytes: usize,
}

/// A line of the answer.
pub(super) enum Line {
    Match { number: u64, text: String },
    Context { number: u64, text: String },
    Gap,
}

impl Searched {
    pub(super) fn n_matches(&self) -> usize {
        match self {
            Self::Matches(matches) => matches.n_matches,
            _ => 0,
        }
    }

    /// About how much of the answer it takes.
    pub(super) fn n_bytes(&self) -> usize {
        match self {
            Self::Matches(matches) if matches.n_matches > 0 => matches.n_bytes + matches.path.as_os_str().len(),
            _ => 0,
        }
    }
}

/// What one thread needs to search files, one after the other.
pub(super) struct FileSearch<'q> {
    query: &'q Query,
    matcher: RegexMatcher,
    searcher: Searcher,
    start: Vec<u8>,
}

impl<'q> FileSearch<'q> {
    pub(super) fn new(query: &'q Query) -> Self {
        Self { query, matcher: query.matcher.clone(), searcher: query.searcher(), start: Vec::new() }
    }

    pub(super) fn run(&mut self, workspace: &Workspace, path: &Path, stop: &Stop) -> Searched {
        let file = match workspace.open_relative(path) {
            Ok(file) => file,
            Err(AccessError::Vanished { .. }) => return Searched::Gone,
            Err(_) => return Searched::Unreadable,
        };
        match self.search(file, path, stop) {
            Ok(searched) => searched,
            Err(_) if stop.halt().is_some() => Searched::Gone,
            // The searcher's own errors, which have no code of the system, are about its memory.
            Err(error) if error.raw_os_error().is_none() => Searched::TooLong,
            Err(_) => Searched::Unreadable,
        }
    }

    fn search(&mut self, mut file: File, path: &Path, stop: &Stop) -> io::Result<Searched> {
        self.start.clear();
        (&mut file).take(BINARY_PROBE_BYTES as u64).read_to_end(&mut self.start)?;
        if self.start.contains(&0) {
            return Ok(Searched::Binary);
        }
        let mut matches =
            FileMatches { path: path.to_owned(), n_matches: 0, lines: Vec::new(), is_cut_at_nul: false, n_bytes: 0 };
        let sink = Collect { query: self.query, matcher: &self.matcher, matches: &mut matches };
        let reader = self.start.as_slice().chain(Interruptible::new(file, stop));
        self.searcher.search_reader(&self.matcher, reader, sink)?;
        Ok(Searched::Matches(matches))
    }
}

/// Takes the searcher's findings.
struct Collect<'a> {
    query: &'a Query,
    matcher: &'a RegexMatcher,
    matches: &'a mut FileMatches,
}

impl Collect<'_> {
    fn push(&mut self, line: Line) {
        self.matches.n_bytes += match &line {
            Line::Match { text, .. } | Line::Context { text, .. } => text.len() + 6,
            Line::Gap => 3,
        };
        self.matches.lines.push(line);
    }

    /// Whether more of this file could still be shown.
    fn goes_on(&self) -> bool {
        match self.query.mode {
            OutputMode::Content => {
                self.matches.n_matches <= self.query.max_results && self.matches.n_bytes <= MAX_BYTES
            }
            OutputMode::FilesWithMatches => false,
            OutputMode::Count => true,
        }
    }
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matches.n_matches += 1;
        if self.query.mode == OutputMode::Content {
            let first = found.line_number().unwrap_or(0);
            for (number, line) in (first..).zip(found.lines()) {
                let at = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
                self.push(Line::Match { number, text: shown(line, at) });
            }
        }
        Ok(self.goes_on())
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        let number = context.line_number().unwrap_or(0);
        self.push(Line::Context { number, text: shown(context.bytes(), 0) });
        Ok(self.goes_on())
    }

    fn context_break(&mut self, _searcher: &Searcher) -> Result<bool, io::Error> {
        self.push(Line::Gap);
        Ok(true)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.matches.is_cut_at_nul = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// A line as it is shown: without its end, and if it is long, the part around byte `at`.
fn shown(line: &[u8], at: usize) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\n', '\r']);
    if text.len() <= MAX_LINE_CHARS {
        return text.to_owned();
    }
    let n_chars = text.chars().count();
    if n_chars <= MAX_LINE_CHARS {
        return text.to_owned();
    }
    let n_before = String::from_utf8_lossy(&line[..at.min(line.len())]).chars().count();
    let start = n_before.saturating_sub(CHARS_BEFORE_MATCH).min(n_chars - MAX_LINE_CHARS);
    let end = start + MAX_LINE_CHARS;
    let part: String = text.chars().skip(start).take(MAX_LINE_CHARS).collect();
    let before = if start > 0 { format!("[{start} chars] ") } else { String::new() };
    let after = if end < n_chars { format!(" [{} chars]", n_chars - end) } else { String::new() };
    format!("{before}{part}{after}")
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_long_line_is_cut_around_its_match_and_says_so() {
        let line = format!("{}needle{}\r\n", "ä".repeat(1000), "b".repeat(1000));
        let text = shown(line.as_bytes(), 2000);
        assert!(text.starts_with("[900 chars] ä") && text.ends_with("b [706 chars]"), "{text}");
        assert!(text.contains("äneedleb"));
        assert_eq!(shown(b"short\r\n", 0), "short");
    }
}
