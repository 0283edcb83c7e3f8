//! Hints for a text that was not found: the usual slips, and the nearest place in the file.
//!
//! It only explains. A text that is merely similar is never replaced.

use std::collections::HashMap;

use sortie_protocol::nearest;
use unicode_normalization::UnicodeNormalization as _;

use crate::answer::diff::shortened;

/// Maximum number of lines compared, in the file and in the search text. More would cost more than they tell.
const MAX_LINES: usize = 10_000;
const MAX_WANTED_LINES: usize = 200;
/// Maximum number of lines shown.
const MAX_SHOWN: usize = 8;

/// Returns a hint for a model that searched for `wanted` in `text`, which does not contain it.
pub(super) fn hint(text: &str, wanted: &str) -> String {
    if let Some(line) = without_numbers(wanted).and_then(|wanted| line_of(text, &wanted)) {
        return format!("Leave out the line numbers that Read adds; without them it is at line {line}.");
    }
    if let Some(line) = line_of(text, &unescaped(wanted)) {
        return format!(
            "Line {line} has it without the backslashes: give newlines, tabs and quotes themselves, not `\\n`, `\\t` and \
             `\\\"`."
        );
    }
    if let Some((first, last)) = but_for_whitespace(text, wanted) {
        let shown = numbered(text, first, last - first + 1);
        return format!("Only its whitespace differs from this, which has to be copied exactly:\n{shown}");
    }
    if let Some(first) = but_for_form(text, wanted) {
        let shown = numbered(text, first, wanted.lines().count());
        return format!(
            "Only the Unicode form of some characters differs from this (accents, quotes, dashes or spaces of another \
             kind): copy it exactly, or leave such characters out of old_string:\n{shown}"
        );
    }
    match nearest_line(text, wanted) {
        Some(first) => {
            let shown = numbered(text, first, wanted.lines().count());
            format!("Copy it exactly as Read shows it, without the line numbers. Nearest to it:\n{shown}")
        }
        None => "Nothing there is like it; Read the file again.".to_owned(),
    }
}

/// Formats lines as Read shows them, from line `first` on (counted from 1).
pub(super) fn numbered(text: &str, first: usize, n_lines: usize) -> String {
    let lines = text.lines().enumerate().skip(first - 1).take(n_lines.clamp(1, MAX_SHOWN));
    let shown: Vec<String> = lines.map(|(index, line)| format!("{}\t{}", index + 1, shortened(line))).collect();
    shown.join("\n")
}

/// Returns the line in which `wanted` begins, counted from 1.
fn line_of(text: &str, wanted: &str) -> Option<usize> {
    text.find(wanted).map(|at| text[..at].matches('\n').count() + 1)
}

/// Removes the number and the tab (or arrow) before each line, if every line has them.
fn without_numbers(wanted: &str) -> Option<String> {
    let mut text = String::with_capacity(wanted.len());
    for line in wanted.split_inclusive('\n') {
        let rest = line.trim_start_matches(' ').trim_start_matches(|character: char| character.is_ascii_digit());
        let has_number = rest.len() < line.trim_start_matches(' ').len();
        text.push_str(rest.strip_prefix(['\t', '→']).filter(|_| has_number)?);
    }
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Replaces escapes by the characters they stand for.
fn unescaped(wanted: &str) -> String {
    wanted.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"")
}

/// Returns the first and last line of a text that equals `wanted` except for white space.
fn but_for_whitespace(text: &str, wanted: &str) -> Option<(usize, usize)> {
    let solid = |text: &str| text.split_whitespace().collect::<String>();
    let wanted = solid(wanted);
    let start = solid(text).find(&wanted).filter(|_| !wanted.is_empty())?;
    let (mut n_bytes, mut line, mut first) = (0, 1, None);
    for character in text.chars() {
        if !character.is_whitespace() {
            if n_bytes == start {
                first = Some(line);
            }
            n_bytes += character.len_utf8();
            if n_bytes == start + wanted.len() {
                return Some((first?, line));
            }
        }
        line += usize::from(character == '\n');
    }
    None
}

/// Returns the line of a text that equals `wanted` except for the encoding or shape of its characters.
fn but_for_form(text: &str, wanted: &str) -> Option<usize> {
    if text.is_ascii() && wanted.is_ascii() {
        return None;
    }
    let plain = |text: &str| text.nfkc().map(straight).collect::<String>();
    line_of(&plain(text), &plain(wanted))
}

