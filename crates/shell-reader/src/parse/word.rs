//! Words as a program would receive them, as far as that is certain.

use super::expansion::{read_backticks, read_expansion, read_substitution};
use super::parser::{Parser, Quoting, Reading, ends_word};
use super::quote::{read_ansi_text, read_quotes};
use super::tree::{List, Spelled};
use crate::findings::{WhyNot, Word};

/// A word being read.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) text: String,
    pub(super) runs: Vec<List>,
    /// True if part of it is known only when the line runs.
    pub(super) unknown: bool,
    pub(super) spelling: Spelling,
    /// Number of quoted parts.
    pub(super) quoted: usize,
    /// True if anything follows a quoted part.
    pub(super) behind_quotes: bool,
    /// True after an open brace: a comma would make several words of it.
    brace: bool,
}

/// Spelling of the unquoted parts of a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spelling {
    #[default]
    Bare,
    /// Backslashes only as needed.
    Escaped,
    /// A spelling that nobody would choose.
    Odd,
}

/// Reads the word that begins here; empty if there is none.
pub(super) fn read_word(parser: &mut Parser<'_>) -> Reading<Spelled> {
    let start = parser.source.at();
    let mut draft = Draft::default();
    while let Some(next) = parser.source.peek() {
        match next {
            '<' | '>' if parser.source.second() == Some('(') => {
                parser.source.take();
                parser.source.take();
                draft.runs.push(read_substitution(parser)?);
                draft.unknown = true;
            }
            _ if ends_word(next) => break,
            '\'' | '"' => read_quotes(parser, &mut draft)?,
            '\\' => read_escape(parser, &mut draft)?,
            '$' => read_dollar(parser, &mut draft)?,
            '`' => {
                read_backticks(parser, Quoting::Bare, &mut draft.runs)?;
                draft.unknown = true;
            }
            _ => read_bare(parser, next, &mut draft)?,
        }
    }
    let raw = parser.source.since(start);
    if is_descriptor(raw) && parser.source.rest().starts_with(['<', '>']) {
        return Err(WhyNot::Unread("a redirect with a variable"));
    }
    Ok(draft.finish(raw))
}

/// Reads a character that stands for itself or begins an expansion.
fn read_bare(parser: &mut Parser<'_>, next: char, draft: &mut Draft) -> Reading<()> {
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
    parser.source.take();
    Ok(())
}

fn read_escape(parser: &mut Parser<'_>, draft: &mut Draft) -> Reading<()> {
    parser.source.take();
    match parser.source.take() {
        Some('\n') => return Err(WhyNot::Unread("a line continuation within a word")),
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

fn read_dollar(parser: &mut Parser<'_>, draft: &mut Draft) -> Reading<()> {
    match parser.source.second() {
        Some('\'') => {
            parser.source.take();
            parser.source.take();
            draft.spelling = Spelling::Odd;
            let text = read_ansi_text(parser)?;
            draft.text.push_str(&text);
        }
        Some('"') => return Err(WhyNot::Unread("a translated string")),
        _ if read_expansion(parser, Quoting::Bare, &mut draft.runs)? => draft.unknown = true,
        _ => draft.text.push('$'),
    }
    Ok(())
}

impl Draft {
    fn finish(self, raw: &str) -> Spelled {
        let bare = self.quoted == 0 && self.spelling == Spelling::Bare;
        // On its own it is the name of a program, and matches nothing but itself.
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

/// True if quotes begin the word or follow the `=` or `:` of an option.
fn begins_plainly(raw: &str, quoted: usize) -> bool {
    let before = raw.split(['\'', '"']).next().unwrap_or_default();
    quoted == 0 || before.is_empty() || before.ends_with(['=', ':'])
}

/// True for `{name}`, which names a variable if a redirect follows.
fn is_descriptor(raw: &str) -> bool {
    raw.starts_with('{') && raw.ends_with('}')
}
