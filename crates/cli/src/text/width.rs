//! Width of text in columns of a terminal, and text cut or wrapped to fit.
//!
//! A few ranges instead of the whole Unicode table: a wrong guess costs a ragged edge, nothing more.

/// Columns of a neutral text.
pub(crate) fn of(text: &str) -> usize {
    text.chars().map(of_letter).sum()
}

/// The text if it fits into `columns`, else its beginning and `…`.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if of(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let mut kept = String::new();
    for letter in text.chars() {
        let Some(rest) = left.checked_sub(of_letter(letter)) else { break };
        left = rest;
        kept.push(letter);
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// The text in lines of at most `columns`, broken between words; a word that is longer is broken anywhere.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && of(&line) + 1 + of(word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for letter in word.chars() {
            if of(&line) + of_letter(letter) > columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push(letter);
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

fn of_letter(letter: char) -> usize {
    match u32::from(letter) {
        // Combining marks, joiners and variation selectors.
        0x300..=0x36f
        | 0x483..=0x489
        | 0x591..=0x5bd
        | 0x610..=0x61a
        | 0x64b..=0x65f
        | 0x1ab0..=0x1aff
        | 0x1dc0..=0x1dff
        | 0x200b..=0x200d
        | 0x2060
        | 0x20d0..=0x20ff
        | 0xfe00..=0xfe0f
        | 0xfe20..=0xfe2f
        | 0xe0100..=0xe01ef => 0,
        // Hangul, CJK, full-width forms, emoji.
        0x1100..=0x115f
        | 0x231a..=0x231b
        | 0x23e9..=0x23ec
        | 0x25fd..=0x25fe
        | 0x2614..=0x2615
        | 0x26a1
        | 0x2705
        | 0x274c
        | 0x2753..=0x2755
        | 0x2795..=0x2797
        | 0x2b1b..=0x2b1c
        | 0x2b50
        | 0x2e80..=0x303e
        | 0x3041..=0x33ff
        | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff
        | 0xa000..=0xa4cf
        | 0xa960..=0xa97f
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f7e0..=0x1f7eb
        | 0x1f900..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_take_two_columns_and_marks_none() {
        for (text, columns) in [("abc", 3), ("漢字", 4), ("e\u{301}", 1), ("🦀!", 3), ("┌─┐", 3), ("", 0)] {
            assert_eq!(of(text), columns, "{text}");
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
