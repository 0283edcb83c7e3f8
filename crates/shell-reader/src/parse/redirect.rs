//! Redirects: the files opened for a command, and how.

use super::here_document::read_delimiter;
use super::parser::{LeadingTabs, Parser, Reading};
use super::tree::{Redirect, Spelled};
use super::word::read_word;
use crate::findings::WhyNot;

/// Every operator, longer ones first.
const OPERATORS: [(&str, Operator); 13] = [
    ("&>>", Operator::Write),
    ("&>", Operator::Write),
    ("<<<", Operator::String),
    ("<<-", Operator::Here(LeadingTabs::LeftOut)),
    ("<<", Operator::Here(LeadingTabs::Kept)),
    ("<&", Operator::DuplicateInput),
    ("<>", Operator::Write),
    ("<", Operator::Read),
    (">>", Operator::Write),
    (">&", Operator::DuplicateOutput),
    (">|", Operator::Write),
    (">(", Operator::Process),
    (">", Operator::Write),
];

/// The shell takes a larger number for a word.
const MOST_DIGITS: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Write,
    Read,
    DuplicateInput,
    DuplicateOutput,
    String,
    Here(LeadingTabs),
    /// The beginning of a word, not of a redirect.
    Process,
}

/// The beginning of a word, not a redirect.
pub(super) fn read_redirect(parser: &mut Parser<'_>) -> Reading<Option<Redirect>> {
    let before = parser.source.clone();
    parser.source.run(|character| character.is_ascii_digit());
    let numbered = parser.source.at() > before.at();
    let found = OPERATORS.iter().find(|(text, _)| parser.source.looks_at(text));
    let process = parser.source.looks_at("<(");
    let Some((text, operator)) = found.filter(|(_, operator)| *operator != Operator::Process && !process) else {
        parser.source = before;
        return Ok(None);
    };
    if parser.source.at() - before.at() > MOST_DIGITS {
        return Err(WhyNot::Unread("a file descriptor with a long number"));
    }
    if numbered && text.starts_with('&') {
        parser.source = before;
        return Ok(None);
    }
    parser.source.eat(text);
    read_target(parser, *operator).map(Some)
}

fn read_target(parser: &mut Parser<'_>, operator: Operator) -> Reading<Redirect> {
    if let Operator::Here(tabs) = operator {
        read_delimiter(parser, tabs)?;
        return Ok(Redirect::Text(Vec::new()));
    }
    parser.skip_blanks()?;
    if !parser.is_at_word() {
        return Err(WhyNot::Unread("a redirect without a target"));
    }
    let word = read_word(parser)?;
    Ok(match operator {
        Operator::Read => Redirect::Read(word),
        Operator::String => Redirect::Text(word.runs),
        Operator::DuplicateInput | Operator::DuplicateOutput if is_number(&word) => Redirect::Duplicate,
        Operator::DuplicateInput => return Err(WhyNot::Unread("an unknown file descriptor")),
        _ => Redirect::Write(word),
    })
}

/// True if a word names a file descriptor: a number, `-` to close it, or a number with `-` to move it.
fn is_number(word: &Spelled) -> bool {
    word.bare_text().is_some_and(|text| {
        text == "-" || {
            let number = text.strip_suffix('-').unwrap_or(text);
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        }
    })
}
