//! Here-documents: their text and the commands it runs.

use super::expansion::{read_backticks, read_expansion};
use super::parser::{LeadingTabs, Parser, PendingText, Quoting, Reading};
use super::tree::List;
use crate::findings::WhyNot;

/// Reads the word that ends the text.
pub(super) fn read_delimiter(parser: &mut Parser<'_>, tabs: LeadingTabs) -> Reading<()> {
    parser.skip_blanks()?;
    let quote = ["'", "\""].into_iter().find(|quote| parser.source.eat(quote));
    let delimiter = parser.source.run(|character| character.is_ascii_alphanumeric() || character == '_').to_owned();
    let closed = quote.is_none_or(|quote| parser.source.eat(quote));
    let ends = !parser.is_at_word() || parser.source.peek().is_none();
    if delimiter.is_empty() || !closed || !ends {
        return Err(WhyNot::Unread("a here-document with an unusual delimiter"));
    }
    parser.pending.push(PendingText { delimiter, quoted: quote.is_some(), tabs });
    Ok(())
}

/// Skips blanks and newlines, and the here-documents after a newline.
pub(super) fn skip_newlines(parser: &mut Parser<'_>) -> Reading<()> {
    loop {
        parser.skip_blanks()?;
        if !parser.source.eat("\n") {
            return Ok(());
        }
        read_texts(parser)?;
    }
}

/// Reads the texts that begin here, after a newline.
fn read_texts(parser: &mut Parser<'_>) -> Reading<()> {
    for pending in std::mem::take(&mut parser.pending) {
        let text = read_text(parser, &pending)?;
        parser.here_count += 1;
        if !pending.quoted {
            let runs = parser.within(&text, read_runs)?;
            parser.here_runs.extend(runs);
        }
    }
    Ok(())
}

fn read_text(parser: &mut Parser<'_>, pending: &PendingText) -> Reading<String> {
    let mut text = String::new();
    loop {
        let line = parser.source.run(|character| character != '\n');
        let has_next = parser.source.eat("\n");
        let bare = if pending.tabs == LeadingTabs::LeftOut { line.trim_start_matches('\t') } else { line };
        if bare == pending.delimiter {
            return Ok(text);
        }
        if !has_next {
            return Err(WhyNot::Unread("a here-document without its delimiter"));
        }
        if !pending.quoted && line.ends_with('\\') {
            return Err(WhyNot::Unread("a here-document with a line continuation"));
        }
        text.push_str(line);
        text.push('\n');
    }
}

/// Reads the commands run by the substitutions in a text.
fn read_runs(parser: &mut Parser<'_>) -> Reading<Vec<List>> {
    let mut runs = Vec::new();
    while let Some(next) = parser.source.peek() {
        match next {
            '$' => {
                read_expansion(parser, Quoting::Quoted, &mut runs)?;
            }
            '`' => read_backticks(parser, Quoting::Quoted, &mut runs)?,
            _ => {
                parser.source.take();
                if next == '\\' {
                    parser.source.take();
                }
            }
        }
    }
    Ok(runs)
}
