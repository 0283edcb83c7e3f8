//! One line of text from a description of any shape.

/// Longest line; the rest is cut.
const MAX_LINE_CHARS: usize = 300;

/// Joins a text into one bounded line. Line breaks would let one description pose as another.
pub(crate) fn one_line(description: &str) -> String {
    let words: Vec<&str> = description.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}
