//! `Excerpt`: the beginning and the end of an output of any length, in bounded space.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::answer::phrases::bytes;
use crate::answer::truncate;

/// Characters shown of an output that is too long to show whole.
const HEAD_CHARS: usize = 10_000;
const TAIL_CHARS: usize = 20_000;
/// Maximum size of these characters, plus some: a character split at the edge is never among them.
const HEAD_BYTES: usize = 4 * HEAD_CHARS + 4;
const TAIL_BYTES: usize = 4 * TAIL_CHARS + 4;

/// An output of at most this many bytes is shown whole, whatever its characters.
pub(crate) const WHOLE_BYTES: u64 = (HEAD_CHARS + TAIL_CHARS) as u64;

#[derive(Debug, Default)]
pub(crate) struct Excerpt {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    n_bytes: u64,
}

/// An output as shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// True if part of it is missing.
    pub(crate) is_cut: bool,
    /// True if some bytes are not UTF-8; each is replaced by a mark.
    pub(crate) is_lossy: bool,
}

impl Excerpt {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES - self.head.len()));
        self.head.extend(first);
        self.tail.extend(rest);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL_BYTES));
    }

    pub(crate) fn shown(&mut self) -> Shown {
        let tail = self.tail.make_contiguous();
        let is_whole = self.n_bytes == (self.head.len() + tail.len()) as u64;
        if is_whole {
            let whole = [&self.head, &*tail].concat();
            let text = String::from_utf8_lossy(&whole);
            if text.len() as u64 <= WHOLE_BYTES || text.chars().count() as u64 <= WHOLE_BYTES {
                let is_lossy = matches!(text, Cow::Owned(_));
                return Shown { text: text.into_owned(), is_cut: false, is_lossy };
            }
            return cut_out(&whole, &whole, self.n_bytes);
        }
        cut_out(&self.head, tail, self.n_bytes)
    }

    /// Returns the last complete line that is not blank, as plain text. An unfinished line is not shown: half a secret
    /// looks like none.
    pub(crate) fn last_line(&mut self) -> Option<String> {
        const MAX_CHARS: usize = 200;
        let tail = self.tail.make_contiguous();
        let newest: &[u8] = if tail.is_empty() { &self.head } else { tail };
        let mut lines = newest.rsplit(|byte| matches!(byte, b'\n' | b'\r')).skip(1);
        let line = lines.find(|line| !line.trim_ascii().is_empty())?;
        let text = String::from_utf8_lossy(line).replace(char::is_control, "");
        let end = text.char_indices().nth(MAX_CHARS).map(|(end, _)| end);
        Some(end.map_or_else(|| text.clone(), |end| format!("{}…", truncate::start(&text, end))))
    }
}

/// Joins the beginning and the end of an output with this many bytes.
fn cut_out(head: &[u8], tail: &[u8], n_bytes: u64) -> Shown {
    let (before, after) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let end = before.char_indices().nth(HEAD_CHARS).map_or(before.len(), |(end, _)| end);
    let before = truncate::start(&before, end);
    let from = after.char_indices().rev().nth(TAIL_CHARS - 1).map_or(0, |(from, _)| from);
    let after = truncate::end(&after, from);
    let is_lossy = !head.starts_with(before.as_bytes()) || !tail.ends_with(after.as_bytes());
    let n_left_out = n_bytes.saturating_sub((before.len() + after.len()) as u64);
    let gap = if before.ends_with('\n') { "" } else { "\n" };
    let text = format!("{before}{gap}[{} left out here]\n{after}", bytes(n_left_out));
    Shown { text, is_cut: true, is_lossy }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(chunks: &[&[u8]]) -> Excerpt {
        let mut excerpt = Excerpt::default();
        for chunk in chunks {
            excerpt.push(chunk);
        }
        excerpt
    }

    fn shown(chunks: &[&[u8]]) -> Shown {
        excerpt(chunks).shown()
    }

    #[test]
    fn an_output_within_the_bounds_is_shown_whole() {
        for text in [String::new(), "a\nb\n".to_owned(), "x".repeat(30_000), "ä€𝄞".repeat(10_000)] {
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(997).collect();
            assert_eq!(shown(&chunks), Shown { text, is_cut: false, is_lossy: false });
        }
    }

    #[test]
    fn a_longer_output_shows_its_beginning_and_end_and_counts_the_rest() {
        let text: String =
            (100_000_000..100_200_000).flat_map(|number| [number.to_string(), "\n".to_owned()]).collect();
        let Shown { text: shown, is_cut, is_lossy } = shown(&[text.as_bytes()]);
        assert!(is_cut && !is_lossy);
        let (before, after) = shown.split_once("[1,970,000 bytes left out here]\n").unwrap();
        assert_eq!(before, &text[..10_000]);
        assert_eq!(after, &text[text.len() - 20_000..]);
    }

    #[test]
    fn multibyte_characters_count_as_one_and_are_never_split() {
        for length in [30_001, 30_002, 100_000] {
            let text: String = "€𝄞 ".chars().cycle().take(length).collect();
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(7).collect();
            let Shown { text: shown, is_cut, is_lossy } = shown(&chunks);
            assert!(is_cut && !is_lossy, "{length}");
            let (before, after) = shown.split_once("\n[").unwrap();
            assert!((9_990..=10_000).contains(&before.chars().count()), "{length}");
            let after = after.split_once("]\n").unwrap().1;
            assert!((19_990..=20_000).contains(&after.chars().count()), "{length}");
        }
    }

    #[test]
    fn invalid_bytes_are_shown_as_marks_and_reported() {
        assert_eq!(shown(&[b"a\xff", b"b"]), Shown { text: "a\u{fffd}b".to_owned(), is_cut: false, is_lossy: true });
        let noise = vec![0xff_u8; 200_000];
        let Shown { is_cut, is_lossy, .. } = shown(&[&noise]);
        assert!(is_cut && is_lossy);
    }

    #[test]
    fn the_last_line_shown_is_complete() {
        assert_eq!(excerpt(&[b"one"]).last_line(), None);
        assert_eq!(excerpt(&[b"one\ntw"]).last_line().as_deref(), Some("one"));
        assert_eq!(excerpt(&[b"one\ntwo\n  \n"]).last_line().as_deref(), Some("two"));
        assert_eq!(excerpt(&[b"10 %\r20 %\r30"]).last_line().as_deref(), Some("20 %"));
        assert_eq!(excerpt(&[b"a\x1b[31mb\tc\n"]).last_line().as_deref(), Some("a[31mbc"));
        let long = excerpt(&["word ".repeat(100).as_bytes(), b"\n"]).last_line().unwrap();
        assert!(long.ends_with("word …") && long.chars().count() == 201, "{long}");
        assert_eq!(excerpt(&[&b"x\n".repeat(1_000_000), b"end\n"]).last_line().as_deref(), Some("end"));
    }
}
