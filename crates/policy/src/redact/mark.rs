//! The mark that replaces a secret: writing it, and finding it again.

/// Start of every mark.
pub(super) const START: &str = "[redacted: ";
/// End of every mark.
pub(super) const END: char = ']';

/// Returns the marks in a text, verbatim. A reader of `[redacted: GitHub token]` has not seen the file's real content
/// there, and must not write the mark back.
pub fn redaction_marks(text: &str) -> impl Iterator<Item = &str> {
    let on_its_line = |mark: &&str| !mark.contains('\n');
    text.match_indices(START).filter_map(|(at, _)| Some(&text[at..=at + text[at..].find(END)?])).filter(on_its_line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Redactor;

    #[test]
    fn every_mark_written_by_a_redactor_is_recognised() {
        let redactor = Redactor::new(vec!["a-secret-that-is-known".to_owned()]);
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let shown = redactor.redact(&format!("x a-secret-that-is-known y\nT={token}\n")).into_text();
        let marks: Vec<&str> = redaction_marks(&shown).collect();
        assert_eq!(marks.len(), 2, "{shown}");
        assert_eq!(shown, format!("x {} y\nT={}\n", marks[0], marks[1]));
    }

    #[test]
    fn text_that_only_begins_like_a_mark_is_not_a_mark() {
        for text in ["", "redacted", "[redacted: ", "[redacted: \n]", "[redacted]"] {
            assert_eq!(redaction_marks(text).count(), 0, "{text:?}");
        }
    }
}
