//! Base64 lines as used by keys: plain, numbered, in a diff, or with `\n` in a string.

use super::characters::{base64, run, run_up_to};

/// Minimum length of a key's lines, except the last.
pub(super) const LEAST: usize = 40;
/// Maximum length of a key's lines when searching backwards.
const MOST: usize = 4096;
/// Maximum length of the mark before a line.
const MOST_MARK: usize = 40;

/// Strips the marks that tools and diffs put before a line: a number with its mark, `+` or `-`, blanks.
pub(super) fn unmarked(line: &str) -> &str {
    const BLANKS: [char; 2] = [' ', '\t'];
    let line = line.trim_start_matches(BLANKS);
    let behind_number = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_number = behind_number.len() < line.len();
    let marked = behind_number.trim_start_matches(' ').strip_prefix(['\t', ':', '-', '|', '→']).filter(|_| is_number);
    let line = marked.unwrap_or(line).trim_start_matches(BLANKS);
    line.strip_prefix(['+', '-', '<', '>']).unwrap_or(line).trim_start_matches(BLANKS)
}

/// True if a line can be the last of a key: whole groups of four, with their padding.
pub(super) fn is_last(line: &str) -> bool {
    let material = line.trim_end_matches('=');
    !material.is_empty()
        && line.len().is_multiple_of(4)
        && line.len() <= material.len() + 2
        && material.bytes().all(base64)
}

/// Consecutive lines of a key.
pub(super) struct Rows {
    pub(super) end: usize,
    pub(super) count: usize,
}

/// Returns the lines of a key from this one, which is long enough, to the last.
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

/// Returns the range of the line before the one at `at`; `None` if it is longer than any line of a key.
pub(super) fn line_before(text: &str, at: usize) -> Option<(usize, usize)> {
    let end = text[..at].strip_suffix('\n').or_else(|| text[..at].strip_suffix("\\n"))?;
    let end = end.trim_end_matches(['\r', '\\']);
    let end = end.strip_suffix("\\r").unwrap_or(end).len();
    Some((line_start(text, end, MOST)?, end))
}

/// Returns the start of the current line if only a mark precedes this position.
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

/// Returns the end of a run of base64 with its padding.
fn row_end(text: &str, at: usize) -> usize {
    let end = at + run(text, at, base64);
    end + run_up_to(1, text, end, |byte| byte == b'=')
}

/// Returns the position after the line break, if the line ends here. An escaped `\n` also counts, however often it is
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
