//! The grammar of `bash`, as far as it is read: a line becomes a tree, or an error.

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

/// A line as it was read.
pub(crate) struct Parsed {
    pub(crate) list: List,
    /// What the texts of its here-documents run.
    pub(crate) here_runs: Vec<List>,
}

/// Reads a whole line.
pub(crate) fn parse(line: &str) -> Result<Parsed, WhyNot> {
    let mut parser = Parser::new(line);
    let list = read_line(&mut parser)?;
    Ok(Parsed { list, here_runs: parser.here_runs })
}

/// The words of a text that is one command of known words and nothing else.
pub fn known_words(text: &str) -> Option<Vec<String>> {
    let list = parse(text).ok()?.list;
    let words = tree::only_words(&list)?;
    words.iter().map(|spelled| spelled.word.text().map(str::to_owned)).collect()
}
