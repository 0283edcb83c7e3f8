//! Words: what a program would get, as far as that is certain.

use super::list::{Parser, Reading, ends_word};
use super::tree::{List, Spelled};
use crate::analysis::{WhyNot, Word};

/// A word that is being read.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) text: String,
    pub(super) runs: Vec<List>,
    /// Whether some of it is only known when it runs.
    pub(super) unknown: bool,
    pub(super) spelling: Spelling,
    /// How many pairs of quotes it has.
    pub(super) quoted: usize,
    /// Whether quotes ended, and something followed.
    pub(super) behind_quotes: bool,
    /// Whether a brace stands open, which a comma would make several words of.
    brace: bool,
}

/// How the parts of a word outside quotes are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spelling {
    #[default]
    Bare,
    /// With backslashes, where they are needed.
    Escaped,
    /// As nobody would write it.
    Odd,
}

impl Parser<'_> {
    /// The word that begins here; the empty one where none does.
    pub(super) fn word(&mut self) -> Reading<Spelled> {
        let start = self.source.at();
        let mut draft = Draft::default();
        while let Some(next) = self.source.peek() {
            match next {
                '<' | '>' if self.source.second() == Some('(') => {
                    self.source.take();
                    self.source.take();
                    draft.runs.push(self.substitution()?);
                    draft.unknown = true;
                }
                _ if ends_word(next) => break,
                '\'' | '"' => self.quotes(&mut draft)?,
                '\\' => self.escape(&mut draft)?,
                '$' => self.dollar(&mut draft)?,
                '`' => {
                    self.backticks(false, &mut draft.runs)?;
                    draft.unknown = true;
                }
                _ => self.bare(next, &mut draft)?,
            }
        }
        let raw = self.source.since(start);
        if is_descriptor(raw) && self.source.rest().starts_with(['<', '>']) {
            return Err(WhyNot::Unread("a redirect with a variable"));
        }
        Ok(draft.finish(raw))
    }

    /// A character that stands for itself, or for something that is looked up.
    fn bare(&mut self, next: char, draft: &mut Draft) -> Reading<()> {
        if next.is_control() {
            return Err(WhyNot::Unread("a control character"));
        }
        let before = draft.text.chars().next_back();
        draft.unknown |= matches!(next, '*' | '?' | '[');
        draft.unknown |= next == '~' && before.is_none_or(|before| before == '=' || before == ':');
        draft.unknown |= draft.brace && (next == ',' || next == '.' && before == Some('.'));
        draft.brace |= next == '{';
        if !next.is_ascii() {
            draft.spelling = Spelling::Odd;
        }
        draft.behind_quotes |= draft.quoted > 0;
        draft.text.push(next);
        self.source.take();
        Ok(())
    }

    fn escape(&mut self, draft: &mut Draft) -> Reading<()> {
        self.source.take();
        match self.source.take() {
            Some('\n') => return Err(WhyNot::Unread("a line that is continued within a word")),
            Some(next) if next.is_control() => return Err(WhyNot::Unread("a control character")),
            None => return Err(WhyNot::Unread("a backslash at its end")),
            Some(next) => {
                let needless = next.is_alphanumeric() || next == '-';
                draft.spelling = draft.spelling.max(if needless { Spelling::Odd } else { Spelling::Escaped });
                draft.behind_quotes |= draft.quoted > 0;
                draft.text.push(next);
            }
        }
        Ok(())
    }

    fn dollar(&mut self, draft: &mut Draft) -> Reading<()> {
        match self.source.second() {
            Some('\'') => {
                self.source.take();
                self.source.take();
                draft.spelling = Spelling::Odd;
                let text = self.ansi_text()?;
                draft.text.push_str(&text);
            }
            Some('"') => return Err(WhyNot::Unread("a text to be translated")),
            _ if self.expansion(false, &mut draft.runs)? => draft.unknown = true,
            _ => draft.text.push('$'),
        }
        Ok(())
    }
}

impl Draft {
    fn finish(self, raw: &str) -> Spelled {
        let bare = self.quoted == 0 && self.spelling == Spelling::Bare;
        // Alone it is the name of a program, and matches nothing but itself.
        let bracket = raw == "[";
        let word = if self.unknown && !bracket {
            Word::Unknown
        } else if self.spelling == Spelling::Odd
            || self.quoted > 1
            || self.behind_quotes
            || !begins_plainly(raw, self.quoted)
        {
            Word::Respelled(self.text)
        } else {
            Word::Plain(self.text)
        };
        Spelled { bare: bare && word != Word::Unknown, word, runs: self.runs }
    }
}

/// Whether quotes begin the word, or stand behind the `=` or `:` of an option.
fn begins_plainly(raw: &str, quoted: usize) -> bool {
    let before = raw.split(['\'', '"']).next().unwrap_or_default();
    quoted == 0 || before.is_empty() || before.ends_with(['=', ':'])
}

/// `{name}`, which names a variable where a redirect follows.
fn is_descriptor(raw: &str) -> bool {
    raw.starts_with('{') && raw.ends_with('}')
}
