//! A server's words in a presentable form: without secrets, on one line of bounded length.

use sortie_policy::Redactor;

const MAX_CHARS: usize = 500;

/// Removes secrets before anything is cut, because half a key is also a secret.
pub(crate) fn brief(redactor: &Redactor, text: &str) -> String {
    let text = redactor.redact(text).text;
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_at_the_cut_is_not_shown_in_part() {
        let redactor = Redactor::new(vec!["tok-abcdefghijklmnop".to_owned()]);
        let said = format!("{} tok-abcdefghijklmnop\nand more", "x".repeat(MAX_CHARS - 10));
        let shown = brief(&redactor, &said);
        assert!(!shown.contains("tok-"), "{shown}");
        assert_eq!(shown.chars().count(), MAX_CHARS + 1);
        assert_eq!(brief(&redactor, "one\ntwo"), "one two");
    }
}
