//! Words of a text: the pieces of identifiers, and the signs of words that only code has.

/// Returns the words of a text: runs of letters, digits and underscores.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the lower-case pieces of an identifier in any case style: `HTTPServer_name2` gives `http`, `server`,
/// `name2`.
pub(crate) fn pieces(word: &str) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for (at, &character) in characters.iter().enumerate() {
        if !character.is_alphanumeric() {
            flush(&mut piece, &mut pieces);
            continue;
        }
        let before = at.checked_sub(1).map(|before| characters[before]);
        let follows_lower = before.is_some_and(|c| c.is_lowercase() || c.is_numeric());
        let ends_capitals =
            before.is_some_and(char::is_uppercase) && characters.get(at + 1).is_some_and(|c| c.is_lowercase());
        if character.is_uppercase() && (follows_lower || ends_capitals) {
            flush(&mut piece, &mut pieces);
        }
        piece.extend(character.to_lowercase());
    }
    flush(&mut piece, &mut pieces);
    pieces
}

fn flush(piece: &mut String, pieces: &mut Vec<String>) {
    if !piece.is_empty() {
        pieces.push(std::mem::take(piece));
    }
}

/// True if a word is written as in code: with underscores, inner capitals, `::` or a call's parentheses.
pub(crate) fn is_identifier(word: &str) -> bool {
    let mut characters = word.chars();
    let Some(first) = characters.next() else { return false };
    if !(first.is_alphabetic() || first == '_') {
        return false;
    }
    let inner = word.trim_matches('_');
    let inner_capital = inner.chars().zip(inner.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    inner.contains('_') || inner.contains("::") || inner_capital
}

/// Escapes the special characters of regular expressions.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~/".contains(character) && character != '/' {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_every_case_style_fall_into_the_same_pieces() {
        for word in ["parse_http_url", "parseHttpUrl", "ParseHTTPUrl", "PARSE_HTTP_URL"] {
            assert_eq!(pieces(word), ["parse", "http", "url"], "{word}");
        }
        assert_eq!(pieces("sha256Sum"), ["sha256", "sum"]);
        assert_eq!(pieces("kebab-case"), ["kebab", "case"]);
    }

    #[test]
    fn only_words_written_like_code_are_identifiers() {
        for word in ["max_depth", "WalkBuilder", "walkDir", "std::fs", "MAX_SIZE"] {
            assert!(is_identifier(word), "{word}");
        }
        for word in ["walk", "Where", "HTTP", "2fast", "_"] {
            assert!(!is_identifier(word), "{word}");
        }
    }
}
