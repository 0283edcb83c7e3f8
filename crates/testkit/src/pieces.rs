//! Splitting of text without splitting characters.

/// Splits so that each piece has at most `bytes` bytes, or is a single longer character.
pub(crate) fn pieces(text: &str, bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?.len_utf8();
        let at = rest.floor_char_boundary(bytes).max(first);
        let (piece, behind) = rest.split_at(at);
        rest = behind;
        Some(piece)
    })
}
