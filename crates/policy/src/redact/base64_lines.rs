//! Lines of base64, as keys are written in: plain, numbered, in a diff, or with `\n` in a string.

use super::characters::{base64, run, run_up_to};

/// Keys are written in lines at least this long, but for the last.
pub(super) const LEAST: usize = 40;
/// No line of a key is longer than this where lines are looked for backwards.
const MOST: usize = 4096;
/// What stands before a line is not longer than this.
const MOST_MARK: usize = 40;

/// A line without what tools and diffs put before it: a number with its mark, `+` or `-`, blanks.
pub(super) fn unmarked(line: &str) -> &str {
    const BLANKS: [char; 2] = [' ', '\t'];
    let line = line.trim_start_matches(BLANKS);
    let behind_number = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_number = behind_number.len() < line.len();
    let marked = behind_number.trim_start_matches(' ').strip_prefix(['\t', ':', '-', '|', '→']).filter(|_| is_number);
    let line = marked.unwrap_or(line).trim_start_matches(BLANKS);
    line.strip_prefix(['+', '-', '<', '>']).unwrap_or(line).trim_start_matches(BLANKS)
}

/// Whether a line can be the last of a key: whole groups of four, with their padding.
pub(super) fn is_last(line: &str) -> bool {
    let material = line.trim_end_matches('=');
    !material.is_empty()
        && line.len().is_multiple_of(4)
        && line.len() <= material.len() + 2
        && material.bytes().all(base64)
}

/// Lines of a key that follow each other.
pub(super) struct Rows {
    pub(super) end: usize,
    pub(super) count: usize,
}

/// The lines from the one that begins here, which is long enough, to the last that belongs to them.
pub(super) fn rows(text: &str, at: usize) -> Rows {
    let mut rows = Rows { end: row_end(text, at), count: 1 };
    while let Some(next) = after_break(text, rows.end) {
        let start = text.len() - unmarked(&text[next..]).len();
        let end = row_end(text, start);
        let ends_line = end == text.len() || after_break(text, end).is_some();
        if run_up_to(LEAST, text, start, base64) >= LEAST {
            rows = Rows { end, count: rows.count + 1 };
        } else {
            if ends_line && is_last(&text[start..end]) {
                rows.end = end;
            }
            break;
        }
    }
    rows
}

/// Where the line before the one that begins at `at` begins and ends; nothing if it is longer than any line of a key.
pub(super) fn line_before(text: &str, at: usize) -> Option<(usize, usize)> {
    let end = text[..at].strip_suffix('\n').or_else(|| text[..at].strip_suffix("\\n"))?;
    let end = end.trim_end_matches(['\r', '\\']);
    let end = end.strip_suffix("\\r").unwrap_or(end).len();
    Some((line_start(text, end, MOST)?, end))
}

/// Where the line that goes on here begins, if there is only a mark before this place.
pub(super) fn marked_line_start(text: &str, at: usize) -> Option<usize> {
    line_start(text, at, MOST_MARK).filter(|&start| unmarked(&text[start..at]).is_empty())
}

fn line_start(text: &str, at: usize, most: usize) -> Option<usize> {
    let from = at.saturating_sub(most);
    let window = &text.as_bytes()[from..at];
    match window.iter().rposition(|byte| matches!(byte, b'\n' | b'\\')) {
        Some(place) if window[place] == b'\n' => Some(from + place + 1),
        Some(place) => window.get(place + 1).filter(|next| **next == b'n').map(|_| from + place + 2),
        None => (from == 0).then_some(0),
    }
}

/// The end of a run of base64 with its padding.
fn row_end(text: &str, at: usize) -> usize {
    let end = at + run(text, at, base64);
    end + run_up_to(1, text, end, |byte| byte == b'=')
}

/// The place behind the line's end, if the line ends here; `\n` as strings write it is one, however often it is
/// escaped.
fn after_break(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let feed = rest.strip_prefix('\r').unwrap_or(rest).strip_prefix('\n');
    let escaped = |rest: &'_ str, letter: char| -> Option<usize> {
        let behind = rest.trim_start_matches('\\');
        (behind.len() < rest.len()).then(|| behind.strip_prefix(letter)).flatten().map(str::len)
    };
    let n_left = feed.map(str::len).or_else(|| {
        let n_left = escaped(rest, 'r').unwrap_or(rest.len());
        escaped(&text[text.len() - n_left..], 'n')
    });
    n_left.map(|n_left| text.len() - n_left)
}
