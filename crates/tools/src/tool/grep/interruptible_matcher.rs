//! `InterruptibleMatcher`: a matcher that fails when its call must stop, so that no search runs on for long.
//!
//! It cannot interrupt one match. The sizes of the pattern and of the text bound how long that takes.

use std::io;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::RegexMatcher;

use crate::answer::halt::Stop;

/// A matcher that fails when its call must stop.
pub(super) struct InterruptibleMatcher<'a> {
    pub(super) matcher: &'a RegexMatcher,
    pub(super) stop: &'a Stop,
}

impl InterruptibleMatcher<'_> {
    fn unless_halted(&self) -> io::Result<&RegexMatcher> {
        self.stop.halt().map_or(Ok(self.matcher), |halt| Err(io::Error::other(halt.note())))
    }
}

impl Matcher for InterruptibleMatcher<'_> {
    type Captures = NoCaptures;
    type Error = io::Error;

    fn find_at(&self, haystack: &[u8], at: usize) -> io::Result<Option<Match>> {
        Ok(self.unless_halted()?.find_at(haystack, at)?)
    }

    fn new_captures(&self) -> io::Result<NoCaptures> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> io::Result<Option<usize>> {
        Ok(self.unless_halted()?.shortest_match_at(haystack, at)?)
    }

    fn find_candidate_line(&self, haystack: &[u8]) -> io::Result<Option<LineMatchKind>> {
        Ok(self.unless_halted()?.find_candidate_line(haystack)?)
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }
}
