//! Runs of characters, and checks for randomness.

/// Letters and digits.
pub(super) fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Characters of `base64url`.
pub(super) fn url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

pub(super) fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Characters of `base64`, without padding.
pub(super) fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Characters of a header's credentials.
pub(super) fn header_value(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~+/=|:".contains(&byte)
}

/// Counts the bytes of this class from here on.
pub(super) fn run(text: &str, from: usize, class: fn(u8) -> bool) -> usize {
    run_up_to(text.len(), text, from, class)
}

/// Counts the bytes of this class from here on, but stops at `most` + 1.
///
/// A run that is examined many times from within must not be walked to its end each time.
pub(super) fn run_up_to(most: usize, text: &str, from: usize, class: fn(u8) -> bool) -> usize {
    let length = text.as_bytes()[from..].iter().take(most.saturating_add(1)).take_while(|byte| class(**byte)).count();
    #[cfg(test)]
    super::tests::count_steps(length);
    length
}

/// Returns the distance to the next of these words.
pub(super) fn distance(text: &str, from: usize, word: &str) -> Option<usize> {
    let distance = text[from..].find(word);
    #[cfg(test)]
    super::tests::count_steps(distance.unwrap_or(text.len() - from));
    distance
}

/// True if a word could begin here. Only letters and digits join it to the preceding text: `TOKEN_`, `--token-` and the
/// `-` of a diff may precede any key.
pub(super) fn starts_word(text: &str, at: usize) -> bool {
    at == 0 || !alphanumeric(text.as_bytes()[at - 1]) || follows_escape(&text.as_bytes()[..at])
}

/// True if the preceding text ends in `\n`, `\t` or the like, as in JSON strings, or in `%3D`, as in URLs.
fn follows_escape(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    }
}

pub(super) fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// True if letters of both cases occur.
pub(super) fn has_both_cases(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase()) && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Returns the longest stretch without `-` and `_`: words that people write are short.
pub(super) fn longest_stretch(text: &str) -> &str {
    text.split(['-', '_']).max_by_key(|stretch| stretch.len()).unwrap_or_default()
}

/// True if the text is a placeholder, not a value: `$TOKEN`, `<token>`, `{token}`, `****`.
pub(super) fn is_placeholder(text: &str) -> bool {
    text.starts_with(['$', '<', '{', '%', '[']) || text.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.'))
}
