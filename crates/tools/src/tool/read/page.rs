//! `Page`: some lines of a text from a given line on, without holding anything else.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use crate::answer::Answer;
use crate::answer::truncate;
use crate::files::encoding::BYTE_ORDER_MARK;

pub(super) const MAX_LINE_CHARS: usize = 2000;
/// Enough for that many characters of any width, plus one to detect a cut.
const MAX_LINE_BYTES: u64 = 4 * (MAX_LINE_CHARS as u64 + 1);
/// Bytes to read beyond the page, to find the end of a line or to count the following lines.
const MAX_LOOK_AHEAD: u64 = 64 * 1024 * 1024;

/// The lines that a call requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    /// Counted from 1.
    pub(super) first: u64,
    pub(super) limit: u64,
}

/// Facts about the lines shown.
#[derive(Default)]
pub(super) struct Page {
    /// The last line shown; before that, the last one skipped on the way to the page.
    pub(super) last: u64,
    /// Number of lines too long to show whole.
    pub(super) n_cut: usize,
    /// Lines with bytes that are not UTF-8.
    pub(super) n_invalid: usize,
    /// Number of lines ending with CRLF, and with LF alone.
    pub(super) n_crlf: usize,
    pub(super) n_lf: usize,
    /// True if the file starts with a byte order mark, which is not shown.
    pub(super) has_mark: bool,
}

/// The text after the page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PageEnd {
    /// The file ended before the page began.
    Past { n_lines: u64 },
    /// The page holds the last line.
    Last,
    /// There is more. Has the total number of lines if counting was quick.
    More { n_lines: Option<u64> },
    /// The last line shown continued for at least this long.
    Endless { n_bytes: u64 },
}

impl Page {
    /// Writes at most `limit` lines from line `first` (counted from 1) of a text of `n_bytes`, as far as they fit.
    pub(super) fn read(
        &mut self,
        reader: &mut impl BufRead,
        Lines { first, limit }: Lines,
        n_bytes: u64,
        answer: &mut Answer,
    ) -> io::Result<PageEnd> {
        while self.last + 1 < first {
            if reader.skip_until(b'\n')? == 0 {
                return Ok(PageEnd::Past { n_lines: self.last });
            }
            self.last += 1;
        }
        for n_shown in 0..limit {
            let Some(mut line) = read_line(reader)? else {
                return Ok(if n_shown == 0 { PageEnd::Past { n_lines: self.last } } else { PageEnd::Last });
            };
            let number = self.last + 1;
            self.has_mark |= number == 1 && line.drop_mark();
            let (text, is_cut, is_valid) = line.shown();
            if !answer.line(&format!("{number}\t{text}")) {
                return Ok(PageEnd::More { n_lines: count_lines(reader, number, n_bytes) });
            }
            self.last = number;
            self.n_cut += usize::from(is_cut);
            self.n_invalid += usize::from(!is_valid);
            self.n_crlf += usize::from(line.end == LineEnd::Crlf);
            self.n_lf += usize::from(line.end == LineEnd::Lf);
            if line.is_endless {
                return Ok(PageEnd::Endless { n_bytes: line.n_bytes });
            }
        }
        if reader.fill_buf()?.is_empty() {
            return Ok(PageEnd::Last);
        }
        Ok(PageEnd::More { n_lines: count_lines(reader, self.last, n_bytes) })
    }
}

/// Returns the total number of lines, given `n_before` of them; `None` if counting would take long or fails.
fn count_lines(reader: &mut impl BufRead, n_before: u64, n_bytes: u64) -> Option<u64> {
    if n_bytes > MAX_LOOK_AHEAD {
        return None;
    }
    // The file may have grown since its size was taken.
    let mut rest = reader.take(MAX_LOOK_AHEAD);
    let mut n_lines = n_before;
    while rest.skip_until(b'\n').ok()? > 0 {
        n_lines += 1;
    }
    (rest.limit() > 0).then_some(n_lines)
}

/// The start of a line, and facts about the rest.
struct Line {
    start: Vec<u8>,
    /// Length of the whole line without its end; a lower bound if it is endless.
    n_bytes: u64,
    end: LineEnd,
    is_endless: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    /// None, or not found because the line is so long.
    None,
    Lf,
    Crlf,
}

fn read_line(reader: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut start = Vec::new();
    reader.take(MAX_LINE_BYTES).read_until(b'\n', &mut start)?;
    if start.is_empty() {
        return Ok(None);
    }
    let mut n_bytes = start.len() as u64;
    let (mut end, mut is_endless) = (LineEnd::None, false);
    if start.pop_if(|last| *last == b'\n').is_some() {
        end = if start.pop_if(|last| *last == b'\r').is_some() { LineEnd::Crlf } else { LineEnd::Lf };
        n_bytes = start.len() as u64;
    } else if n_bytes == MAX_LINE_BYTES {
        let mut rest = reader.take(MAX_LOOK_AHEAD);
        n_bytes += rest.skip_until(b'\n')? as u64;
        is_endless = rest.limit() == 0;
    }
    Ok(Some(Line { start, n_bytes, end, is_endless }))
}

impl Line {
    /// Removes a byte order mark from its start. Returns true if there was one.
    fn drop_mark(&mut self) -> bool {
        let has_mark = self.start.starts_with(BYTE_ORDER_MARK.as_bytes());
        if has_mark {
            self.start.drain(..BYTE_ORDER_MARK.len());
            self.n_bytes -= BYTE_ORDER_MARK.len() as u64;
        }
        has_mark
    }

    /// Returns the text to show, if it was cut, and if all of it is UTF-8.
    fn shown(&self) -> (String, bool, bool) {
        let text = String::from_utf8_lossy(&self.start);
        let is_lossy = matches!(text, Cow::Owned(_));
        match text.char_indices().nth(MAX_LINE_CHARS) {
            Some((end, _)) => {
                let is_valid = !(is_lossy && text[..end].contains('\u{fffd}'));
                let least = if self.is_endless { "at least " } else { "" };
                let start = truncate::start(&text, end);
                (truncate::marked(start, format_args!("{least}{}", self.n_bytes)), true, is_valid)
            }
            None => (text.into_owned(), false, !is_lossy),
        }
    }
}
