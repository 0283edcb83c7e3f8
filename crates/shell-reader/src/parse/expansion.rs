//! Substitutions and expansions: what they run. What they yield is only known when they run.

use super::list::{Parser, Reading};
use super::tree::{Command, Item, List, Pipeline, Shape};
use crate::analysis::WhyNot;

impl Parser<'_> {
    /// What begins with the `$` that comes next. `false` where the `$` stands for itself.
    pub(super) fn expansion(&mut self, quoted: bool, runs: &mut Vec<List>) -> Reading<bool> {
        self.source.take();
        match self.source.peek() {
            Some('(') if self.source.second() == Some('(') => self.arithmetic()?,
            Some('(') => {
                self.source.take();
                runs.push(self.substitution()?);
            }
            Some('{') => self.parameter()?,
            Some('[') => return Err(WhyNot::Unread("arithmetic")),
            Some('\\') => return Err(WhyNot::Unread("a backslash behind `$`")),
            Some('@' | '*' | '#' | '?' | '-' | '$' | '!' | '0'..='9') => {
                self.source.take();
            }
            Some(next) if is_name(next) => {
                self.source.run(is_name);
            }
            Some('\'' | '"') if !quoted => return Err(WhyNot::Unread("an unusual text")),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The list of a substitution whose `(` was read.
    pub(super) fn substitution(&mut self) -> Reading<List> {
        if !self.pending.is_empty() {
            return Err(WhyNot::Unread("a substitution before the text of a here-document"));
        }
        let before = self.here_count;
        let list = self.list()?;
        self.close()?;
        // Some shells forget what stands behind the text, when they write down for themselves what they have read.
        if self.here_count > before && !is_one_command(&list) {
            return Err(WhyNot::Unread("a here-document among other commands in a substitution"));
        }
        Ok(list)
    }

    /// `$((…))` of numbers. A name in it could stand for a text that runs something.
    fn arithmetic(&mut self) -> Reading<()> {
        self.source.eat("((");
        let sum = self.source.run(|character| character.is_ascii_digit() || "+-*/% ".contains(character));
        let plain = sum.bytes().any(|byte| byte.is_ascii_digit());
        if plain && self.source.eat("))") { Ok(()) } else { Err(WhyNot::Unread("arithmetic")) }
    }

    /// `${name}`, its length, or with a plain text to use instead or to cut off.
    fn parameter(&mut self) -> Reading<()> {
        const UNREAD: WhyNot = WhyNot::Unread("an expansion that could run something");
        self.source.eat("{");
        if self.source.eat("#") {
            let name = self.source.run(is_name);
            return if !name.is_empty() && self.source.eat("}") { Ok(()) } else { Err(UNREAD) };
        }
        let name = self.source.run(is_name);
        let special = name.is_empty() && (self.source.eat("@") || self.source.eat("*") || self.source.eat("?"));
        if name.is_empty() && !special {
            return Err(UNREAD);
        }
        let operator = [":-", "-", ":+", "+", "##", "#", "%%", "%"].iter().any(|operator| self.source.eat(operator));
        if operator {
            let plain = |character: char| character.is_ascii_alphanumeric() || "_./-*, ".contains(character);
            self.source.run(plain);
        }
        if self.source.eat("}") { Ok(()) } else { Err(UNREAD) }
    }

    /// A substitution in backticks, the first of which comes next.
    pub(super) fn backticks(&mut self, quoted: bool, runs: &mut Vec<List>) -> Reading<()> {
        const UNCLOSED: WhyNot = WhyNot::Unread("backticks that are not closed");
        if !self.pending.is_empty() {
            return Err(WhyNot::Unread("a substitution before the text of a here-document"));
        }
        self.source.take();
        let mut text = String::new();
        loop {
            match self.source.take().ok_or(UNCLOSED)? {
                '`' => break,
                '\\' => match self.source.take().ok_or(UNCLOSED)? {
                    next @ ('$' | '`' | '\\') => text.push(next),
                    // Whether the backslash stays depends on where this text stands.
                    '"' | '\n' => return Err(WhyNot::Unread("an escape in backticks")),
                    next => text.extend(['\\', next]),
                },
                // Within quotes and here-documents shells disagree on it.
                '"' if quoted => return Err(WhyNot::Unread("quotes in backticks in quotes")),
                next => text.push(next),
            }
        }
        runs.push(self.within(&text, Parser::line)?);
        Ok(())
    }
}

fn is_one_command(list: &List) -> bool {
    let [Item { first: Pipeline { commands, .. }, rest, background: false }] = &list[..] else { return false };
    rest.is_empty() && matches!(&commands[..], [Command { shape: Shape::Simple { .. }, .. }])
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}
