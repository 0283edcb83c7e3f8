//! Redirects: what is opened for a command, and how.

use super::list::{Parser, Reading};
use super::tree::{Redirect, Spelled};
use crate::analysis::WhyNot;

/// Every operator, the longer ones first.
const OPERATORS: [(&str, Operator); 13] = [
    ("&>>", Operator::Write),
    ("&>", Operator::Write),
    ("<<<", Operator::String),
    ("<<-", Operator::Here { tabs: true }),
    ("<<", Operator::Here { tabs: false }),
    ("<&", Operator::DuplicateInput),
    ("<>", Operator::Write),
    ("<", Operator::Read),
    (">>", Operator::Write),
    (">&", Operator::DuplicateOutput),
    (">|", Operator::Write),
    (">(", Operator::Process),
    (">", Operator::Write),
];

/// A number that is too large is a word, to the shell.
const MOST_DIGITS: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Write,
    Read,
    DuplicateInput,
    DuplicateOutput,
    String,
    Here {
        tabs: bool,
    },
    /// The beginning of a word, not of a redirect.
    Process,
}

impl Parser<'_> {
    /// The redirect that comes next, if it is one.
    pub(super) fn redirect(&mut self) -> Reading<Option<Redirect>> {
        let before = self.source.clone();
        self.source.run(|character| character.is_ascii_digit());
        let numbered = self.source.at() > before.at();
        let found = OPERATORS.iter().find(|(text, _)| self.source.looks_at(text));
        let process = self.source.looks_at("<(");
        let Some((text, operator)) = found.filter(|(_, operator)| *operator != Operator::Process && !process) else {
            self.source = before;
            return Ok(None);
        };
        if self.source.at() - before.at() > MOST_DIGITS {
            return Err(WhyNot::Unread("an open file with a long number"));
        }
        if numbered && text.starts_with('&') {
            self.source = before;
            return Ok(None);
        }
        self.source.eat(text);
        self.opened(*operator).map(Some)
    }

    fn opened(&mut self, operator: Operator) -> Reading<Redirect> {
        if let Operator::Here { tabs } = operator {
            self.here_delimiter(tabs)?;
            return Ok(Redirect::Text(Vec::new()));
        }
        self.blanks()?;
        if !self.is_at_word() {
            return Err(WhyNot::Unread("a redirect to nowhere"));
        }
        let word = self.word()?;
        Ok(match operator {
            Operator::Read => Redirect::Read(word),
            Operator::String => Redirect::Text(word.runs),
            Operator::DuplicateInput | Operator::DuplicateOutput if is_number(&word) => Redirect::Duplicate,
            Operator::DuplicateInput => return Err(WhyNot::Unread("an open file that is not known")),
            _ => Redirect::Write(word),
        })
    }
}

/// Whether a word names an open file: a number, `-`, or a number that is given up.
fn is_number(word: &Spelled) -> bool {
    word.bare_text().is_some_and(|text| {
        text == "-" || {
            let number = text.strip_suffix('-').unwrap_or(text);
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        }
    })
}
