//! Next calls of the explorer: count, outline the best files, read the best places, then report.
//!
//! The calls of one turn are independent of each other. Nothing here looks at text; `ranking` does.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::PlannedCall;

use crate::question::Question;
use crate::question::term::Term;
use crate::ranking::evidence::{Evidence, Stage};
use crate::ranking::importance::{Importance, best_files};
use crate::ranking::rank;
use crate::source_code::syntax::Syntax;

/// Numbers of files to outline and of places to read.
const OUTLINES: usize = 8;
const READS: usize = 8;
const MAX_COUNTED: usize = 6;
/// Longest pattern that a search tool can be expected to accept.
const MAX_PATTERN: usize = 4000;
/// Lines to read before a place, and in all.
const BEFORE: usize = 12;
const WINDOW: usize = 100;

/// Returns the next calls of the search; none when it is time to report.
pub(super) fn next_calls(question: &Question, evidence: &Evidence) -> Vec<PlannedCall> {
    match evidence.stage {
        Stage::Start => survey(question),
        Stage::Counted if evidence.is_empty() => Vec::new(),
        Stage::Counted => outline(question, evidence),
        Stage::Outlined => reads(question, evidence),
        Stage::Read => Vec::new(),
    }
}

/// Counts each term in each file, and finds files named after a term.
pub(super) fn survey(question: &Question) -> Vec<PlannedCall> {
    let mut calls: Vec<PlannedCall> = Vec::new();
    let mut fragments: Vec<String> = Vec::new();
    for (_, term) in question.strong_terms().take(MAX_COUNTED) {
        for pattern in std::iter::once(term.pattern()).chain(term.synonym_pattern()) {
            calls.push(grep(json!({"pattern": pattern, "output_mode": "count", "head_limit": 1000})));
        }
        fragments.extend(term.file_fragments());
    }
    if !fragments.is_empty() {
        calls.push(glob(&format!("**/*{{{}}}*", fragments.join(","))));
    }
    calls.extend(question.paths.iter().map(|path| glob(&format!("**/{}*", path.trim_end_matches('/')))));
    calls
}

/// Shows the relevant lines of the best files, and lines anywhere that have two terms or define one.
fn outline(question: &Question, evidence: &Evidence) -> Vec<PlannedCall> {
    let any = Term::any_pattern(&question.terms);
    let mut calls: Vec<PlannedCall> = Vec::new();
    for path in best_files(question, evidence).into_iter().take(OUTLINES) {
        let structure = Syntax::of(path).structure_pattern();
        let pattern = if structure.is_empty() { any.clone() } else { format!("{structure}|{any}") };
        calls.push(grep(json!({"pattern": pattern, "path": path, "output_mode": "content", "head_limit": 800})));
    }
    if let Some(pattern) = pairs(question, evidence) {
        calls.push(grep(json!({"pattern": pattern, "output_mode": "content", "head_limit": 200})));
    }
    let defined = defined(question);
    calls.push(grep(json!({"pattern": defined, "output_mode": "content", "head_limit": 300})));
    calls
}

/// Pattern for two of the most important terms on one line, in either order; as many pairs as fit into one pattern.
fn pairs(question: &Question, evidence: &Evidence) -> Option<String> {
    let importance = Importance::of(question, evidence);
    let mut telling: Vec<usize> = question.strong_terms().map(|(index, _)| index).collect();
    telling.sort_by(|&left, &right| importance.most(right).total_cmp(&importance.most(left)));
    telling.truncate(3);
    let mut pattern = String::new();
    for (at, &left) in telling.iter().enumerate() {
        for &right in &telling[at + 1..] {
            let [left, right] = [left, right].map(|term| Term::any_pattern([&question.terms[term]]));
            let pair = format!("(?:{left}).*(?:{right})|(?:{right}).*(?:{left})");
            if pattern.len() + pair.len() + 1 < MAX_PATTERN {
                pattern += if pattern.is_empty() { "" } else { "|" };
                pattern += &pair;
            }
        }
    }
    (!pattern.is_empty()).then_some(pattern)
}

/// Pattern for a definition, in any language, whose name contains a term.
fn defined(question: &Question) -> String {
    let keywords = "fn|struct|enum|trait|type|const|static|class|def|func|function|interface|module|fun|#define";
    format!(r"(?-u:\b(?:{keywords})[ \t]+\w*?)(?:{})", Term::any_pattern(question.strong_terms().map(|(_, term)| term)))
}

/// Reads windows around the best places; touching windows of one file share a call.
fn reads(question: &Question, evidence: &Evidence) -> Vec<PlannedCall> {
    let mut windows: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    for place in rank::locations(question, evidence).into_iter().take(READS) {
        let first = place.first.saturating_sub(BEFORE).max(1);
        let last = place.last.clamp(first + BEFORE, first + WINDOW);
        windows.entry(place.path).or_default().push((first, last));
    }
    let mut calls = Vec::new();
    for (path, mut spans) in windows {
        spans.sort_unstable();
        let mut merged: Vec<(usize, usize)> = Vec::new();
        for (first, last) in spans {
            match merged.last_mut() {
                Some(open) if first <= open.1 + 1 => open.1 = open.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        for (first, last) in merged {
            let arguments = json!({"file_path": path, "offset": first, "limit": last - first + 1});
            calls.push(PlannedCall::of("Read", arguments));
        }
    }
    calls
}

/// Lists the top directory, to tell an empty one from one without matches.
pub(super) fn list_workspace() -> PlannedCall {
    PlannedCall::of("LS", json!({"path": "."}))
}

fn grep(arguments: Value) -> PlannedCall {
    PlannedCall::of("Grep", arguments)
}

fn glob(pattern: &str) -> PlannedCall {
    PlannedCall::of("Glob", json!({"pattern": pattern}))
}
