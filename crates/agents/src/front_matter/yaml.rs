//! YAML as a tree with line numbers, limited to what front matter needs.
//!
//! Aliases, anchors, tags, merge keys, duplicate keys, several documents, deep nesting and very many values are errors.
//! Each is a way for a text to mean something other than it seems to, or to grow when it is read.

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, options};

use crate::front_matter::file_findings::Defect;
use crate::text::hidden_characters::shown;

const MAX_DEPTH: usize = 16;
const MAX_NODES: usize = 1_000;

/// A value and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    /// A quoted or block scalar: always a text, whatever it looks like.
    pub(crate) is_quoted: bool,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A key without a value, or `null`.
    Nothing,
    /// Any scalar, as written; its use decides its type.
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) line: usize,
    pub(crate) value: Node,
}

/// Reason why a text was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It is not YAML. People write such lines and mean something clear.
    Syntax { line: usize, message: String },
    /// It is YAML that is not allowed here.
    Refused(Defect),
}

/// Reads one mapping. `first_line` is the number of the text's first line in its file.
pub(crate) fn parse(text: &str, first_line: usize) -> Result<Vec<Entry>, Failure> {
    let options = options! {
        disallow_directives: true,
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut tree = Tree::default();
    for step in Parser::new_from_str_with_options(text, options) {
        let (event, span) = step.map_err(|error| failure(&error, first_line))?;
        tree.take(event, span.start.line().saturating_sub(1) + first_line, span)?;
    }
    match tree.root {
        Some(Node { value: Value::Map(entries), .. }) => Ok(entries),
        None | Some(Node { value: Value::Nothing, .. }) => Ok(Vec::new()),
        Some(Node { line, .. }) => Err(Failure::Syntax { line, message: "not a list of keys and values".to_owned() }),
    }
}

fn failure(error: &ScanError, first_line: usize) -> Failure {
    let line = error.marker().line().saturating_sub(1) + first_line;
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => too_deep(line),
        _ => Failure::Syntax { line, message: shown(&error.info()) },
    }
}

fn too_deep(line: usize) -> Failure {
    refused(line, format!("values nested more than {MAX_DEPTH} deep"), "flatten them").into()
}

pub(crate) fn second_document(line: usize) -> Defect {
    refused(line, "a second document in the front matter", "one file defines one agent")
}

fn refused(line: usize, message: impl Into<String>, fix: &'static str) -> Defect {
    Defect { line: Some(line), message: message.into(), fix }
}

impl Failure {
    /// The line, or `otherwise`, and the error.
    pub(crate) fn into_parts(self, otherwise: usize) -> (usize, String) {
        match self {
            Self::Syntax { line, message } => (line, message),
            Self::Refused(defect) => (defect.line.unwrap_or(otherwise), defect.message),
        }
    }
}

impl From<Defect> for Failure {
    fn from(defect: Defect) -> Self {
        Self::Refused(defect)
    }
}

/// The tree built so far.
#[derive(Default)]
struct Tree {
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
    documents: usize,
}

/// A collection that is not complete yet.
enum Open {
    List { line: usize, items: Vec<Node> },
    Map { line: usize, entries: Vec<Entry>, key: Option<(String, usize)> },
}

impl Tree {
    fn take(&mut self, event: Event<'_>, line: usize, span: Span) -> Result<(), Failure> {
        if matches!(event, Event::Alias(_) | Event::UnresolvedAlias(_)) {
            return Err(refused(line, "an alias (`*name`)", "write the value itself, or put it in quotes").into());
        }
        if event.anchor_id().is_some() {
            return Err(refused(line, "an anchor (`&name`)", "delete it, or put the value in quotes").into());
        }
        if span.tag_start.is_some() || event.tag().is_some() {
            return Err(refused(line, "a tag (`!name`)", "delete it, or put the value in quotes").into());
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(second_document(line).into());
                }
                Ok(())
            }
            Event::Scalar(text, style, ..) => {
                let is_quoted = style != ScalarStyle::Plain;
                self.place(Node { line, is_quoted, value: scalar(text.into_owned(), style) })
            }
            Event::SequenceStart(..) => self.begin(Open::List { line, items: Vec::new() }, line),
            Event::MappingStart(..) => self.begin(Open::Map { line, entries: Vec::new(), key: None }, line),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { line, items }) => {
                    self.place(Node { line, is_quoted: false, value: Value::List(items) })
                }
                Some(Open::Map { line, entries, .. }) => {
                    self.place(Node { line, is_quoted: false, value: Value::Map(entries) })
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn begin(&mut self, collection: Open, line: usize) -> Result<(), Failure> {
        if self.open.len() == MAX_DEPTH {
            return Err(too_deep(line));
        }
        self.open.push(collection);
        Ok(())
    }

    /// Adds a complete node to its parent.
    fn place(&mut self, node: Node) -> Result<(), Failure> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(refused(node.line, format!("more than {MAX_NODES} values"), "an agent needs fewer").into());
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { entries, key: key @ Some(_), .. }) => {
                entries.extend(key.take().map(|(key, line)| Entry { key, line, value: node }));
            }
            Some(Open::Map { entries, key, .. }) => *key = Some(new_key(entries, node)?),
        }
        Ok(())
    }
}

/// Accepts a key if it is a scalar that the mapping does not have yet.
fn new_key(entries: &[Entry], node: Node) -> Result<(String, usize), Defect> {
    let line = node.line;
    let key = match node.value {
        Value::Text(key) if key != "<<" => key,
        Value::Text(_) => return Err(refused(line, "a merge key (`<<`)", "write the values themselves")),
        _ => return Err(refused(line, "a key that is not a word", "write `key: value`")),
    };
    unique(entries, &key, line)?;
    Ok((key, line))
}

/// Refuses a duplicate key.
pub(crate) fn unique(entries: &[Entry], key: &str, line: usize) -> Result<(), Defect> {
    match entries.iter().find(|entry| entry.key == key) {
        None => Ok(()),
        Some(first) => {
            let message = format!("`{}` is already on line {}", shown(key), first.line);
            Err(refused(line, message, "keep one of the two"))
        }
    }
}

fn scalar(text: String, style: ScalarStyle) -> Value {
    let nothing = style == ScalarStyle::Plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL");
    if nothing { Value::Nothing } else { Value::Text(text) }
}
