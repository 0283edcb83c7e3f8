//! Quoted text: single quotes, double quotes and `$'…'`.

use super::expansion::{read_backticks, read_expansion};
use super::parser::{Parser, Quoting, Reading};
use super::word::{Draft, Spelling};
use crate::findings::WhyNot;

const UNCLOSED: WhyNot = WhyNot::Unread("unclosed quotes");

pub(super) fn read_quotes(parser: &mut Parser<'_>, draft: &mut Draft) -> Reading<()> {
    draft.behind_quotes |= draft.quoted > 0;
    draft.quoted += 1;
    if parser.source.eat("'") {
        let text = parser.source.run(|character| character != '\'');
        text.chars().try_for_each(|character| check_quoted(parser, character))?;
        draft.text.push_str(text);
        return if parser.source.eat("'") { Ok(()) } else { Err(UNCLOSED) };
    }
    parser.source.take();
    loop {
        match parser.source.peek().ok_or(UNCLOSED)? {
            '"' => {
                parser.source.take();
                return Ok(());
            }
            '$' if read_expansion(parser, Quoting::Quoted, &mut draft.runs)? => draft.unknown = true,
            '$' => draft.text.push('$'),
            '`' => {
                read_backticks(parser, Quoting::Quoted, &mut draft.runs)?;
                draft.unknown = true;
            }
            '\\' => read_quoted_escape(parser, draft)?,
            next => {
                check_quoted(parser, next)?;
                draft.text.push(next);
                parser.source.take();
            }
        }
    }
}

/// Reads a backslash in double quotes. Before most characters it stands for itself.
fn read_quoted_escape(parser: &mut Parser<'_>, draft: &mut Draft) -> Reading<()> {
    parser.source.take();
    match parser.source.peek().ok_or(UNCLOSED)? {
        next @ ('$' | '`' | '"' | '\\') => draft.text.push(next),
        '\n' => {
            check_quoted(parser, '\n')?;
            draft.spelling = Spelling::Odd;
        }
        next => {
            check_quoted(parser, next)?;
            draft.text.extend(['\\', next]);
        }
    }
    parser.source.take();
    Ok(())
}

/// Fails if the character is not supported in quotes here.
fn check_quoted(parser: &Parser<'_>, character: char) -> Reading<()> {
    match character {
        '\n' if !parser.pending.is_empty() => Err(WhyNot::Unread("quotes across a here-document")),
        '\n' | '\t' => Ok(()),
        _ if character.is_control() => Err(WhyNot::Unread("a control character")),
        _ => Ok(()),
    }
}

/// Reads the text of `$'…'`. Its beginning has been read.
pub(super) fn read_ansi_text(parser: &mut Parser<'_>) -> Reading<String> {
    let mut text = String::new();
    loop {
        match parser.source.take().ok_or(UNCLOSED)? {
            '\'' => return Ok(text),
            '\\' => text.push(read_ansi_escape(parser)?),
            next => {
                check_quoted(parser, next)?;
                text.push(next);
            }
        }
    }
}

fn read_ansi_escape(parser: &mut Parser<'_>) -> Reading<char> {
    const UNREAD: WhyNot = WhyNot::Unread("an unsupported escape");
    Ok(match parser.source.take().ok_or(UNCLOSED)? {
        'n' => '\n',
        't' => '\t',
        next @ ('\\' | '\'' | '"' | '?') => next,
        'x' => read_character(parser, 16, 2).ok_or(UNREAD)?,
        'u' => read_character(parser, 16, 4).ok_or(UNREAD)?,
        '0'..='7' => {
            parser.source.back();
            read_character(parser, 8, 3).ok_or(UNREAD)?
        }
        _ => return Err(UNREAD),
    })
}

/// Reads a character by its number, which must be printable ASCII: others depend on the locale.
fn read_character(parser: &mut Parser<'_>, radix: u32, most: usize) -> Option<char> {
    let digits: String = parser.source.rest().chars().take(most).take_while(|digit| digit.is_digit(radix)).collect();
    parser.source.eat(&digits);
    let character = char::from_u32(u32::from_str_radix(&digits, radix).ok()?)?;
    (character == ' ' || character.is_ascii_graphic()).then_some(character)
}
