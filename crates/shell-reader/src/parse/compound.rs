//! Compound commands: groups, conditions, loops, cases and functions.

use super::here_document::skip_newlines;
use super::list::{read_body, read_command, read_list};
use super::parser::{CLOSING, Parser, Reading, ends_word};
use super::tree::{Command, List, Shape, Spelled};
use super::word::read_word;
use crate::findings::WhyNot;

/// Tests that evaluate their words, which can run the contents of a variable.
const COMPUTED: [&str; 8] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"];

/// Reads a compound command if one comes next.
pub(super) fn read_compound(parser: &mut Parser<'_>) -> Reading<Option<Shape>> {
    if parser.source.looks_at("((") {
        return Err(WhyNot::Unread("arithmetic"));
    }
    let shape = if parser.source.eat("(") {
        let list = read_body(parser)?;
        parser.close()?;
        Shape::Subshell(list)
    } else if parser.eat_reserved("{") {
        let list = read_body(parser)?;
        parser.expect("}")?;
        Shape::Group(list)
    } else if parser.eat_reserved("if") {
        read_if(parser)?
    } else if parser.eat_reserved("while") || parser.eat_reserved("until") {
        let condition = read_body(parser)?;
        Shape::While { condition, body: read_loop_body(parser)? }
    } else if parser.eat_reserved("for") {
        read_for(parser)?
    } else if parser.eat_reserved("case") {
        read_case(parser)?
    } else if parser.eat_reserved("[[") {
        read_test(parser)?
    } else if ["function", "select", "coproc"].iter().any(|word| parser.is_at_reserved(word)) {
        return Err(WhyNot::Unread("`function`, `select` or `coproc`"));
    } else if CLOSING.iter().chain(&["!", "in", "]]"]).any(|word| parser.is_at_reserved(word)) {
        return Err(WhyNot::Unread("something unexpected"));
    } else {
        return Ok(None);
    };
    Ok(Some(shape))
}

fn read_if(parser: &mut Parser<'_>) -> Reading<Shape> {
    let mut branches = Vec::new();
    loop {
        let condition = read_body(parser)?;
        parser.expect("then")?;
        branches.push((condition, read_body(parser)?));
        if !parser.eat_reserved("elif") {
            break;
        }
    }
    let otherwise = if parser.eat_reserved("else") { Some(read_body(parser)?) } else { None };
    parser.expect("fi")?;
    Ok(Shape::If { branches, otherwise })
}

fn read_loop_body(parser: &mut Parser<'_>) -> Reading<List> {
    parser.expect("do")?;
    let body = read_body(parser)?;
    parser.expect("done")?;
    Ok(body)
}

fn read_for(parser: &mut Parser<'_>) -> Reading<Shape> {
    parser.skip_blanks()?;
    let name = parser.source.run(|character| character.is_ascii_alphanumeric() || character == '_');
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        return Err(WhyNot::Unread("a `for` loop without a name"));
    }
    skip_newlines(parser)?;
    if !parser.eat_reserved("in") {
        return Err(WhyNot::Unread("a `for` loop without words"));
    }
    let mut words = Vec::new();
    loop {
        parser.skip_blanks()?;
        if !parser.is_at_word() {
            break;
        }
        words.push(read_word(parser)?);
    }
    if !parser.source.eat(";") && !parser.source.looks_at("\n") {
        return Err(WhyNot::Unread("something unexpected"));
    }
    skip_newlines(parser)?;
    Ok(Shape::For { name: name.to_owned(), words, body: read_loop_body(parser)? })
}

fn read_case(parser: &mut Parser<'_>) -> Reading<Shape> {
    parser.skip_blanks()?;
    let mut words = vec![read_some_word(parser)?];
    skip_newlines(parser)?;
    parser.expect("in")?;
    let mut arms = Vec::new();
    loop {
        skip_newlines(parser)?;
        if parser.eat_reserved("esac") {
            return Ok(Shape::Case { words, arms });
        }
        parser.source.eat("(");
        loop {
            parser.skip_blanks()?;
            words.push(read_some_word(parser)?);
            parser.skip_blanks()?;
            if !parser.source.eat("|") {
                break;
            }
        }
        parser.expect(")")?;
        arms.push(read_list(parser)?);
        let ended = parser.source.eat(";;&") || parser.source.eat(";;") || parser.source.eat(";&");
        if !ended && !parser.is_at_reserved("esac") {
            return Err(WhyNot::Unread("an unclosed `case`"));
        }
    }
}

fn read_some_word(parser: &mut Parser<'_>) -> Reading<Spelled> {
    if parser.is_at_word() { read_word(parser) } else { Err(WhyNot::Unread("a missing word")) }
}

/// Reads `[[ … ]]` on one line, without patterns, which have a grammar of their own.
fn read_test(parser: &mut Parser<'_>) -> Reading<Shape> {
    let mut words = Vec::new();
    // After an operator the shell takes even `]]` for a word.
    let mut complete = false;
    loop {
        parser.source.run(|character| character == ' ' || character == '\t');
        if parser.is_at_reserved("]]") && !complete {
            return Err(WhyNot::Unread("an incomplete test"));
        }
        if parser.eat_reserved("]]") {
            return Ok(Shape::Test(words));
        }
        if let Some(operator) = ["&&", "||", "(", ")"].iter().find(|operator| parser.source.eat(operator)) {
            complete = *operator == ")";
            continue;
        }
        if parser.source.looks_at("#") || !parser.is_at_word() || parser.source.peek().is_some_and(ends_word) {
            return Err(WhyNot::Unread("an unsupported test"));
        }
        let word = read_word(parser)?;
        if word.word.text().is_some_and(|text| text == "=~" || COMPUTED.contains(&text)) {
            return Err(WhyNot::Unread("an arithmetic test"));
        }
        let operator = |text: &str| text.starts_with('-') || ["!", "=", "==", "!="].contains(&text);
        complete = !word.bare_text().is_some_and(operator);
        words.push(word);
    }
}

/// Reads `()` and the body of a function. Its name has been read.
pub(super) fn read_function(parser: &mut Parser<'_>) -> Reading<Command> {
    parser.source.eat("(");
    parser.skip_blanks()?;
    parser.expect(")")?;
    skip_newlines(parser)?;
    let body = read_command(parser)?;
    if matches!(body.shape, Shape::Simple { .. }) {
        return Err(WhyNot::Unread("a function without a body"));
    }
    Ok(Command { shape: Shape::Function(Box::new(body)), redirects: Vec::new() })
}
