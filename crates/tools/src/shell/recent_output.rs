//! `RecentOutput`: the newest part of an output, read page by page.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::answer::phrases::{bytes, counted};
use crate::answer::{Answer, truncate};

/// Bytes kept. If more arrive between two looks, the oldest are lost.
pub(crate) const RECENT_BYTES: usize = 1 << 20;
/// Maximum length of a page.
const PAGE_CHARS: usize = 30_000;

/// True if a line is wanted.
pub(crate) type Filter<'a> = &'a dyn Fn(&[u8]) -> bool;

/// The newest part of an output.
#[derive(Debug, Default)]
pub(super) struct RecentOutput {
    bytes: VecDeque<u8>,
    /// Total number of bytes received.
    n_bytes: u64,
    /// Number of bytes read or missed.
    n_read: u64,
    /// Number of bytes received by the last look.
    n_looked_at: u64,
    /// True if nothing more will come.
    pub(super) is_over: bool,
}

/// One page of new output.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OutputPage {
    pub(crate) text: String,
    /// Bytes lost before this page.
    pub(crate) n_missed: u64,
    /// Bytes left for another page.
    pub(crate) n_left: u64,
    /// Lines that the filter skipped.
    pub(crate) n_unwanted: usize,
    /// True if some bytes are not UTF-8; each is replaced by a mark.
    pub(crate) is_lossy: bool,
}

impl RecentOutput {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len() as u64;
        self.bytes.extend(&bytes[bytes.len().saturating_sub(RECENT_BYTES)..]);
        self.bytes.drain(..self.bytes.len().saturating_sub(RECENT_BYTES));
    }

    /// Returns the next page of wanted lines. An unfinished word waits for its end, since half a secret looks like
    /// none. If nothing came since the last look, it is shown.
    pub(super) fn page(&mut self, is_wanted: Option<Filter<'_>>) -> OutputPage {
        let n_gone = self.n_bytes - self.bytes.len() as u64;
        let n_missed = n_gone.saturating_sub(self.n_read);
        let from = self.n_read.max(n_gone);
        let is_still = self.is_over || self.n_looked_at == self.n_bytes;
        self.n_looked_at = self.n_bytes;
        let new = &self.bytes.make_contiguous()[(from - n_gone) as usize..];
        let complete = if is_still { new } else { up_to_word(new) };
        let (mut page, n_taken) = match is_wanted {
            None => plain(complete),
            Some(is_wanted) => filtered(complete, is_still, is_wanted),
        };
        self.n_read = from + n_taken as u64;
        page.n_missed = n_missed;
        page.n_left = complete.len().saturating_sub(n_taken) as u64;
        page
    }
}

impl OutputPage {
    /// Puts the page into an answer and notes everything that is missing.
    pub(crate) fn put(&self, answer: &mut Answer) {
        let Self { text, n_missed, n_left, n_unwanted, is_lossy } = self;
        answer.text(text);
        answer.put("output", || text.clone().into());
        if *n_missed > 0 {
            answer.note_lack(format!("{} before this were not read in time and are gone", bytes(*n_missed)));
        }
        if *n_unwanted > 0 {
            answer.note(format!("{} passed over by the filter", counted(*n_unwanted, "line", "lines")));
        }
        if *is_lossy {
            answer.note("bytes that are not UTF-8 are shown as \u{fffd}");
        }
        if *n_left > 0 {
            answer.note_lack(format!("{} more are there; call again", bytes(*n_left)));
        }
    }
}

/// Drops the last word, which may be unfinished.
fn up_to_word(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
    &bytes[..end]
}

/// Returns as much as fits, and its number of bytes.
fn plain(bytes: &[u8]) -> (OutputPage, usize) {
    let n_most = n_bytes_of(PAGE_CHARS, bytes);
    let n_taken = if n_most < bytes.len() { up_to_line(&bytes[..n_most]).len() } else { n_most };
    let text = String::from_utf8_lossy(&bytes[..n_taken]);
    let is_lossy = matches!(text, Cow::Owned(_));
    (OutputPage { text: text.into_owned(), is_lossy, ..OutputPage::default() }, n_taken)
}

/// Counts the bytes of this many characters. An invalid sequence counts as one character.
fn n_bytes_of(n_chars: usize, bytes: &[u8]) -> usize {
    let lengths = bytes.utf8_chunks().flat_map(|chunk| {
        let invalid = Some(chunk.invalid().len()).filter(|length| *length > 0);
        chunk.valid().chars().map(char::len_utf8).chain(invalid)
    });
    lengths.take(n_chars).sum()
}

/// Cuts after the last line or, if that is far back, after the last word.
fn up_to_line(bytes: &[u8]) -> &[u8] {
    const MAX_REST: usize = 4096;
    match bytes.iter().rev().take(MAX_REST).position(|byte| *byte == b'\n') {
        Some(rest) => &bytes[..bytes.len() - rest],
        None => Some(up_to_word(bytes)).filter(|shorter| !shorter.is_empty()).unwrap_or(bytes),
    }
}

