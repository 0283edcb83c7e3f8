//! `FileSearch`: the matches in one file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use sortie_sandbox::{AccessError, Workspace};

use super::OutputMode;
use super::interruptible_matcher::InterruptibleMatcher;
use super::query::Query;
use crate::answer::MAX_BYTES;
use crate::answer::halt::Stop;
use crate::answer::truncate;
use crate::files::encoding::BINARY_PROBE_BYTES;
use crate::files::interruptible::Interruptible;

/// A smaller file, as most are, is read once and searched in memory; a larger one is streamed through the searcher.
const START_BYTES: usize = 64 * 1024;

/// The result for one file.
pub(super) enum Searched {
    /// Boxed, because most files of a large tree have none.
    Matches(Box<FileMatches>),
    NoMatch,
    Binary,
    Unreadable,
    /// A line with its context (in multi-line searches: the file) is too long to search.
    TooLong,
    /// The file no longer exists.
    Gone,
    /// The call had to stop.
    Halted,
}

pub(super) struct FileMatches {
    pub(super) path: Box<Path>,
    pub(super) n_matches: usize,
    pub(super) lines: Vec<Line>,
    n_bytes: usize,
}

/// A line of the answer.
pub(super) enum Line {
    Text {
        number: u64,
        kind: LineKind,
        text: String,
    },
    /// Lines left out.
    Gap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A match begins here.
    Match,
    /// The match above continues here.
    Continued,
    Context,
}

impl Searched {
    pub(super) fn n_matches(&self) -> usize {
        match self {
            Self::Matches(matches) => matches.n_matches,
            _ => 0,
        }
    }

    /// Returns a lower bound of its size in the answer.
    pub(super) fn n_bytes(&self) -> usize {
        match self {
            Self::Matches(matches) => matches.n_bytes + matches.path.as_os_str().len(),
            _ => 0,
        }
    }
}

/// State with which one thread searches files, one after the other.
pub(super) struct FileSearch<'q> {
    query: &'q Query,
    stop: &'q Stop,
    matcher: RegexMatcher,
    searcher: Searcher,
    start: Box<[u8]>,
}

impl<'q> FileSearch<'q> {
    pub(super) fn new(query: &'q Query, stop: &'q Stop) -> Self {
        Self {
            query,
            stop,
            matcher: query.matcher.clone(),
            searcher: query.searcher(),
            start: vec![0; START_BYTES].into(),
        }
    }

    pub(super) fn run(&mut self, workspace: &Workspace, path: Box<Path>) -> Searched {
        let file = match workspace.open_listed(&path) {
            Ok(file) => file,
            Err(AccessError::Vanished { .. }) => return Searched::Gone,
            Err(_) => return Searched::Unreadable,
        };
        match self.search(file, path) {
            Ok(searched) => searched,
            Err(_) if self.stop.halt().is_some() => Searched::Halted,
            // The searcher has no type for this error, only a text.
            Err(error) if error.to_string().contains("allocation limit") => Searched::TooLong,
            Err(_) => Searched::Unreadable,
        }
    }

    fn search(&mut self, file: File, path: Box<Path>) -> io::Result<Searched> {
        let mut reader = Interruptible::new(file, self.stop);
        let n_bytes = fill(&mut reader, &mut self.start)?;
        let start = &self.start[..n_bytes];
        if start[..n_bytes.min(BINARY_PROBE_BYTES)].contains(&0) {
            return Ok(Searched::Binary);
        }
        let mut matches = FileMatches { path, n_matches: 0, lines: Vec::new(), n_bytes: 0 };
        let matcher = InterruptibleMatcher { matcher: &self.matcher, stop: self.stop };
        let sink = Collect { query: self.query, matcher: &matcher, matches: &mut matches };
        if n_bytes < START_BYTES {
            self.searcher.search_slice(&matcher, start, sink)?;
        } else {
            self.searcher.search_reader(&matcher, start.chain(reader), sink)?;
        }
        Ok(if matches.n_matches > 0 { Searched::Matches(Box::new(matches)) } else { Searched::NoMatch })
    }
}

