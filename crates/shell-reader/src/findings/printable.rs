//! Formats text of a line for messages.

/// Formats a text for messages: short, and without control characters.
pub fn printable(text: &str) -> String {
    const MOST: usize = 200;
    let mut shown = String::new();
    for character in text.chars().take(MOST) {
        if matches!(character, '\'' | '"' | '\\') {
            shown.push(character);
        } else {
            shown.extend(character.escape_debug());
        }
    }
    if text.chars().nth(MOST).is_some() { format!("{shown}…") } else { shown }
}
