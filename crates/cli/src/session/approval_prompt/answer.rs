//! Meaning of a person's answer. Only clear words approve; anything else is asked again.

/// Answer that was understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Once,
    Tree,
    Always,
    /// Everything about the call is to be shown first.
    Show,
    No {
        /// Reason after the word, for the agent.
        reason: Option<String>,
    },
}

/// Meaning of a line; `None` if unclear.
pub(super) fn read(line: &str) -> Option<Answer> {
    let line = line.trim();
    let (word, rest) = line.split_at(line.find(|letter: char| !letter.is_alphabetic()).unwrap_or(line.len()));
    let rest =
        rest.trim_matches(|letter: char| letter.is_whitespace() || letter.is_control() || ",:;.-".contains(letter));
    let approves = |answer| rest.is_empty().then_some(answer);
    match word.to_lowercase().as_str() {
        "y" | "yes" => approves(Answer::Once),
        "t" | "tree" | "task" => approves(Answer::Tree),
        "a" | "always" => approves(Answer::Always),
        "s" | "show" => approves(Answer::Show),
        "n" | "no" => Some(Answer::No { reason: (!rest.is_empty()).then(|| rest.to_owned()) }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_words_are_understood_and_nothing_else_approves() {
        let no = |reason: Option<&str>| Some(Answer::No { reason: reason.map(str::to_owned) });
        for (line, expected) in [
            ("y\n", Some(Answer::Once)),
            ("  YES. \n", Some(Answer::Once)),
            ("t\n", Some(Answer::Tree)),
            ("a\n", Some(Answer::Always)),
            ("s\n", Some(Answer::Show)),
            ("show it and then yes\n", None),
            ("n\n", no(None)),
            ("no, use src/b.rs instead\n", no(Some("use src/b.rs instead"))),
            ("n: not now\n", no(Some("not now"))),
            ("yes but not this\n", None),
            ("yn\n", None),
            ("\n", None),
            ("\u{1b}[Ay\n", None),
            ("nothing\n", None),
        ] {
            assert_eq!(read(line), expected, "{line:?}");
        }
    }
}
