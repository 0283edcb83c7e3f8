//! Quoted text.

use super::list::{Parser, Reading};
use super::word::{Draft, Spelling};
use crate::analysis::WhyNot;

const UNCLOSED: WhyNot = WhyNot::Unread("quotes that are not closed");

impl Parser<'_> {
    pub(super) fn quotes(&mut self, draft: &mut Draft) -> Reading<()> {
        draft.behind_quotes |= draft.quoted > 0;
        draft.quoted += 1;
        if self.source.eat("'") {
            let text = self.source.run(|character| character != '\'');
            text.chars().try_for_each(|character| self.within_quotes(character))?;
            draft.text.push_str(text);
            return if self.source.eat("'") { Ok(()) } else { Err(UNCLOSED) };
        }
        self.source.take();
        loop {
            match self.source.peek().ok_or(UNCLOSED)? {
                '"' => {
                    self.source.take();
                    return Ok(());
                }
                '$' if self.expansion(true, &mut draft.runs)? => draft.unknown = true,
                '$' => draft.text.push('$'),
                '`' => {
                    self.backticks(true, &mut draft.runs)?;
                    draft.unknown = true;
                }
                '\\' => self.escape_within_quotes(draft)?,
                next => {
                    self.within_quotes(next)?;
                    draft.text.push(next);
                    self.source.take();
                }
            }
        }
    }

    /// A backslash in double quotes stands for itself before most characters.
    fn escape_within_quotes(&mut self, draft: &mut Draft) -> Reading<()> {
        self.source.take();
        match self.source.peek().ok_or(UNCLOSED)? {
            next @ ('$' | '`' | '"' | '\\') => draft.text.push(next),
            '\n' => {
                self.within_quotes('\n')?;
                draft.spelling = Spelling::Odd;
            }
            next => {
                self.within_quotes(next)?;
                draft.text.extend(['\\', next]);
            }
        }
        self.source.take();
        Ok(())
    }

    /// Whether a character can be in quotes here.
    fn within_quotes(&self, character: char) -> Reading<()> {
        match character {
            '\n' if !self.pending.is_empty() => Err(WhyNot::Unread("quotes across a here-document")),
            '\n' | '\t' => Ok(()),
            _ if character.is_control() => Err(WhyNot::Unread("a control character")),
            _ => Ok(()),
        }
    }

    /// The text of `$'…'`, whose beginning was read.
    pub(super) fn ansi_text(&mut self) -> Reading<String> {
        let mut text = String::new();
        loop {
            match self.source.take().ok_or(UNCLOSED)? {
                '\'' => return Ok(text),
                '\\' => text.push(self.ansi_escape()?),
                next => {
                    self.within_quotes(next)?;
                    text.push(next);
                }
            }
        }
    }

    fn ansi_escape(&mut self) -> Reading<char> {
        const UNREAD: WhyNot = WhyNot::Unread("an escape that is not understood");
        Ok(match self.source.take().ok_or(UNCLOSED)? {
            'n' => '\n',
            't' => '\t',
            next @ ('\\' | '\'' | '"' | '?') => next,
            'x' => self.number(16, 2).ok_or(UNREAD)?,
            'u' => self.number(16, 4).ok_or(UNREAD)?,
            '0'..='7' => {
                self.source.back();
                self.number(8, 3).ok_or(UNREAD)?
            }
            _ => return Err(UNREAD),
        })
    }

    /// A character by its number, which is one of ASCII that can be seen: others depend on the locale.
    fn number(&mut self, radix: u32, most: usize) -> Option<char> {
        let digits: String = self.source.rest().chars().take(most).take_while(|digit| digit.is_digit(radix)).collect();
        self.source.eat(&digits);
        let character = char::from_u32(u32::from_str_radix(&digits, radix).ok()?)?;
        (character == ' ' || character.is_ascii_graphic()).then_some(character)
    }
}
