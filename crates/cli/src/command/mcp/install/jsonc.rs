//! An entry in a JSON file, which may have comments and trailing commas. Only the entry is inserted, so everything else
//! stays as it was written.

use serde_json::{Map, Value, json};

use super::host::NAME;
use super::merged::Merged;

const STEP: &str = "  ";

/// Inserts the entry as the first of its section, and the section as the first of the file if there is none.
pub(super) fn merged(text: &str, section: &str, entry: &Value) -> Merged {
    let lines = json!({ section: { NAME: entry } });
    if text.trim().is_empty() {
        return Merged::Into(format!("{lines:#}\n"));
    }
    let plain = plain(text);
    let before: Map<String, Value> = match serde_json::from_str(&plain) {
        Ok(before) => before,
        Err(error) => return Merged::unclear(format!("is not a JSON object: {error}")),
    };
    let (place, member) = match before.get(section) {
        None => (plain.find('{'), Member { key: section, value: json!({ NAME: entry }) }),
        Some(Value::Object(servers)) => match servers.get(NAME) {
            Some(present) if present == entry => return Merged::Present,
            Some(_) => return Merged::Taken,
            None => (section_start(&plain, section), Member { key: NAME, value: entry.clone() }),
        },
        Some(_) => return Merged::unclear(format!("has a `{section}` that is not an object")),
    };
    let mut expected = before;
    let servers = expected.entry(section).or_insert_with(|| json!({}));
    servers[NAME] = entry.clone();
    let changed = place.map(|place| inserted(text, &plain, place, &member));
    match changed {
        Some(changed) if serde_json::from_str::<Map<String, Value>>(&self::plain(&changed)).ok() == Some(expected) => {
            Merged::Into(changed)
        }
        _ => Merged::unclear(format!("has no obvious place for an entry in `{section}`")),
    }
}

struct Member<'a> {
    key: &'a str,
    value: Value,
}

/// Inserts a member directly after the brace at `place`.
fn inserted(text: &str, plain: &str, place: usize, member: &Member<'_>) -> String {
    let Member { key, value } = member;
    let (head, tail) = text.split_at(place + 1);
    let rest = &plain[place + 1..];
    let is_empty = rest.trim_start().starts_with('}');
    let outer = line_indent(head);
    // The next member shows how far this one is to be indented.
    let next = &rest[..rest.len() - rest.trim_start().len()];
    let indent = match next.rsplit_once('\n') {
        Some((_, indent)) if !is_empty => indent.to_owned(),
        _ => format!("{outer}{STEP}"),
    };
    let member = format!("{}: {value:#}", Value::from(*key)).replace('\n', &format!("\n{indent}"));
    let tail =
        if is_empty { format!("\n{outer}{}", tail.trim_start()) } else { format!(",{}", on_new_line(tail, &indent)) };
    format!("{head}\n{indent}{member}{tail}")
}

/// The rest of the text, on a line of its own.
fn on_new_line(tail: &str, indent: &str) -> String {
    if tail.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']) {
        return tail.to_owned();
    }
    format!("\n{indent}{}", tail.trim_start())
}

/// Indentation of the line that a text ends in.
fn line_indent(text: &str) -> &str {
    let line = text.rsplit('\n').next().unwrap_or_default();
    &line[..line.len() - line.trim_start().len()]
}

/// The text without comments and trailing commas: spaces take their place, so that everything stays where it is.
fn plain(text: &str) -> String {
    let mut plain = text.as_bytes().to_vec();
    let mut at = 0;
    let mut comma = None;
    while at < plain.len() {
        let length = match &plain[at..] {
            [b'"', ..] => string_length(&plain[at..]),
            [b'/', b'/', ..] => blank(&mut plain[at..], b"\n", 0),
            [b'/', b'*', ..] => blank(&mut plain[at..], b"*/", 2),
            _ => 1,
        };
        match plain.get(at) {
            Some(b',') => comma = Some(at),
            Some(b'}' | b']') => {
                if let Some(comma) = comma.take() {
                    plain[comma] = b' ';
                }
            }
            Some(letter) if !letter.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        at += length.max(1);
    }
    // Only whole characters were replaced: a comment begins and ends at an ASCII letter.
    String::from_utf8(plain).unwrap_or_default()
}

/// Replaces everything up to the end of a comment by spaces, except line ends, and returns the length.
fn blank(rest: &mut [u8], end: &[u8], last: usize) -> usize {
    let from = 2.min(rest.len());
    let found = rest[from..].windows(end.len()).position(|window| window == end);
    let length = found.map_or(rest.len(), |found| from + found + last);
    rest[..length].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    length
}

/// Length of the string that begins here, its quotes included.
fn string_length(rest: &[u8]) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Place of the brace that opens a section of the top level.
fn section_start(plain: &str, section: &str) -> Option<usize> {
    let bytes = plain.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        let length = match bytes[at] {
            b'{' | b'[' => {
                depth += 1;
                1
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                1
            }
            b'"' => string_length(&bytes[at..]),
            _ => 1,
        };
        if depth == 1 && bytes[at] == b'"' && serde_json::from_str::<String>(&plain[at..at + length]).ok()? == section {
            let rest = &plain[at + length..];
            let value = rest.trim_start().strip_prefix(':').map(str::trim_start);
            if let Some(value) = value.filter(|value| value.starts_with('{')) {
                return Some(plain.len() - value.len());
            }
        }
        at += length;
    }
    None
}
