//! Text from models, files and tools, made safe for a terminal.
//!
//! It cannot move the cursor, recolour, set a clipboard, hide itself or change the direction of writing. A visible mark
//! replaces each removed character.

use std::borrow::Cow;
use std::fmt::Write as _;

use sortie_mutant::is_out;

/// Several lines: keeps line feeds and tabs, and turns all other control characters into marks.
pub fn block(text: &str) -> Cow<'_, str> {
    // A carriage return before a line feed is only another way to end a line.
    let text = if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) };
    if !text.chars().any(|letter| mark(letter).is_some() && !matches!(letter, '\n' | '\t')) {
        return text;
    }
    let keep_layout = |letter| if matches!(letter, '\n' | '\t') { letter } else { mark(letter).unwrap_or(letter) };
    Cow::Owned(text.chars().map(keep_layout).collect())
}

/// One line: turns every run of white space into a single space, and all control characters into marks.
pub fn line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().map(|letter| mark(letter).unwrap_or(letter)));
    }
    line
}

/// Equivalent JSON text: characters that a terminal would obey are escaped.
pub fn json(text: &str) -> String {
    let mut neutral = String::with_capacity(text.len());
    for letter in text.chars() {
        // Outside strings, line feeds are the only such characters in JSON.
        if letter != '\n' && mark(letter).is_some() {
            let _infallible = write!(neutral, "\\u{:04x}", u32::from(letter));
        } else {
            neutral.push(letter);
        }
    }
    neutral
}

/// The visible stand-in for a character that must not reach a terminal.
fn mark(letter: char) -> Option<char> {
    if is_out("terminal-escapes") {
        return None;
    }
    match letter {
        // The symbols for control characters are in the same order, from U+2400.
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(letter)),
        '\u{7f}' => Some('\u{2421}'),
        // C1 controls, line and paragraph separators, direction marks and overrides, the byte order mark.
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => Some('\u{fffd}'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_terminal_control_survives() {
        for (given, expected) in [
            ("plain äöü 漢字 🦀", "plain äöü 漢字 🦀"),
            ("\u{1b}[2J\u{1b}]52;c;aGk=\u{7}", "␛[2J␛]52;c;aGk=␇"),
            ("\u{1b}]8;;http://x\u{1b}\\link", "␛]8;;http://x␛\\link"),
            ("\u{9b}31mred\u{90}", "\u{fffd}31mred\u{fffd}"),
            ("over\rwrite\u{8}\u{7f}", "over␍write␈␡"),
            ("abc\u{202e}cba\u{2066}\u{200f}", "abc\u{fffd}cba\u{fffd}\u{fffd}"),
            ("two\r\nlines\tand a tab\n", "two\nlines\tand a tab\n"),
        ] {
            assert_eq!(block(given), expected, "{given:?}");
        }
        assert_eq!(line("  a\n\tb\r\nc\u{1b}[0m \u{2028} d "), "a b c␛[0m d");
    }

    #[test]
    fn json_for_a_terminal_keeps_its_meaning_and_is_harmless() {
        let value = serde_json::json!({"text": "\u{1b}[2J\u{9b}1m\u{202e}\u{7f}\u{feff}ä"});
        let text = json(&format!("{value:#}"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        assert_eq!(text, "{\n  \"text\": \"\\u001b[2J\\u009b1m\\u202e\\u007f\\ufeffä\"\n}");
    }
}
