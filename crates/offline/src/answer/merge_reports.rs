//! Merger of several reports into one answer.
//!
//! References are pooled, ranked by the number of angles that found them and by their rank there, and shown once each.
//! Any report with `path:line` in it can be parsed.

use super::Answer;
use super::report::{CODE, NO_FILES, cut};
use crate::language::words::{pieces, words};
use crate::question::Question;
use crate::question::intent::Intent;
use crate::source_code::passages::label;
use crate::source_code::syntax::Syntax;

/// One explorer's report.
pub(super) struct AngleReport<'a> {
    pub(super) description: &'a str,
    pub(super) text: &'a str,
    pub(super) failed: bool,
    /// Weight of its ranking.
    pub(super) weight: f64,
}

/// A reference found in a report.
#[derive(Debug, Clone, PartialEq)]
struct Reference {
    path: String,
    line: usize,
    /// Description of the place, in the report's words.
    what: String,
    /// Code that the report shows below it.
    code: Vec<String>,
    score: f64,
}

const MAX_REFERENCES: usize = 10;

/// Writes the answer: first where to look, then the evidence, then what is missing.
pub(super) fn merge(question: &Question, reports: &[AngleReport<'_>]) -> Answer {
    let references = pooled(reports);
    let mut text = if references.is_empty() { nothing(reports) } else { opening(question, &references) };
    for reference in references.iter().take(MAX_REFERENCES) {
        text += &format!("\n{}:{} - {}", reference.path, reference.line, reference.what);
        for line in &reference.code {
            text += &format!("\n{line}");
        }
    }
    if references.len() > MAX_REFERENCES {
        text += &format!("\n({} weaker matches left out)", references.len() - MAX_REFERENCES);
    }
    for report in reports.iter().filter(|report| report.failed) {
        let reason = report.text.lines().next().unwrap_or_default();
        text += &format!("\n\nOne search did not come back ({}): {}", report.description, cut(reason, 200));
    }
    if let Some(missing) = missing(reports) {
        text += &format!("\n\n{missing}");
    }
    if references.is_empty() { Answer::Unanswered(text) } else { Answer::Text(text) }
}

/// Passes on reports of facts as they are. A report of nothing begins with that word.
pub(super) fn pass_on(reports: &[AngleReport<'_>]) -> Answer {
    let text = reports.iter().map(|report| report.text).collect::<Vec<_>>().join("\n\n");
    let says_something = |report: &AngleReport<'_>| {
        !report.failed && !report.text.starts_with("Nothing ") && !NO_FILES.contains(&report.text)
    };
    if reports.iter().any(says_something) { Answer::Text(text) } else { Answer::Unanswered(text) }
}

fn pooled(reports: &[AngleReport<'_>]) -> Vec<Reference> {
    let mut pooled: Vec<Reference> = Vec::new();
    for report in reports.iter().filter(|report| !report.failed) {
        for (rank, found) in references(report.text).into_iter().enumerate() {
            let score = report.weight / (rank as f64 + 1.5);
            match pooled.iter_mut().find(|known| same_place(known, &found)) {
                Some(known) => known.score += score,
                None => pooled.push(Reference { score, ..found }),
            }
        }
    }
    // Stable: ties keep the order in which they were reported.
    pooled.sort_by(|left, right| right.score.total_cmp(&left.score));
    pooled
}

/// Returns the references of a report, each with the code below it.
fn references(text: &str) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    for line in text.lines() {
        match found.last_mut().filter(|_| line.starts_with(CODE)) {
            Some(last) => last.code.push(line.to_owned()),
            None => found.extend(reference(line)),
        }
    }
    found
}

/// Parses `path:line - description`, with or without a bullet or backticks.
fn reference(line: &str) -> Option<Reference> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '`' | '•'));
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let line = numbered.strip_prefix(". ").unwrap_or(line).trim_start_matches('`');
    let (path, rest) = line.split_once(':')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest.get(..digits)?.parse().ok()?;
    if path.is_empty() || path.contains(' ') || path.contains("//") {
        return None;
    }
    let what = rest[digits..].trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '`' | '-' | '–' | ':'));
    Some(Reference { path: path.to_owned(), line: number, what: what.to_owned(), code: Vec::new(), score: 0.0 })
}

/// True if both references point into one definition.
fn same_place(left: &Reference, right: &Reference) -> bool {
    if left.path != right.path {
        return false;
    }
    let (own, other) = (standing_in(left), standing_in(right));
    left.line == right.line || (own.is_some() && own == other)
}

