//! The supported grammar of `bash`: turns a line into a tree, or returns an error.

mod compound;
mod expansion;
mod here_document;
mod list;
mod parser;
mod quote;
mod redirect;
mod source;
mod tree;
mod word;

use self::list::read_line;
use self::parser::Parser;
pub(crate) use self::tree::{Assignment, Command, Item, List, Pipeline, Redirect, Shape, Spelled, Then};
use crate::findings::WhyNot;

/// A parsed line.
pub(crate) struct Parsed {
    pub(crate) list: List,
    /// Commands run by the texts of its here-documents.
    pub(crate) here_runs: Vec<List>,
}

/// Parses a whole line.
pub(crate) fn parse(line: &str) -> Result<Parsed, WhyNot> {
    let mut parser = Parser::new(line);
    let list = read_line(&mut parser)?;
    Ok(Parsed { list, here_runs: parser.here_runs })
}

/// Returns the words of a text that is exactly one command, with every word known.
pub fn known_words(text: &str) -> Option<Vec<String>> {
    let list = parse(text).ok()?.list;
    let words = tree::only_words(&list)?;
    words.iter().map(|spelled| spelled.word.text().map(str::to_owned)).collect()
}
