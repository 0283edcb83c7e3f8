//! Substitutions and expansions, and the commands they run. Their results are known only when the line runs.

use super::list::{read_line, read_list};
use super::parser::{Parser, Quoting, Reading};
use super::tree::{Command, Item, List, Pipeline, Shape};
use crate::findings::WhyNot;

/// Reads an expansion at the next `$`. Returns `false` if the `$` stands for itself.
pub(super) fn read_expansion(parser: &mut Parser<'_>, quoting: Quoting, runs: &mut Vec<List>) -> Reading<bool> {
    parser.source.take();
    match parser.source.peek() {
        Some('(') if parser.source.second() == Some('(') => read_arithmetic(parser)?,
        Some('(') => {
            parser.source.take();
            runs.push(read_substitution(parser)?);
        }
        Some('{') => read_parameter(parser)?,
        Some('[') => return Err(WhyNot::Unread("arithmetic")),
        Some('\\') => return Err(WhyNot::Unread("a backslash after `$`")),
        Some('@' | '*' | '#' | '?' | '-' | '$' | '!' | '0'..='9') => {
            parser.source.take();
        }
        Some(next) if is_name(next) => {
            parser.source.run(is_name);
        }
        Some('\'' | '"') if quoting == Quoting::Bare => return Err(WhyNot::Unread("an unusual string")),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Reads the list of a substitution. Its `(` has been read.
pub(super) fn read_substitution(parser: &mut Parser<'_>) -> Reading<List> {
    if !parser.pending.is_empty() {
        return Err(WhyNot::Unread("a substitution before the text of a here-document"));
    }
    let before = parser.here_count;
    let list = read_list(parser)?;
    parser.close()?;
    // Some shells store what they have parsed and lose the commands after a here-document.
    if parser.here_count > before && !is_one_command(&list) {
        return Err(WhyNot::Unread("a here-document among other commands in a substitution"));
    }
    Ok(list)
}

/// Reads `$((…))` with numbers only. A name could refer to a text that runs something.
fn read_arithmetic(parser: &mut Parser<'_>) -> Reading<()> {
    parser.source.eat("((");
    let sum = parser.source.run(|character| character.is_ascii_digit() || "+-*/% ".contains(character));
    let plain = sum.bytes().any(|byte| byte.is_ascii_digit());
    if plain && parser.source.eat("))") { Ok(()) } else { Err(WhyNot::Unread("arithmetic")) }
}

/// Reads `${name}`, `${#name}`, or a name with a plain text as its default or to be cut off.
fn read_parameter(parser: &mut Parser<'_>) -> Reading<()> {
    const UNREAD: WhyNot = WhyNot::Unread("an expansion that could run something");
    parser.source.eat("{");
    if parser.source.eat("#") {
        let name = parser.source.run(is_name);
        return if !name.is_empty() && parser.source.eat("}") { Ok(()) } else { Err(UNREAD) };
    }
    let name = parser.source.run(is_name);
    let special = name.is_empty() && (parser.source.eat("@") || parser.source.eat("*") || parser.source.eat("?"));
    if name.is_empty() && !special {
        return Err(UNREAD);
    }
    let operator = [":-", "-", ":+", "+", "##", "#", "%%", "%"].iter().any(|operator| parser.source.eat(operator));
    if operator {
        let plain = |character: char| character.is_ascii_alphanumeric() || "_./-*, ".contains(character);
        parser.source.run(plain);
    }
    if parser.source.eat("}") { Ok(()) } else { Err(UNREAD) }
}

/// Reads a substitution in backticks, starting at the first of them.
pub(super) fn read_backticks(parser: &mut Parser<'_>, quoting: Quoting, runs: &mut Vec<List>) -> Reading<()> {
    const UNCLOSED: WhyNot = WhyNot::Unread("unclosed backticks");
    if !parser.pending.is_empty() {
        return Err(WhyNot::Unread("a substitution before the text of a here-document"));
    }
    parser.source.take();
    let mut text = String::new();
    loop {
        match parser.source.take().ok_or(UNCLOSED)? {
            '`' => break,
            '\\' => match parser.source.take().ok_or(UNCLOSED)? {
                next @ ('$' | '`' | '\\') => text.push(next),
                // The context of this text decides if the backslash stays.
                '"' | '\n' => return Err(WhyNot::Unread("an escape in backticks")),
                next => text.extend(['\\', next]),
            },
            // Shells disagree on this in quotes and here-documents.
            '"' if quoting == Quoting::Quoted => return Err(WhyNot::Unread("quotes in backticks in quotes")),
            next => text.push(next),
        }
    }
    runs.push(parser.within(&text, read_line)?);
    Ok(())
}

fn is_one_command(list: &List) -> bool {
    let [Item { first: Pipeline { commands, .. }, rest, background: false }] = &list[..] else { return false };
    rest.is_empty() && matches!(&commands[..], [Command { shape: Shape::Simple { .. }, .. }])
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}
