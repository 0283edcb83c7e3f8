//! Size of a text inside a JSON string, in bytes. Nothing is cut here.

/// Bytes of one character inside a JSON string: quotes and line ends take two, other control characters six.
pub fn json_bytes(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

/// Bytes of a whole text inside a JSON string.
pub(crate) fn json_bytes_of(text: &str) -> usize {
    text.chars().map(json_bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::json_bytes_of;

    #[test]
    fn every_character_is_counted_in_its_escaped_form() {
        for code in (0..0x3000).chain(0x1_f600..0x1_f610) {
            let Some(letter) = char::from_u32(code) else { continue };
            let written = serde_json::to_string(&letter).unwrap_or_default();
            assert_eq!(json_bytes_of(&letter.to_string()) + 2, written.len(), "{code:x}");
        }
    }
}
