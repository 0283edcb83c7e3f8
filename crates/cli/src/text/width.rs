//! Width of text in columns of a terminal, and text cut, padded or wrapped to fit.
//!
//! The unit is what a reader takes for one character: a letter with its marks, a flag, a composed emoji. It is measured
//! as a whole and never torn. Terminals that do not compose emoji show some of them wider.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Columns of a neutral text.
pub(crate) fn of(text: &str) -> usize {
    measured(text).map(|(_, columns)| columns).sum()
}

/// The text if it fits into `columns`, else its beginning and `…`.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if of(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let mut kept = String::new();
    for (character, width) in measured(text) {
        let Some(rest) = left.checked_sub(width) else { break };
        left = rest;
        kept.push_str(character);
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// The text, filled up with spaces to `columns`.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(of(text))))
}

/// The text in lines of at most `columns`, broken between words; a word that is longer is broken anywhere.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = Vec::new();
    let (mut line, mut taken) = (String::new(), 0);
    for word in text.split(' ') {
        if !line.is_empty() && taken + 1 + of(word) > columns {
            lines.push(std::mem::take(&mut line));
            taken = 0;
        }
        if !line.is_empty() {
            line.push(' ');
            taken += 1;
        }
        for (character, width) in measured(word) {
            if taken + width > columns {
                lines.push(std::mem::take(&mut line));
                taken = 0;
            }
            line.push_str(character);
            taken += width;
        }
    }
    lines.push(line);
    lines
}

/// A line that is wider than `columns` likewise. What it is broken into stands as far in as it does.
pub(crate) fn wrap_line(line: &str, columns: usize) -> Vec<String> {
    let text = line.trim_start_matches(' ');
    let indent = &line[..line.len() - text.len()];
    let room = columns.saturating_sub(indent.len());
    // Code that stands far in keeps its form rather than a column of letters.
    if of(line) <= columns || room < columns / 2 {
        return vec![line.to_owned()];
    }
    wrap(text, room).iter().map(|line| format!("{indent}{line}")).collect()
}

/// Each character that a reader sees, and its columns.
fn measured(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.graphemes(true).map(|character| (character, character.width()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Texts that a letter-by-letter count gets wrong, and their columns.
    pub(in crate::text) const SCRIPTS: [(&str, usize); 15] = [
        // Thai, with vowels and tones above and below the letter before them.
        ("ที่นี่เปิดอยู่", 7),
        // Hebrew with points, Arabic with vowel marks, Devanagari.
        ("שָׁלוֹם", 4),
        ("مُحَمَّد", 4),
        ("नमस्ते", 4),
        // Combining marks; Hangul, whole and in parts.
        ("e\u{301}a\u{301}\u{327}", 2),
        ("한글\u{1112}\u{1161}\u{11ab}", 6),
        ("漢字、ＡＢ", 10),
        ("🦀✅", 4),
        // A heart and a warning made emoji by a variation selector, an umbrella made text by another.
        ("❤\u{fe0f}⚠\u{fe0f}", 4),
        ("☔\u{fe0e}", 1),
        // A family and a coder with a skin tone, joined; two flags, one of them in tags; a keycap.
        ("👨\u{200d}👩\u{200d}👧", 2),
        ("👩🏽\u{200d}💻 👍🏽", 5),
        ("🇩🇪🇹🇭", 4),
        ("🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", 2),
        ("1\u{fe0f}\u{20e3}", 2),
    ];

    #[test]
    fn wide_characters_take_two_columns_and_marks_none() {
        for (text, columns) in SCRIPTS.into_iter().chain([("abc", 3), ("🦀!", 3), ("┌─┐", 3), ("", 0)]) {
            assert_eq!(of(text), columns, "{text}");
        }
    }

    #[test]
    fn a_character_is_never_torn() {
        for (text, _) in SCRIPTS {
            let characters: Vec<&str> = text.graphemes(true).collect();
            for columns in 0..of(text) {
                let cut = cut(text, columns);
                let kept = cut.trim_end_matches('…');
                assert!((0..characters.len()).any(|count| characters[..count].concat() == kept), "{cut}");
                assert!(of(&cut) <= columns, "{cut}");
                for line in wrap(text, columns) {
                    assert!(of(&line) <= columns.max(2) && line.graphemes(true).all(|c| characters.contains(&c)));
                }
            }
        }
    }

    #[test]
    fn a_padded_text_fills_its_columns() {
        for (text, width) in SCRIPTS {
            assert_eq!(pad(text, 20), format!("{text}{}", " ".repeat(20 - width)));
            assert_eq!(pad(text, width - 1), text);
        }
    }

    #[test]
    fn a_cut_text_never_takes_more_than_its_columns() {
        for (text, columns, expected) in
            [("short", 5, "short"), ("longer", 5, "long…"), ("漢字漢字", 6, "漢字…"), ("漢字", 1, "…"), ("x", 0, "")]
        {
            assert_eq!(cut(text, columns), expected);
            assert!(of(&cut(text, columns)) <= columns);
        }
    }

    #[test]
    fn text_is_wrapped_between_words_where_that_is_possible() {
        for (text, columns, expected) in [
            ("one two three", 7, vec!["one two", "three"]),
            ("one two three", 100, vec!["one two three"]),
            ("abcdefgh ij", 3, vec!["abc", "def", "gh", "ij"]),
            ("漢字漢字", 5, vec!["漢字", "漢字"]),
            ("", 5, vec![""]),
        ] {
            assert_eq!(wrap(text, columns), expected);
        }
    }

    #[test]
    fn a_line_keeps_its_place_where_it_is_wrapped_and_its_form_where_it_fits() {
        for (line, columns, expected) in [
            ("  one  two three", 16, vec!["  one  two three"]),
            ("  one two three", 9, vec!["  one two", "  three"]),
            ("      one two", 9, vec!["      one two"]),
        ] {
            assert_eq!(wrap_line(line, columns), expected);
        }
    }
}
