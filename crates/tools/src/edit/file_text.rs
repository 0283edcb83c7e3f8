//! `FileText`: the text of a file as an editor shows it, with `\n` at every line's end and no byte order mark.
//!
//! Encoding the text again restores the mark, CRLF and mixed line ends, so that an edit changes only what it names.
//! This module opens no files.

use crate::answer::diff::Diff;
use crate::files::encoding::{BINARY_PROBE_BYTES, BYTE_ORDER_MARK};

/// A file's text; by default that of an empty file.
#[derive(Debug, Default)]
pub(crate) struct FileText {
    /// Verbatim, without its mark.
    original: String,
    /// Text with `\n` as the only line end; `None` if that makes no difference.
    plain: Option<String>,
    has_mark: bool,
    ends: Ends,
}

/// Line ends of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Ends {
    #[default]
    Lf,
    Crlf,
    Mixed,
}

impl FileText {
    /// Decodes these bytes. The error is the reason why they are not text.
    pub(crate) fn decode(bytes: Vec<u8>) -> Result<Self, String> {
        let probe = &bytes[..bytes.len().min(BINARY_PROBE_BYTES)];
        if probe.starts_with(b"\xff\xfe") || probe.starts_with(b"\xfe\xff") {
            return Err("it looks like UTF-16 text, and only UTF-8 is known".to_owned());
        }
        if let Some(at) = probe.iter().position(|&byte| byte == 0) {
            return Err(format!("it is binary (a NUL at byte {at})"));
        }
        let mut original = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].split(|&byte| byte == b'\n').count();
            format!("it is not UTF-8 (byte {at}, in line {line}), and what is not UTF-8 would be lost")
        })?;
        let has_mark = original.starts_with(BYTE_ORDER_MARK);
        if has_mark {
            original.drain(..BYTE_ORDER_MARK.len());
        }
        let n_crlf = original.matches("\r\n").count();
        let ends = match n_crlf {
            0 => Ends::Lf,
            _ if n_crlf == original.matches('\n').count() => Ends::Crlf,
            _ => Ends::Mixed,
        };
        let plain = (ends != Ends::Lf).then(|| plain(&original));
        Ok(Self { original, plain, has_mark, ends })
    }

    /// The text to see and to edit.
    pub(crate) fn plain(&self) -> &str {
        self.plain.as_deref().unwrap_or(&self.original)
    }

    pub(crate) fn ends(&self) -> Ends {
        self.ends
    }

    /// The file's text verbatim, without its mark.
    pub(crate) fn original(&self) -> &str {
        &self.original
    }

    /// Returns the file's text with `after` in place of [`plain`](Self::plain). Kept lines keep their ends; new ones
    /// get those of the lines they replace or follow. Without the mark.
    pub(crate) fn with_ends(&self, after: &str) -> String {
        match self.ends {
            Ends::Lf => after.to_owned(),
            Ends::Crlf => after.replace('\n', "\r\n"),
            Ends::Mixed => self.with_mixed_ends(after),
        }
    }

    /// Strips marks from a new text: all if [`encode`](Self::encode) adds one, otherwise all but one.
    pub(crate) fn without_mark<'a>(&self, text: &'a str) -> &'a str {
        let bare = text.trim_start_matches(BYTE_ORDER_MARK);
        if self.has_mark || bare.len() == text.len() {
            bare
        } else {
            &text[text.len() - bare.len() - BYTE_ORDER_MARK.len()..]
        }
    }

    /// Returns the bytes of the file for this text.
    pub(crate) fn encode(&self, text: &str) -> Vec<u8> {
        let mark = if self.has_mark { BYTE_ORDER_MARK } else { "" };
        [mark, text].concat().into_bytes()
    }

    fn with_mixed_ends(&self, after: &str) -> String {
        let diff = Diff::new(self.plain(), after);
        let mut rest = self.original.split_inclusive('\n');
        let mut text = String::with_capacity(after.len() + self.original.len() - self.plain().len());
        text.extend(rest.by_ref().take(diff.n_skipped()));
        let compared: Vec<&str> = rest.by_ref().take(diff.before().len()).collect();
        let mut at = 0;
        for change in diff.changes() {
            text.extend(compared[at..change.before.start].iter().copied());
            for (index, line) in diff.after()[change.after.clone()].iter().enumerate() {
                let example = match change.before.len() {
                    0 => change.before.start.saturating_sub(1),
                    n_lines if n_lines == change.after.len() => change.before.start + index,
                    _ => change.before.start,
                };
                match line.strip_suffix('\n') {
                    Some(body) if ends_with_crlf(&compared, example) => text.extend([body, "\r\n"]),
                    _ => text.push_str(line),
                }
            }
            at = change.before.end;
        }
        text.extend(compared[at..].iter().copied().chain(rest));
        text
    }
}