/// Returns the definition that a reference is, else the innermost one that contains it.
fn standing_in(reference: &Reference) -> Option<String> {
    let (code, after) = reference.what.split_once(" (in ").unwrap_or((&reference.what, ""));
    if let Some(definition) = Syntax::of(&reference.path).definition(code) {
        return Some(label(&definition));
    }
    let within = after.split_once(')').map_or(after, |(within, _)| within);
    within.split(", ").next().filter(|innermost| !innermost.is_empty()).map(str::to_owned)
}

/// Writes one sentence that names the best places, or the files if the question asks for files.
fn opening(question: &Question, references: &[Reference]) -> String {
    if question.intent == Intent::List {
        let mut files: Vec<&str> = Vec::new();
        for reference in references.iter().take(MAX_REFERENCES) {
            if !files.contains(&reference.path.as_str()) {
                files.push(&reference.path);
            }
        }
        return format!("Mainly these files, the best first: {}.\n", files.join(", "));
    }
    let named: Vec<String> = references.iter().take(3).map(named).collect();
    let (best, others) = named.split_first().map_or((String::new(), &[][..]), |(best, rest)| (best.clone(), rest));
    let verb = match question.intent {
        Intent::Uses => "The clearest use is",
        Intent::Define if defines_the_name(question, &references[0]) => "Most likely defined at",
        Intent::Define => "No definition of this name was found; it is mentioned at",
        Intent::Explain => "The heart of it is most likely",
        _ => "Most likely at",
    };
    let rest = if others.is_empty() { String::new() } else { format!("; see also {}", others.join(" and ")) };
    format!("{verb} {best}{rest}.\n")
}

/// True if a reference is a definition of a name in the question, or if the question has none.
fn defines_the_name(question: &Question, reference: &Reference) -> bool {
    let mut names = question.terms.iter().filter(|term| term.is_verbatim()).peekable();
    let code = reference.what.split_once(" (in ").map_or(reference.what.as_str(), |(code, _)| code);
    let defined = Syntax::of(&reference.path).definition(code).map(|definition| words(&definition.name).collect());
    let pieces_of = |text: &str| pieces(text).concat();
    names.peek().is_none()
        || defined.is_some_and(|name: String| names.any(|term| pieces_of(&term.label) == pieces_of(&name)))
}

fn named(reference: &Reference) -> String {
    let place = format!("{}:{}", reference.path, reference.line);
    standing_in(reference).map_or(place.clone(), |definition| format!("{place} (`{definition}`)"))
}

fn nothing(reports: &[AngleReport<'_>]) -> String {
    let no_files = |report: &&str| NO_FILES.contains(report);
    if let Some(why) = reports.iter().filter_map(|report| report.text.lines().next()).find(no_files) {
        return why.to_owned();
    }
    let mut text = String::from("I found nothing in this workspace that fits.");
    if let Some(report) = reports.iter().find(|report| !report.failed) {
        text += &format!(" The report was:\n\n{}", cut(report.text, 600));
    }
    text
}

/// Lists the words that no explorer found anywhere.
fn missing(reports: &[AngleReport<'_>]) -> Option<String> {
    let said = reports.iter().find_map(|report| report.text.split_once("No match at all for: "))?;
    let words = said.1.split('.').next()?;
    Some(format!("Nothing matched: {words}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_parsed_in_every_list_style() {
        for line in
            ["src/a.rs:12 - fn a()", "- `src/a.rs:12` - fn a()", "1. src/a.rs:12: fn a()", "  * src/a.rs:12 fn a()"]
        {
            let found = reference(line).map(|found| (found.path, found.line, found.what));
            assert_eq!(found, Some(("src/a.rs".to_owned(), 12, "fn a()".to_owned())), "{line}");
        }
        for line in ["Best places:", "see http://host:80/x", "at noon: 12 o'clock", "Searched for: a, b"] {
            assert_eq!(reference(line), None, "{line}");
        }
    }

    #[test]
    fn a_place_found_by_several_angles_is_shown_once_and_first() {
        let report = |text, weight| AngleReport { description: "", text, failed: false, weight };
        let reports = [
            report("a.rs:1 - fn first() {\nb.rs:5 - fn both() {", 1.0),
            report("b.rs:9 - x() (in fn both)\nc.rs:1 - fn other() {", 1.0),
        ];
        let places: Vec<(String, usize)> = pooled(&reports).into_iter().map(|found| (found.path, found.line)).collect();
        assert_eq!(places, [("b.rs".to_owned(), 5), ("a.rs".to_owned(), 1), ("c.rs".to_owned(), 1)]);
    }
}