/// Returns as many wanted lines as fit, of the complete ones, and the number of bytes examined.
fn filtered(bytes: &[u8], is_still: bool, is_wanted: Filter<'_>) -> (OutputPage, usize) {
    let mut page = OutputPage::default();
    let (mut n_taken, mut n_chars) = (0, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if !line.ends_with(b"\n") && !is_still {
            break;
        }
        if is_wanted(line.strip_suffix(b"\n").unwrap_or(line)) {
            let text = String::from_utf8_lossy(line);
            n_chars += text.chars().count();
            if n_chars > PAGE_CHARS && !page.text.is_empty() {
                break;
            }
            page.is_lossy |= matches!(text, Cow::Owned(_));
            match text.char_indices().nth(PAGE_CHARS) {
                Some((end, _)) => page.text.push_str(&truncate::marked(truncate::start(&text, end), line.len())),
                None => page.text.push_str(&text),
            }
        } else {
            page.n_unwanted += 1;
        }
        n_taken += line.len();
    }
    (page, n_taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recent(text: &[u8]) -> RecentOutput {
        let mut recent = RecentOutput::default();
        recent.push(text);
        recent
    }

    fn next(recent: &mut RecentOutput) -> String {
        recent.page(None).text
    }

    #[test]
    fn each_look_returns_new_output() {
        let mut recent = recent(b"one\n");
        assert_eq!(next(&mut recent), "one\n");
        assert_eq!(next(&mut recent), "");
        recent.push(b"two\nthree\n");
        assert_eq!(next(&mut recent), "two\nthree\n");
    }

    #[test]
    fn an_unfinished_word_waits_for_its_end_but_not_forever() {
        let mut recent = recent(b"key = ghp_abc");
        assert_eq!(next(&mut recent), "key = ");
        recent.push(b"def");
        assert_eq!(next(&mut recent), "");
        recent.push(b"ghi\nnext");
        assert_eq!(next(&mut recent), "ghp_abcdefghi\n");
        assert_eq!(next(&mut recent), "next", "nothing came since the last look");
        recent.push(b" end");
        recent.is_over = true;
        assert_eq!(next(&mut recent), " end");
    }

    #[test]
    fn output_lost_between_two_looks_is_counted() {
        let mut recent = recent(b"first\n");
        next(&mut recent);
        recent.push(&b"x\n".repeat(RECENT_BYTES));
        let page = recent.page(None);
        assert_eq!(page.n_missed, RECENT_BYTES as u64);
        assert_eq!(page.text.len() as u64 + page.n_left, RECENT_BYTES as u64);
        assert_eq!(recent.page(None).n_missed, 0);
    }

    #[test]
    fn a_long_output_is_read_page_by_page_without_gaps() {
        let text: String = (0..20_000).flat_map(|number| [number.to_string(), " ä€\n".to_owned()]).collect();
        let mut recent = recent(text.as_bytes());
        let mut read = String::new();
        loop {
            let page = recent.page(None);
            assert!(page.text.ends_with('\n') && page.text.chars().count() <= PAGE_CHARS && !page.is_lossy);
            read.push_str(&page.text);
            if page.n_left == 0 {
                break;
            }
        }
        assert_eq!(read, text);
    }

    #[test]
    fn invalid_bytes_are_shown_as_marks_and_none_is_lost() {
        let mut recent = recent(&vec![0xff; PAGE_CHARS + 10]);
        recent.is_over = true;
        let page = recent.page(None);
        assert_eq!((page.text.chars().count(), page.n_left, page.is_lossy), (PAGE_CHARS, 10, true));
        assert_eq!(next(&mut recent), "\u{fffd}".repeat(10));
    }

    #[test]
    fn a_filter_shows_matching_lines_and_counts_the_others() {
        let mut recent = recent(b"error: a\nfine\nerror: b\nerr");
        let is_error = |line: &[u8]| line.starts_with(b"err");
        let page = recent.page(Some(&is_error));
        assert_eq!((page.text.as_str(), page.n_unwanted), ("error: a\nerror: b\n", 1));
        recent.push(b"or: c\n");
        assert_eq!(recent.page(Some(&is_error)).text, "error: c\n", "it looks at whole lines");
    }

    #[test]
    fn a_filtered_page_is_bounded_too() {
        let mut recent = recent(&b"error\n".repeat(20_000));
        let page = recent.page(Some(&|_: &[u8]| true));
        assert_eq!((page.text.len(), page.n_left), (PAGE_CHARS, 90_000));
        let mut endless = super::tests::recent(&b"x ".repeat(PAGE_CHARS));
        endless.push(b"\n");
        let page = endless.page(Some(&|_: &[u8]| true));
        assert!(page.text.ends_with("[cut; 60001 bytes in all]"), "{}", page.text.len());
        assert_eq!(page.n_left, 0);
    }
}