/// Replaces every `\r\n` by `\n`.
pub(crate) fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// True if the line at this index ends with CRLF. If it has no end or does not exist, the last line end before it
/// counts.
fn ends_with_crlf(lines: &[&str], index: usize) -> bool {
    let up_to = &lines[..lines.len().min(index + 1)];
    up_to.iter().rev().find(|line| line.ends_with('\n')).is_some_and(|line| line.ends_with("\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(before: &str, edit: impl Fn(&str) -> String) -> String {
        let text = FileText::decode(before.as_bytes().to_vec()).unwrap();
        let after = edit(text.plain());
        String::from_utf8(text.encode(&text.with_ends(&after))).unwrap()
    }

    #[test]
    fn an_unchanged_text_is_identical_to_the_byte() {
        for text in [
            "",
            "a",
            "a\n",
            "a\r\n",
            "a\r\nb",
            "\u{feff}a\r\nb\n",
            "a\rb\r\r\nc\n\r\n",
            "\u{feff}\u{feff}a",
            "\r\n\n\r",
        ] {
            assert_eq!(edited(text, str::to_owned), text, "{text:?}");
        }
    }

    #[test]
    fn an_edit_keeps_line_ends_and_byte_order_marks() {
        let replaced = |before| edited(before, |text| text.replace("b\n", "B\nnew\n"));
        for (before, after) in [
            ("a\nb\nc", "a\nB\nnew\nc"),
            ("a\r\nb\r\nc\r\n", "a\r\nB\r\nnew\r\nc\r\n"),
            ("\u{feff}a\r\nb\r\nc", "\u{feff}a\r\nB\r\nnew\r\nc"),
            ("\u{feff}b\n", "\u{feff}B\nnew\n"),
            ("a\r\nb\nc\r\n", "a\r\nB\nnew\nc\r\n"),
            ("a\nb\r\nc\n", "a\nB\r\nnew\r\nc\n"),
            ("a\rb\r\n", "a\rB\r\nnew\r\n"),
        ] {
            assert_eq!(replaced(before), after, "{before:?}");
        }
    }

    #[test]
    fn a_mixed_file_keeps_its_line_ends_and_a_new_line_takes_its_neighbours() {
        let mixed = "one\r\ntwo\nthree\r\nfour\nfive";
        let shout = |text: &str| text.to_uppercase();
        assert_eq!(edited(mixed, shout), "ONE\r\nTWO\nTHREE\r\nFOUR\nFIVE");
        assert_eq!(edited(mixed, |text| format!("{text}\nsix\n")), "one\r\ntwo\nthree\r\nfour\nfive\nsix\n");
        assert_eq!(edited(mixed, |text| text.replace("three\n", "three\n3\n")), "one\r\ntwo\nthree\r\n3\r\nfour\nfive");
        assert_eq!(edited(mixed, |text| text.replace("three\n", "")), "one\r\ntwo\nfour\nfive");
        assert_eq!(edited(mixed, |text| format!("zero\n{text}")), "zero\r\none\r\ntwo\nthree\r\nfour\nfive");
        assert_eq!(edited(mixed, |_| String::new()), "");
    }

    #[test]
    fn binary_content_is_refused_with_the_reason() {
        let refused = |bytes: &[u8]| FileText::decode(bytes.to_vec()).unwrap_err();
        assert_eq!(refused(b"a\0b"), "it is binary (a NUL at byte 1)");
        assert_eq!(refused(b"\xff\xfea\0"), "it looks like UTF-16 text, and only UTF-8 is known");
        let latin = "it is not UTF-8 (byte 5, in line 2), and what is not UTF-8 would be lost";
        assert_eq!(refused(b"a\ncaf\xe9\n"), latin);
    }
}
