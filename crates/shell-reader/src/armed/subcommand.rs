//! The front of a command: its words up to the first operand, which may be a subcommand.

use crate::findings::Word;

/// The front of a command: its words up to the first operand.
pub(super) struct Front {
    /// Position of the first word that is certainly an operand.
    pub(super) end: usize,
    /// The words that may be the first operand: several if some of them may be option values.
    pub(super) subcommands: Vec<usize>,
}

/// Options before the first operand that take the next word as their value. Other options of these programs do not.
const VALUED: &[(&str, &str)] = &[
    ("git", "-c -C --git-dir --work-tree --namespace --super-prefix --config-env --attr-source"),
    ("python python2 python3 pypy pypy3", "-c -m -W -X -Q --check-hash-based-pycs"),
];

impl Front {
    pub(super) fn of(name: &str, words: &[Word]) -> Self {
        let valued =
            VALUED.iter().find(|(names, _)| names.split(' ').any(|own| own == name)).map(|(_, valued)| *valued);
        let mut subcommands = Vec::new();
        let mut at = 1;
        // True if this word may be the value of the previous one.
        let mut may_be_value = false;
        while let Some(word) = words.get(at) {
            let text = word.text().unwrap_or_default();
            let is_option = text.len() > 1 && text.starts_with(['-', '+']);
            match (is_option, valued) {
                (true, Some(valued)) => {
                    at += usize::from(valued.split(' ').any(|own| own == text));
                    may_be_value = false;
                }
                (true, None) => may_be_value = !text.contains('=') && text != "--",
                (false, _) => {
                    subcommands.push(at);
                    if !may_be_value && word.text().is_some() {
                        break;
                    }
                    may_be_value = false;
                }
            }
            at += 1;
        }
        Self { end: at.min(words.len()), subcommands }
    }

    /// True if the command may be one of these subcommands. An empty list means all commands.
    pub(super) fn is_about(&self, subcommands: &str, words: &[Word]) -> bool {
        let is_own = |at: &usize| {
            words[*at].text().is_none_or(|text| subcommands.split(' ').any(|subcommand| subcommand == text))
        };
        subcommands.is_empty() || self.subcommands.iter().any(is_own)
    }
}
