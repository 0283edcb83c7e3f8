//! Report of the explorer: the best places first, each as `path:line - text`, then the words searched for.

use super::Answer;
use crate::question::Question;
use crate::question::intent::Intent;
use crate::ranking::evidence::{Evidence, Listing, Stage};
use crate::ranking::rank;
use crate::source_code::location::Location;

/// Beginning of a line of code below a reference.
pub(super) const CODE: &str = "    | ";
/// Reports on a workspace without anything to search: an empty one, and one with hidden or ignored files only.
pub(super) const NO_FILES: [&str; 2] = [
    "This directory is empty: there is nothing to search.",
    "This directory has only hidden or ignored files, and those are not searched.",
];
/// Note of a report on a search that ended before its last step.
pub(super) const CUT_SHORT: &str = "The search was cut short.";
/// Most lines of code shown of the definition that was asked for.
const MAX_CODE: usize = 14;
/// About 400 tokens.
const MAX_BYTES: usize = 1700;
const MAX_PLACES: usize = 9;
const BEST: usize = 3;
const MAX_STEPS: usize = 6;
const MAX_NAMED: usize = 5;
const MAX_IN_A_FILE: usize = 4;
/// Limit per file if the question asks for files.
const MAX_IN_A_LIST: usize = 2;
/// Longest line of code that is shown whole.
const MAX_LINE: usize = 110;
const MAX_WITHIN: usize = 80;
/// Places that score below this share of the best one are noise.
const NOISE: f64 = 0.25;

/// Writes the report from all evidence.
pub(super) fn report(question: &Question, evidence: &Evidence) -> Answer {
    let places = chosen(question, evidence);
    let mut lines: Vec<String> = Vec::new();
    if places.is_empty() {
        lines.push(nothing(evidence));
    }
    let mut length = 0;
    for (at, place) in places.iter().enumerate() {
        let line = reference(place);
        length += line.len();
        if length > MAX_BYTES {
            lines.push(format!("({} more places left out)", places.len() - at));
            break;
        }
        match at {
            0 => lines.push("Best places:".to_owned()),
            BEST => lines.push("Related:".to_owned()),
            _ => {}
        }
        lines.push(line);
        if at == 0 && question.intent == Intent::Define {
            lines.extend(place.code.iter().take(MAX_CODE).map(|code| format!("{CODE}{code}")));
        }
    }
    if evidence.stage < Stage::Read && !evidence.is_empty() {
        lines.push(CUT_SHORT.to_owned());
    }
    if !lines.iter().any(|line| NO_FILES.contains(&line.as_str())) {
        lines.push(searched(question, evidence));
    }
    let text = lines.join("\n");
    if places.is_empty() { Answer::Unanswered(text) } else { Answer::Text(text) }
}

/// Report on a directory without anything to search.
pub(super) fn no_files(listing: Listing) -> Option<&'static str> {
    match listing {
        Listing::Empty => Some(NO_FILES[0]),
        Listing::OnlyHidden => Some(NO_FILES[1]),
        Listing::Files => None,
    }
}

fn nothing(evidence: &Evidence) -> String {
    if let Some(why) = evidence.listing.and_then(no_files) {
        return why.to_owned();
    }
    if evidence.stage == Stage::Start {
        return "Nothing found: there was no chance to search.".to_owned();
    }
    if evidence.named.is_empty() {
        return "Nothing found.".to_owned();
    }
    let named: Vec<&str> = evidence.named.iter().take(MAX_NAMED).map(String::as_str).collect();
    format!("Nothing found inside files. Files whose names fit: {}.", named.join(", "))
}

/// Lists the places as a plan: in what order to look at them, since no rule can say what to change.
pub(super) fn plan(question: &Question, evidence: &Evidence) -> Answer {
    let places = chosen(question, evidence);
    if places.is_empty() {
        return report(question, evidence);
    }
    let mut text = format!("Goal: {}\n", cut(&question.text, 200));
    for (at, place) in places.iter().take(MAX_STEPS).enumerate() {
        text += &format!("{}. Read and change, if it fits: {}\n", at + 1, reference(place));
    }
    text += "These are the places that the goal touches, found by rules; what has to change there is not decided.\n";
    Answer::Text(text + &searched(question, evidence))
}

/// Returns the best places, limited per file.
pub(super) fn chosen(question: &Question, evidence: &Evidence) -> Vec<Location> {
    let mut chosen: Vec<Location> = Vec::new();
    for place in rank::locations(question, evidence) {
        let least = chosen.first().map_or(0.0, |best| best.score * NOISE);
        let most = if question.intent == Intent::List { MAX_IN_A_LIST } else { MAX_IN_A_FILE };
        let same_file = chosen.iter().filter(|other| other.path == place.path).count();
        let repeated = chosen.iter().any(|other| other.path == place.path && other.line == place.line);
        if place.score >= least && same_file < most && !repeated {
            chosen.push(place);
        }
        if chosen.len() == MAX_PLACES {
            break;
        }
    }
    chosen
}

/// Formats `path:line - text (in its surroundings): summary of its documentation`.
pub(super) fn reference(place: &Location) -> String {
    let mut line = format!("{}:{} - {}", place.path, place.line, cut(&place.text, MAX_LINE));
    if let Some(within) = &place.within {
        line += &format!(" (in {})", cut(within, MAX_WITHIN));
    }
    if let Some(summary) = &place.summary {
        line += &format!(": {}", cut(summary, MAX_LINE));
    }
    line
}

/// Lists the words searched for, those not found, and the failures: nothing is left out silently.
fn searched(question: &Question, evidence: &Evidence) -> String {
    let labels: Vec<&str> = question.strong_terms().map(|(_, term)| term.label.as_str()).collect();
    let files = evidence.files().len();
    let mut text = format!("Searched for: {} (and related words); hits in {files} files.", labels.join(", "));
    let missing: Vec<&str> = question
        .strong_terms()
        .filter(|(index, term)| term.is_topic() && evidence.found_nowhere(*index))
        .map(|(_, term)| term.label.as_str())
        .collect();
    if !missing.is_empty() {
        text += &format!(" No match at all for: {}.", missing.join(", "));
    }
    if evidence.cut > 0 {
        text += &format!(" {} searches showed only their first matches.", evidence.cut);
    }
    if let Some(failure) = evidence.failures.first() {
        text += &format!(" {} calls failed, first: {}.", evidence.failures.len(), cut(failure, 160));
    }
    text += " Rule-based search (`offline`), no language model.";
    text
}

/// Cuts between characters and marks the cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}
