//! Truncation that never splits a word: half a key has no shape by which it could be redacted.
//!
//! A word is anything that could be one secret: a token, a URL with its password, a key in base64. This module knows no
//! shapes of secrets.

use std::fmt::Display;
use std::ops::Range;

/// Characters shown of a long line, and how many of them precede the match.
const MAX_AROUND: usize = 400;
const MAX_BEFORE: usize = 100;
/// No key is longer, so a longer word may be cut.
const MAX_WORD: usize = 4096;
/// Maximum distance between a name and its value.
const MAX_GAP: usize = 16;

/// Returns the text up to the byte `end`, without a word that continues there.
pub(crate) fn start(text: &str, end: usize) -> &str {
    let word = word_at(text, end);
    let is_split = word.start < end && end < word.end;
    if is_split && end - word.start <= MAX_WORD { &text[..word.start] } else { &text[..end] }
}

/// Returns the text without its last word, which may be incomplete.
pub(crate) fn unfinished(text: &str) -> &str {
    let n_bytes = text.bytes().rev().take_while(|&byte| is_in_word(byte)).count();
    if n_bytes <= MAX_WORD { &text[..text.len() - n_bytes] } else { text }
}

/// Returns the text from the byte `from`, without the rest of that line: a name before it may make a secret of what
/// follows. If the line is too long for that, only the rest of the word is dropped.
pub(crate) fn end(text: &str, from: usize) -> &str {
    let is_start = from == 0 || text[..from].ends_with('\n');
    if is_start {
        return &text[from..];
    }
    let nearby = &text[from..text.floor_char_boundary(from + MAX_WORD)];
    if let Some(line_end) = nearby.find('\n') {
        return &text[from + line_end + 1..];
    }
    let word = word_at(text, from);
    if word.start < from && word.end - from <= MAX_WORD { &text[word.end..] } else { &text[from..] }
}

/// Marks a shortened line with its full length.
pub(crate) fn marked(shown: &str, n_bytes: impl Display) -> String {
    let space = if shown.is_empty() { "" } else { " " };
    format!("{shown}{space}[cut; {n_bytes} bytes in all]")
}

/// Returns a line or, if it is long, the part around the byte found by `find`. Adds the number of characters left out
/// on each side. If the word there is too long to show, its length takes its place.
pub(crate) fn around(line: &str, find: impl FnOnce() -> usize) -> String {
    let n_chars = line.chars().count();
    if n_chars <= MAX_AROUND {
        return line.to_owned();
    }
    let word = word_at(line, line.floor_char_boundary(find()));
    let n_before = line[..word.start].chars().count();
    let first = n_before.saturating_sub(MAX_BEFORE).min(n_chars - MAX_AROUND);
    let from = after_cut(line, nth(line, first), word.start);
    let skipped = if from > 0 { format!("[{} chars] ", line[..from].chars().count()) } else { String::new() };
    let (middle, rest) = if from <= word.start && word.len() > MAX_AROUND - MAX_BEFORE {
        (format!("{}[{} chars]", &line[from..word.start], word.len()), &line[word.end..])
    } else {
        (String::new(), &line[from..])
    };
    let right = start(rest, nth(rest, MAX_AROUND.saturating_sub(middle.chars().count())));
    let n_after = rest[right.len()..].chars().count();
    let after = if n_after > 0 { format!(" [{n_after} chars]") } else { String::new() };
    format!("{skipped}{middle}{right}{after}")
}

/// Returns where to resume after a cut, at most at `limit`. Skips the word that the cut splits, and any value whose
/// name precedes the cut and would be missing.
fn after_cut(line: &str, cut: usize, limit: usize) -> usize {
    if cut == 0 {
        return 0;
    }
    let word = word_at(line, cut);
    let mut end = if word.start < cut { word.end } else { cut };
    let is_in_doubt = |word: &Range<usize>| word.end <= limit && is_value(&line[word.clone()]);
    // One more word may come between a name and its value, as in `Authorization: Bearer …`.
    while let Some(value) = next_words(line, end).take(2).filter(is_in_doubt).last() {
        end = value.end;
    }
    end
}

/// Returns the words that closely follow each other from here on.
fn next_words(line: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let mut end = from;
    let close = std::iter::from_fn(move || {
        let gap = line[end..].bytes().take(MAX_GAP).take_while(|&byte| byte.is_ascii() && !is_in_word(byte)).count();
        let word = word_at(line, end + gap);
        end = word.end;
        (!word.is_empty()).then_some(word)
    });
    close.filter(|word| line[word.clone()].bytes().any(|byte| byte.is_ascii_alphanumeric()))
}