/// Returns the plain character for a typographic one.
fn straight(character: char) -> char {
    match character {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2b9}' | '\u{2bc}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        character if character != '\n' && character.is_whitespace() => ' ',
        other => other,
    }
}

/// Returns the line from which most of the wanted lines follow, or else a line similar to the longest of them.
fn nearest_line(text: &str, wanted: &str) -> Option<usize> {
    let mut indexes: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.lines().take(MAX_WANTED_LINES).enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        indexes.entry(line.trim()).or_default().push(index);
    }
    // Each common line votes for one position; longer lines count more.
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (number, line) in text.lines().take(MAX_LINES).enumerate() {
        for index in indexes.get(line.trim()).into_iter().flatten() {
            *votes.entry(number.saturating_sub(*index)).or_default() += line.trim().len();
        }
    }
    let best = votes.into_iter().max_by_key(|&(number, votes)| (votes, std::cmp::Reverse(number)));
    if let Some((number, _)) = best.filter(|&(_, votes)| votes > MIN_VOTES) {
        return Some(number + 1);
    }
    let longest = wanted.lines().map(str::trim).max_by_key(|line| line.len())?;
    let line = nearest(longest, text.lines().take(MAX_LINES))?;
    text.lines().position(|candidate| candidate == line).map(|index| index + 1)
}

/// Votes that a line must exceed: lines with fewer common characters share only brackets.
const MIN_VOTES: usize = 3;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const TEXT: &str = "fn main() {\n    let name = \"a\";\n\n    print(name);\n}\n\nfn other() {\n    print(2);\n}\n";

    fn check(wanted: &str, expected: &Expect) {
        assert!(!TEXT.contains(wanted));
        expected.assert_eq(&hint(TEXT, wanted));
    }

    #[test]
    fn the_hint_names_line_numbers_copied_from_read() {
        check(
            "4\t    print(name);\n5\t}\n",
            &expect!["Leave out the line numbers that Read adds; without them it is at line 4."],
        );
        check(
            "     8→    print(2);",
            &expect!["Leave out the line numbers that Read adds; without them it is at line 8."],
        );
    }

    #[test]
    fn the_hint_names_escaped_characters() {
        check(
            "fn main() {\\n",
            &expect![[
                r#"Line 1 has it without the backslashes: give newlines, tabs and quotes themselves, not `\n`, `\t` and `\"`."#
            ]],
        );
    }

    #[test]
    fn a_difference_in_white_space_alone_shows_the_actual_lines() {
        check(
            "\tlet name = \"a\";\n\tprint(name);\n",
            &expect![[r#"
                Only its whitespace differs from this, which has to be copied exactly:
                2	    let name = "a";
                3	
                4	    print(name);"#]],
        );
    }

    #[test]
    fn a_difference_in_unicode_form_alone_is_named() {
        let text = "first\nsay(\u{201c}cafe\u{301}\u{201d})\nlast\n";
        for wanted in ["say(\u{201c}caf\u{e9}\u{201d})", "say(\"cafe\u{301}\")", "say(\"caf\u{e9}\")\nlast"] {
            assert!(!text.contains(wanted));
            let told = hint(text, wanted);
            assert!(told.starts_with("Only the Unicode form of some characters differs from this"), "{told}");
            assert!(told.contains("\n2\tsay(\u{201c}cafe\u{301}\u{201d})"), "{told}");
        }
    }

    #[test]
    fn the_hint_shows_the_place_that_shares_the_most_lines() {
        check(
            "fn other() {\n    print(3);\n}\n",
            &expect![[r#"
                Copy it exactly as Read shows it, without the line numbers. Nearest to it:
                7	fn other() {
                8	    print(2);
                9	}"#]],
        );
    }

    #[test]
    fn a_single_line_with_a_slip_finds_the_similar_line() {
        check(
            "print(nmae);",
            &expect![[r#"
            Copy it exactly as Read shows it, without the line numbers. Nearest to it:
            4	    print(name);"#]],
        );
        check("entirely_different_and_long", &expect!["Nothing there is like it; Read the file again."]);
    }
}
