//! The explorer's report: the best places first, each as `path:line - what is there`, then what was searched for.

use super::evidence::Evidence;
use super::place::Place;
use super::question::{Intent, Question};
use super::rank;

/// About 400 tokens.
const MAX_BYTES: usize = 1700;
const MAX_PLACES: usize = 9;
const BEST: usize = 3;
/// A line of code longer than this says no more by being shown whole.
const MAX_LINE: usize = 110;
/// Places worth less than this share of the best one are noise.
const NOISE: f64 = 0.25;

/// Writes the report from everything seen.
pub(super) fn report(question: &Question, evidence: &Evidence) -> String {
    let places = chosen(question, evidence);
    let mut text = String::new();
    if places.is_empty() {
        text += "Nothing found.";
        if !evidence.named.is_empty() {
            text += " Files whose names fit: ";
            text += &evidence.named.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            text += ".";
        }
    } else if question.intent == Intent::List {
        text += &files_line(&places);
    }
    for (at, place) in places.iter().enumerate() {
        let line = reference(place);
        if text.len() + line.len() > MAX_BYTES {
            break;
        }
        match at {
            0 => text += "Best places:\n",
            BEST => text += "Related:\n",
            _ => {}
        }
        text += &line;
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text += "\n";
    text += &searched(question, evidence);
    text
}

/// The best places, no file more than its share.
pub(super) fn chosen(question: &Question, evidence: &Evidence) -> Vec<Place> {
    let mut chosen: Vec<Place> = Vec::new();
    for place in rank::places(question, evidence) {
        let least = chosen.first().map_or(0.0, |best| best.score * NOISE);
        let same_file = chosen.iter().filter(|other| other.path == place.path).count();
        let repeated = chosen.iter().any(|other| other.path == place.path && other.line == place.line);
        if place.score >= least && same_file < 4 && !repeated {
            chosen.push(place);
        }
        if chosen.len() == MAX_PLACES {
            break;
        }
    }
    chosen
}

/// `path:line - text (in where it stands): what its documentation says`.
pub(super) fn reference(place: &Place) -> String {
    let mut line = format!("{}:{} - {}", place.path, place.line, cut(&place.text, MAX_LINE));
    if let Some(within) = &place.within {
        let own_line = within.split(", ").next().is_some_and(|own| {
            let name = own.rsplit(' ').next().unwrap_or(own);
            place.text.contains(name)
        });
        match (own_line, within.split_once(", ")) {
            (true, Some((_, parent))) => line += &format!(" (in {})", cut(parent, 60)),
            (true, None) => {}
            (false, _) => line += &format!(" (in {})", cut(within, 80)),
        }
    }
    if let Some(summary) = &place.summary {
        line += &format!(": {}", cut(summary, MAX_LINE));
    }
    line
}

fn files_line(places: &[Place]) -> String {
    let mut files: Vec<&str> = Vec::new();
    for place in places {
        if !files.contains(&place.path.as_str()) {
            files.push(&place.path);
        }
    }
    format!("Files: {}\n", files.join(", "))
}

/// What was looked for, what of it is nowhere, and what failed: nothing is left out silently.
fn searched(question: &Question, evidence: &Evidence) -> String {
    let labels: Vec<&str> = question.strong_terms().map(|(_, term)| term.label.as_str()).collect();
    let files = evidence.files().len();
    let mut text = format!("Searched for: {} (and related words); hits in {files} files.", labels.join(", "));
    let missing: Vec<&str> = question
        .strong_terms()
        .filter(|(index, _)| evidence.counts.get(*index).is_some_and(std::collections::BTreeMap::is_empty))
        .map(|(_, term)| term.label.as_str())
        .collect();
    if !missing.is_empty() {
        text += &format!(" No match at all for: {}.", missing.join(", "));
    }
    if let Some(failure) = evidence.failures.first() {
        text += &format!(" {} calls failed, first: {}.", evidence.failures.len(), cut(failure, 160));
    }
    text += " Rule-based search (`offline`), no language model.";
    text
}

/// Cuts at a character and says so.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}
