//! Private keys in their armour: `-----BEGIN … PRIVATE KEY-----` and the lines that follow.

use std::ops::Range;

use super::base64_lines::{self, line_before, marked_line_start, unmarked};
use super::characters::{base64, distance, run};

const DASHES: &str = "-----";
const END: &str = "-----END ";
const MARKED_END: &str = "------END ";
/// Maximum length of the label between the dashes.
const MAX_LABEL: usize = 64;

/// Returns the whole block that begins here. If its end was cut off, it extends to the end of its body.
pub(super) fn find(text: &str, at: usize, anchor: &'static str) -> Option<Range<usize>> {
    let label = at + anchor.len();
    let label_end = label + distance(text, label, DASHES).filter(|length| *length <= MAX_LABEL)?;
    if !text[label..label_end].contains("PRIVATE KEY") {
        return None;
    }
    let body = label_end + DASHES.len();
    let dashes = distance(text, body, DASHES).map_or(text.len(), |length| body + length);
    // An extra dash comes from a diff or a search, which puts it before the line.
    let dashes = if text[dashes..].starts_with(MARKED_END) { dashes + 1 } else { dashes };
    let (body_end, end) = if text[dashes..].starts_with(END) {
        (dashes, after_end(text, dashes))
    } else {
        let body_end = body + body_length(&text[body..dashes]);
        (body_end, body_end)
    };
    has_material(&text[body..body_end]).then_some(at..end)
}

/// Returns the lines of a key and its end line, for a block whose beginning is missing.
pub(super) fn find_end(text: &str, at: usize, _: &'static str) -> Option<Range<usize>> {
    let end = after_end(text, at);
    if !text[at..end].contains("PRIVATE KEY") {
        return None;
    }
    let mut line = marked_line_start(text, at)?;
    let mut start = None;
    while let Some((before, before_end)) = line_before(text, line) {
        let material = unmarked(&text[before..before_end]);
        let is_full = material.len() >= base64_lines::LEAST && material.trim_end_matches('=').bytes().all(base64);
        if !is_full && (start.is_some() || !base64_lines::is_last(material)) {
            break;
        }
        start = Some(before_end - material.len());
        line = before;
    }
    start.map(|start| start..end)
}

/// Returns the position after the closing `-----END … -----`.
fn after_end(text: &str, at: usize) -> usize {
    let label = at + END.len();
    let dashes = distance(text, label, DASHES).filter(|length| *length <= MAX_LABEL);
    dashes.map_or(label, |length| label + length + DASHES.len())
}

/// Counts the bytes, in whole lines, that belong to a key whose end is missing.
fn body_length(text: &str) -> usize {
    let mut within = false;
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        let is_header = !within && line.contains(": ");
        within |= has_material(line);
        if !is_header && !has_material(line) && !is_rest(line) {
            break;
        }
        length += line.len();
    }
    length
}

/// True if a line can be the short last line of a key: empty, or one word.
fn is_rest(line: &str) -> bool {
    unmarked(line).trim_end().bytes().all(|byte| base64(byte) || byte == b'=')
}

fn has_material(text: &str) -> bool {
    let mut at = 0;
    while at < text.len() {
        let length = run(text, at, base64);
        // Armour around anything shorter only mentions keys.
        if length >= base64_lines::LEAST {
            return true;
        }
        at += length + 1;
    }
    false
}
