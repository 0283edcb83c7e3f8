//! Keeps a text within the bytes that its JSON form may take. The engine has cut it before, by its plain size.

/// The text, cut where its JSON form would take more than so many bytes: quotes and line ends take two, others up to six.
pub(crate) fn cut_to(most: usize, mut text: String) -> String {
    const MARK: &str = "\n[… cut]";
    let encoded = |letter: char| match letter {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        control if control.is_control() && control.is_ascii() => 6,
        other => other.len_utf8(),
    };
    let mut room = most;
    let end = text.char_indices().find(|&(_, letter)| match room.checked_sub(encoded(letter)) {
        Some(rest) => {
            room = rest;
            false
        }
        None => true,
    });
    if let Some((at, _)) = end {
        text.truncate(text.floor_char_boundary(at.saturating_sub(2 * MARK.len())));
        text += MARK;
    }
    text
}
