//! Evidence from all searches of a task, collected anew on each turn from the outputs alone.

use std::collections::{BTreeMap, BTreeSet};

use super::file_kind::FileKind;
use crate::question::Question;
use crate::request::conversation::{Conversation, Exchange};
use crate::request::tool_outputs::{self, SeenLine};

#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// Hits by file, for each term of the question.
    pub(crate) counts: Vec<BTreeMap<String, usize>>,
    /// Hits by file, for the synonyms of each term.
    pub(crate) synonym_counts: Vec<BTreeMap<String, usize>>,
    /// Files whose names contain a term.
    pub(crate) named: Vec<String>,
    /// Lines seen, by file and number.
    pub(crate) lines: BTreeMap<String, BTreeMap<usize, String>>,
    /// Files of which every definition and every closing brace near the margin was shown.
    pub(crate) outlined: BTreeSet<String>,
    /// Content of the workspace's top directory, if it was listed.
    pub(crate) listing: Option<Listing>,
    /// Failures, in the tools' words.
    pub(crate) failures: Vec<String>,
    /// Number of searches that showed only their first matches.
    pub(crate) cut: usize,
    pub(crate) stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listing {
    Empty,
    OnlyHidden,
    Files,
}

/// Progress of the search.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Nothing was searched yet.
    #[default]
    Start,
    /// Hits were counted.
    Counted,
    /// Lines of the best files were shown.
    Outlined,
    /// The best places were read.
    Read,
}

impl Evidence {
    pub(crate) fn gather(question: &Question, conversation: &Conversation<'_>) -> Self {
        let counts = vec![BTreeMap::new(); question.terms.len()];
        let mut evidence = Self { counts: counts.clone(), synonym_counts: counts, ..Self::default() };
        for exchange in conversation.exchanges() {
            evidence.take(question, exchange);
        }
        evidence
    }

    /// True if no search has found anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.all_counts().all(BTreeMap::is_empty) && self.lines.is_empty() && self.named.is_empty()
    }

    pub(crate) fn all_counts(&self) -> impl Iterator<Item = &BTreeMap<String, usize>> {
        self.counts.iter().chain(&self.synonym_counts)
    }

    /// True if neither the term nor a synonym was found.
    pub(crate) fn found_nowhere(&self, term: usize) -> bool {
        self.counts[term].is_empty() && self.synonym_counts[term].is_empty()
    }

    /// All files with a hit.
    pub(crate) fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = self.all_counts().flat_map(|counts| counts.keys().map(String::as_str)).collect();
        files.extend(self.named.iter().map(String::as_str));
        files.extend(self.lines.keys().map(String::as_str));
        files.sort_unstable();
        files.dedup();
        files
    }

    fn take(&mut self, question: &Question, exchange: &Exchange<'_>) {
        let stage = match (exchange.tool, exchange.argument("output_mode")) {
            ("Grep", "count") | ("Glob" | "LS", _) => Stage::Counted,
            ("Grep", _) => Stage::Outlined,
            ("Read", _) => Stage::Read,
            _ => return,
        };
        self.stage = self.stage.max(stage);
        let output = &exchange.text;
        if exchange.failed {
            self.failures.push(format!("{}: {}", exchange.tool, output.lines().next().unwrap_or_default()));
            return;
        }
        self.cut += usize::from(tool_outputs::is_cut(output));
        match (exchange.tool, stage) {
            ("LS", _) => self.listing = Some(listing(output)),
            ("Glob", _) => self.named.extend(tool_outputs::paths(output)),
            (_, Stage::Counted) => self.count(question, exchange),
            (_, Stage::Outlined) => {
                let path = exchange.argument("path");
                if !path.is_empty() && !tool_outputs::is_cut(output) {
                    self.outlined.insert(path.to_owned());
                }
                self.see(tool_outputs::grep_lines(output, path));
            }
            _ => self.see(tool_outputs::read_lines(output, exchange.argument("file_path"))),
        }
    }

    fn count(&mut self, question: &Question, exchange: &Exchange<'_>) {
        let pattern = exchange.argument("pattern");
        let mut found = tool_outputs::grep_counts(&exchange.text);
        // Files not written by hand say nothing about the rarity of a word.
        found.retain(|(path, _)| !matches!(FileKind::of(path), FileKind::Generated | FileKind::Changelog));
        for (index, term) in question.terms.iter().enumerate() {
            if term.pattern() == pattern {
                self.counts[index].extend(found);
                return;
            }
            if term.synonym_pattern().as_deref() == Some(pattern) {
                self.synonym_counts[index].extend(found);
                return;
            }
        }
    }

    fn see(&mut self, lines: Vec<SeenLine>) {
        for line in lines {
            self.lines.entry(line.path).or_default().insert(line.number, line.text);
        }
    }
}

/// Content of a directory by its listing, whose notes are in brackets.
pub(crate) fn listing(output: &str) -> Listing {
    let names = output.lines().any(|line| !line.is_empty() && !line.starts_with('['));
    if !names && (output.contains("empty directory") || output.trim().is_empty()) {
        Listing::Empty
    } else if !names && output.contains("hidden") {
        Listing::OnlyHidden
    } else {
        Listing::Files
    }
}