/// Reads until the buffer is full or the file ends. Returns the number of bytes read.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut n_bytes = 0;
    while n_bytes < buffer.len() {
        match reader.read(&mut buffer[n_bytes..]) {
            Ok(0) => break,
            Ok(n_more) => n_bytes += n_more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_bytes)
}

/// Collects the searcher's matches.
struct Collect<'a> {
    query: &'a Query,
    matcher: &'a InterruptibleMatcher<'a>,
    matches: &'a mut FileMatches,
}

impl Collect<'_> {
    fn push(&mut self, line: Line) {
        self.matches.n_bytes += match &line {
            Line::Text { text, .. } => text.len() + 1,
            Line::Gap => 3,
        };
        self.matches.lines.push(line);
    }

    /// True if more of this file could still be shown.
    fn continues(&self) -> bool {
        match self.query.mode {
            OutputMode::Content => {
                self.matches.n_matches <= self.query.max_results && self.matches.n_bytes <= MAX_BYTES
            }
            // An object has the first match and says if there are more.
            OutputMode::FilesWithMatches => self.query.structured && self.matches.n_matches < 2,
            OutputMode::Count => true,
        }
    }
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matches.n_matches += 1;
        let first = found.line_number().unwrap_or(0);
        if self.query.mode == OutputMode::Content {
            let mut kind = LineKind::Match;
            for (number, line) in (first..).zip(found.lines()) {
                let find = || self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
                self.push(Line::Text { number, kind, text: shown(line, find) });
                kind = LineKind::Continued;
                // One match can have more lines than any answer.
                if self.matches.n_bytes > MAX_BYTES {
                    break;
                }
            }
        } else if self.query.structured && self.matches.lines.is_empty() {
            // Stored apart from the answer, so that it does not count towards its size.
            let line = found.lines().next().unwrap_or_default();
            let find = || self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
            self.matches.lines.push(Line::Text { number: first, kind: LineKind::Match, text: shown(line, find) });
        }
        Ok(self.continues())
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        let number = context.line_number().unwrap_or(0);
        self.push(Line::Text { number, kind: LineKind::Context, text: shown(context.bytes(), || 0) });
        Ok(self.continues())
    }

    fn context_break(&mut self, _searcher: &Searcher) -> Result<bool, io::Error> {
        self.push(Line::Gap);
        Ok(true)
    }
}

/// Formats a line for display: without its end and, if long, reduced to the part around the byte found by `find`.
fn shown(line: &[u8], find: impl FnOnce() -> usize) -> String {
    let text = String::from_utf8_lossy(line).replace('\0', "\u{fffd}");
    let text = text.trim_end_matches(['\n', '\r']);
    truncate::around(text, || String::from_utf8_lossy(&line[..find().min(line.len())]).replace('\0', "\u{fffd}").len())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::answer::AnswerForm;

    #[test]
    fn a_match_of_many_lines_is_kept_only_up_to_the_answers_size() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a"), "a\n".repeat(100_000)).unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let arguments = r#"{"pattern": "a.*a", "multiline": true, "output_mode": "content"}"#;
        let query = Query::new(&serde_json::from_str(arguments).unwrap(), AnswerForm::Words).unwrap();
        let searched =
            FileSearch::new(&query, &Stop::after(Duration::from_mins(1))).run(&workspace, Path::new("a").into());
        let Searched::Matches(matches) = searched else { panic!("there is a match") };
        assert_eq!((matches.n_matches, matches.lines.len()), (1, MAX_BYTES / 2 + 1));
    }

    #[test]
    fn a_line_is_shown_around_its_match_without_its_end() {
        let line = [b"\xff\0", "ä".repeat(1000).as_bytes(), b" needle ", "b ".repeat(500).as_bytes(), b"\r\n"].concat();
        let text = shown(&line, || 2003);
        assert!(text.starts_with("[903 chars] ä") && text.ends_with("b [707 chars]"), "{text}");
        assert!(text.contains("ä needle b"));
        assert_eq!(shown(b"short\r\n", || 0), "short");
    }
}
