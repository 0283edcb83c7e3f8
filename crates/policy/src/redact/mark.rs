//! The mark that replaces a secret: writing it, and finding it again.

/// How every mark begins.
pub(super) const START: &str = "[redacted: ";
/// How every mark ends.
pub(super) const END: char = ']';

/// The marks in a text, as they stand there. Whoever reads `[redacted: GitHub token]` in a file has not seen what the
/// file holds in that place, and must not write the mark there.
pub fn redaction_marks(text: &str) -> impl Iterator<Item = &str> {
    let on_its_line = |mark: &&str| !mark.contains('\n');
    text.match_indices(START).filter_map(|(at, _)| Some(&text[at..=at + text[at..].find(END)?])).filter(on_its_line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Redactor;

    #[test]
    fn every_mark_that_a_redactor_writes_is_known_again() {
        let redactor = Redactor::new(vec!["a-secret-that-is-known".to_owned()]);
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let shown = redactor.redact(&format!("x a-secret-that-is-known y\nT={token}\n")).into_text();
        let marks: Vec<&str> = redaction_marks(&shown).collect();
        assert_eq!(marks.len(), 2, "{shown}");
        assert_eq!(shown, format!("x {} y\nT={}\n", marks[0], marks[1]));
    }

    #[test]
    fn what_only_begins_like_a_mark_is_none() {
        for text in ["", "redacted", "[redacted: ", "[redacted: \n]", "[redacted]"] {
            assert_eq!(redaction_marks(text).count(), 0, "{text:?}");
        }
    }
}