/// True if a word may be a secret just because of the name before it.
fn is_value(word: &str) -> bool {
    const LEAST: usize = 8;
    word.len() >= LEAST && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns the word around a position; empty if there is none.
fn word_at(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let n_before = bytes[..at].iter().rev().take_while(|&&byte| is_in_word(byte)).count();
    let n_after = bytes[at..].iter().take_while(|&&byte| is_in_word(byte)).count();
    if n_after == 0 { at..at } else { at - n_before..at + n_after }
}

/// True if a byte may be part of a secret. Backslashes may: a key in a JSON string has `\n` between its lines.
fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`<>()[]{},;|".contains(&byte)
}

/// Returns the byte position of the character with this index, or the end.
fn nth(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";

    /// Returns the longest part of `secret` that a text shows.
    fn leaked<'a>(secret: &'a str, text: &str) -> &'a str {
        let parts = (0..secret.len()).flat_map(|from| (from + 1..=secret.len()).map(move |to| &secret[from..to]));
        parts.filter(|part| text.contains(part)).max_by_key(|part| part.len()).unwrap_or_default()
    }

    #[test]
    fn the_start_of_a_text_ends_before_a_split_word() {
        for (text, end, expected) in [
            ("one two", 5, "one "),
            ("one two", 4, "one "),
            ("one two", 3, "one"),
            ("one two", 7, "one two"),
            ("word", 2, ""),
            ("a:postgres://u:pass@host b", 18, ""),
            ("f(a.b,c.d)", 8, "f(a.b,"),
            ("äääää", 4, "ää"),
        ] {
            assert_eq!(start(text, end), expected, "{text} at {end}");
        }
        let endless = "x".repeat(10_000);
        assert_eq!(start(&endless, 5000).len(), 5000, "no key is so long");
        assert_eq!(
            (unfinished("one two"), unfinished("one two "), unfinished(&endless)),
            ("one ", "one two ", &*endless)
        );
        assert_eq!(marked("a", 5), "a [cut; 5 bytes in all]");
        assert_eq!(marked("", 5), "[cut; 5 bytes in all]");
    }

    #[test]
    fn the_end_of_a_text_begins_with_a_line_or_at_least_a_word() {
        for (text, from, expected) in [
            ("one two\nthree", 5, "three"),
            ("one two\nthree", 8, "three"),
            ("one two\nthree", 0, "one two\nthree"),
            ("one two three", 5, " three"),
            ("one two three", 4, "two three"),
            ("one\n", 2, ""),
            ("password = secret\nnext", 9, "next"),
        ] {
            assert_eq!(end(text, from), expected, "{text} from {from}");
        }
        let endless = "x".repeat(10_000);
        assert_eq!(end(&endless, 2000).len(), 8000, "no key is so long");
    }

    #[test]
    fn no_window_on_a_long_line_shows_a_part_of_a_key() {
        for n_between in 0..420 {
            let filler: String = "q, ".repeat(n_between / 3) + &"q"[..usize::from(n_between % 3 > 0)];
            for line in [
                format!("{}\"{KEY}\":{filler} needle {}", "z ".repeat(300), "z ".repeat(500)),
                format!("{}needle {filler} \"{KEY}\"{}", "z ".repeat(300), "z ".repeat(500)),
                format!("{}{KEY}{}needle{}", "z".repeat(500), "q".repeat(n_between), "z".repeat(800)),
            ] {
                let text = around(&line, || line.find("needle").unwrap());
                let leaked = leaked(KEY, &text);
                assert!(leaked == KEY || leaked.len() < 4, "{n_between}: {leaked} in {text}");
                assert!(text.chars().count() <= MAX_AROUND + 40, "{text}");
            }
        }
    }

    #[test]
    fn no_value_is_shown_without_the_name_that_makes_it_a_secret() {
        let value = "wJalrXUtnFEMIpK7MDENGabPxRfiCYEXAMPLEKEYs";
        for name in ["aws_secret_access_key = ", "\"Authorization\": \"Bearer ", "\\\"x-api-key\\\":\\\""] {
            for n_between in 0..200 {
                let line =
                    format!("{}{name}{value} {}needle{}", "z ".repeat(300), "q ".repeat(n_between), " z".repeat(500));
                let text = around(&line, || line.find("needle").unwrap());
                assert!(
                    !text.contains(value) || text.contains(name.trim_start_matches(['\\', '"'])),
                    "{n_between}: {text}"
                );
            }
        }
    }

    #[test]
    fn a_long_line_is_cut_around_its_match_and_says_so() {
        let line = format!("{}needle {}", "ä".repeat(1000), "b ".repeat(500));
        let text = around(&line, || 2000);
        assert!(text.starts_with("[900 chars] ä") && text.ends_with("b [707 chars]"), "{text}");
        assert!(text.contains("äneedle b"));
        let line = format!("let image = \"{}needle{}\"; more", "A".repeat(3000), "B".repeat(3000));
        assert_eq!(around(&line, || 3013), "let image = \"[6006 chars]\"; more");
        assert_eq!(around(&"x".repeat(1000), || 500), "[1000 chars]");
        assert_eq!(around("short", || 0), "short");
    }
}
