//! One page of a text: some lines from some line on, without holding anything else.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use crate::answer::MAX_BYTES;

pub(super) const MAX_LINE_CHARS: usize = 2000;
/// Enough for that many characters, whatever they are, and one more, by which a cut is noticed.
const MAX_LINE_BYTES: u64 = 4 * (MAX_LINE_CHARS as u64 + 1);
/// How far it looks beyond what it shows, to find the end of a line or to count the lines that follow.
const MAX_LOOK_AHEAD: u64 = 64 * 1024 * 1024;
/// Space kept free for the notes after the page, and for a line's number.
const RESERVED_BYTES: usize = 1024;
const NUMBER_BYTES: usize = 8;

/// Lines `first` to `last`, without their line ends.
pub(super) struct Page {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) lines: Vec<String>,
    pub(super) end: End,
    /// Lines that were longer than is shown.
    pub(super) n_cut: usize,
    /// Lines with bytes that are not UTF-8.
    pub(super) n_invalid: usize,
    pub(super) crlf: bool,
}

/// What comes after the page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The file ended before the page began.
    Past { n_lines: u64 },
    /// The page holds the last line.
    Last,
    /// There is more; the number of lines in all, if they could be counted quickly.
    More { n_lines: Option<u64> },
    /// The last line shown went on for at least this long.
    Endless { n_bytes: u64 },
}

/// Reads at most `limit` lines from line `first` (counted from 1) of a text of `n_bytes`.
pub(super) fn read(reader: &mut impl BufRead, first: u64, limit: u64, n_bytes: u64) -> io::Result<Page> {
    let mut page =
        Page { first, last: first - 1, lines: Vec::new(), end: End::Last, n_cut: 0, n_invalid: 0, crlf: false };
    for n_lines in 0..first - 1 {
        if reader.skip_until(b'\n')? == 0 {
            page.end = End::Past { n_lines };
            return Ok(page);
        }
    }
    let mut space = MAX_BYTES - RESERVED_BYTES;
    while (page.lines.len() as u64) < limit {
        let Some(line) = read_line(reader)? else {
            if page.lines.is_empty() {
                page.end = End::Past { n_lines: first - 1 };
            }
            return Ok(page);
        };
        let (text, is_cut, is_valid) = line.shown();
        let needed = text.len() + NUMBER_BYTES;
        if needed > space {
            page.end = End::More { n_lines: count_lines(reader, page.last + 1, n_bytes)? };
            return Ok(page);
        }
        space -= needed;
        page.last += 1;
        page.n_cut += usize::from(is_cut);
        page.n_invalid += usize::from(!is_valid);
        page.crlf |= line.crlf;
        page.lines.push(text);
        if line.is_endless {
            page.end = End::Endless { n_bytes: line.n_bytes };
            return Ok(page);
        }
    }
    if !reader.fill_buf()?.is_empty() {
        page.end = End::More { n_lines: count_lines(reader, page.last, n_bytes)? };
    }
    Ok(page)
}

/// The number of lines in all, after `n_before` of them; `None` if that would take long.
fn count_lines(reader: &mut impl BufRead, n_before: u64, n_bytes: u64) -> io::Result<Option<u64>> {
    if n_bytes > MAX_LOOK_AHEAD {
        return Ok(None);
    }
    // The file may have grown since its size was taken.
    let mut rest = reader.take(MAX_LOOK_AHEAD);
    let mut n_lines = n_before;
    while rest.skip_until(b'\n')? > 0 {
        n_lines += 1;
    }
    Ok((rest.limit() > 0).then_some(n_lines))
}

/// The start of a line, and what is known of the rest of it.
struct Line {
    start: Vec<u8>,
    /// Of the whole line, without its end; at least this many if it is endless.
    n_bytes: u64,
    crlf: bool,
    is_endless: bool,
}

fn read_line(reader: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut start = Vec::new();
    reader.take(MAX_LINE_BYTES).read_until(b'\n', &mut start)?;
    if start.is_empty() {
        return Ok(None);
    }
    let mut n_bytes = start.len() as u64;
    let (mut crlf, mut is_endless) = (false, false);
    if start.pop_if(|last| *last == b'\n').is_some() {
        n_bytes -= 1;
        crlf = start.pop_if(|last| *last == b'\r').is_some();
        n_bytes -= u64::from(crlf);
    } else if n_bytes == MAX_LINE_BYTES {
        let mut rest = reader.take(MAX_LOOK_AHEAD);
        n_bytes += rest.skip_until(b'\n')? as u64;
        is_endless = rest.limit() == 0;
    }
    Ok(Some(Line { start, n_bytes, crlf, is_endless }))
}

impl Line {
    /// The text as it is shown, whether it was cut, and whether all of it is UTF-8.
    fn shown(&self) -> (String, bool, bool) {
        let text = String::from_utf8_lossy(&self.start);
        let is_lossy = matches!(text, Cow::Owned(_));
        match text.char_indices().nth(MAX_LINE_CHARS) {
            Some((end, _)) => {
                let is_valid = !(is_lossy && text[..end].contains('\u{fffd}'));
                let least = if self.is_endless { "at least " } else { "" };
                (format!("{} [cut; {least}{} bytes in all]", &text[..end], self.n_bytes), true, is_valid)
            }
            None => (text.into_owned(), false, !is_lossy),
        }
    }
}
