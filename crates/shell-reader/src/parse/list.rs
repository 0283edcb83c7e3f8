//! Lists, pipelines and simple commands. If the grammar is ambiguous, parsing fails and never guesses.

use super::compound::{read_compound, read_function};
use super::here_document::skip_newlines;
use super::parser::{CLOSING, Parser, Reading};
use super::redirect::read_redirect;
use super::tree::{Assignment, Command, Item, List, Pipeline, Shape, Spelled, Then};
use super::word::read_word;
use crate::findings::{MAX_PARTS, WhyNot};

/// Deeper nesting is not parsed.
const MAX_DEPTH: usize = 30;

/// Reads a whole text.
pub(super) fn read_line(parser: &mut Parser<'_>) -> Reading<List> {
    let list = read_list(parser)?;
    match parser.source.peek() {
        None if parser.pending.is_empty() => Ok(list),
        None => Err(WhyNot::Unread("a here-document without its text")),
        Some(_) => Err(WhyNot::Unread("something unexpected")),
    }
}

/// Reads commands up to a token that can only end them.
pub(super) fn read_list(parser: &mut Parser<'_>) -> Reading<List> {
    parser.depth += 1;
    if parser.depth > MAX_DEPTH {
        return Err(WhyNot::Unread("too many levels"));
    }
    let mut items = Vec::new();
    loop {
        skip_newlines(parser)?;
        if is_at_end_of_list(parser) {
            break;
        }
        let mut item = read_item(parser)?;
        parser.skip_blanks()?;
        let next = parser.source.peek();
        item.background = next == Some('&');
        items.push(item);
        match next {
            Some(';') if matches!(parser.source.second(), Some(';' | '&')) => break,
            Some(';' | '&') => {
                parser.source.take();
            }
            Some('\n') => {}
            _ => break,
        }
    }
    parser.depth -= 1;
    Ok(items)
}

/// Reads a non-empty list.
pub(super) fn read_body(parser: &mut Parser<'_>) -> Reading<List> {
    let list = read_list(parser)?;
    if list.is_empty() { Err(WhyNot::Unread("a missing command")) } else { Ok(list) }
}

fn is_at_end_of_list(parser: &Parser<'_>) -> bool {
    let next = parser.source.rest();
    next.is_empty()
        || next.starts_with([')', ';', '&', '|'])
        || CLOSING.iter().any(|closing| parser.is_at_reserved(closing))
}

fn read_item(parser: &mut Parser<'_>) -> Reading<Item> {
    let first = read_pipeline(parser)?;
    let mut rest = Vec::new();
    loop {
        parser.skip_blanks()?;
        let then = if parser.source.eat("&&") {
            Then::OnSuccess
        } else if parser.source.eat("||") {
            Then::OnFailure
        } else {
            break;
        };
        skip_newlines(parser)?;
        rest.push((then, read_pipeline(parser)?));
    }
    Ok(Item { first, rest, background: false })
}

fn read_pipeline(parser: &mut Parser<'_>) -> Reading<Pipeline> {
    let mut negated = false;
    loop {
        if parser.eat_reserved("!") {
            negated = !negated;
        } else if parser.eat_reserved("time") {
            parser.skip_blanks()?;
            if parser.source.looks_at("-") {
                return Err(WhyNot::Unread("an option of `time`"));
            }
        } else {
            break;
        }
        parser.skip_blanks()?;
    }
    let mut commands = vec![read_command(parser)?];
    loop {
        parser.skip_blanks()?;
        let piped = !parser.source.looks_at("||") && (parser.source.eat("|&") || parser.source.eat("|"));
        if !piped {
            return Ok(Pipeline { negated, commands });
        }
        skip_newlines(parser)?;
        commands.push(read_command(parser)?);
    }
}

pub(super) fn read_command(parser: &mut Parser<'_>) -> Reading<Command> {
    parser.commands += 1;
    if parser.commands > MAX_PARTS {
        return Err(WhyNot::TooManyParts);
    }
    let Some(shape) = read_compound(parser)? else { return read_simple(parser) };
    let mut redirects = Vec::new();
    loop {
        parser.skip_blanks()?;
        match read_redirect(parser)? {
            Some(redirect) => redirects.push(redirect),
            None => return Ok(Command { shape, redirects }),
        }
    }
}

fn read_simple(parser: &mut Parser<'_>) -> Reading<Command> {
    let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::<Spelled>::new(), Vec::new());
    loop {
        parser.skip_blanks()?;
        if let Some(redirect) = read_redirect(parser)? {
            redirects.push(redirect);
        } else if parser.source.looks_at("(") && words.len() == 1 && assignments.is_empty() && redirects.is_empty() {
            return read_function(parser);
        } else if !parser.is_at_word() {
            break;
        } else if let Some(assignment) = read_assignment(parser, words.is_empty())? {
            assignments.push(assignment);
        } else {
            words.push(read_word(parser)?);
        }
    }
    if words.is_empty() && assignments.is_empty() && redirects.is_empty() {
        return Err(WhyNot::Unread("a missing command"));
    }
    Ok(Command { shape: Shape::Simple { assignments, words }, redirects })
}

/// Reads `NAME=value` before a command.
fn read_assignment(parser: &mut Parser<'_>, in_front: bool) -> Reading<Option<Assignment>> {
    let before = parser.source.clone();
    let name = parser.source.run(|character| character.is_ascii_alphanumeric() || character == '_').to_owned();
    let is_name = in_front && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if is_name && parser.source.looks_at("[") {
        return Err(WhyNot::Unread("an assignment to an array element"));
    }
    if !is_name || !(parser.source.eat("=") || parser.source.eat("+=")) {
        parser.source = before;
        return Ok(None);
    }
    if parser.source.looks_at("(") {
        return Err(WhyNot::Unread("an array"));
    }
    Ok(Some(Assignment { name, value: read_word(parser)? }))
}
