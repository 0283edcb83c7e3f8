//! Reads a TOML file against the table of keys. Every complaint names the file, the line and the key.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use sortie_agents::ServerReading;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::meaning::{self, Entry, Meaning};
use super::value::{Kind, Value, dollars};
use super::{hook, mcp_server};
use crate::error::CommandError;
use crate::text::neutral;

/// Content of a file. The caller decides if a fault in it is an error.
#[derive(Debug, Default)]
pub(super) struct FileLayer {
    pub(super) path: PathBuf,
    pub(super) values: Vec<FileValue>,
    /// Entries without meaning, in line order.
    pub(super) ignored: Vec<Remark>,
    /// Invalid entries, in line order.
    pub(super) faults: Vec<Remark>,
    /// Reason why nothing of the file could be read.
    pub(super) unreadable: Option<Remark>,
}

/// Setting in a file, or one item of a setting that is a list.
#[derive(Debug)]
pub(super) struct FileValue {
    pub(super) entry: Entry,
    pub(super) value: Value,
    pub(super) line: usize,
}

/// Remark about a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) line: usize,
    pub(super) what: String,
}

impl Remark {
    /// Creates a remark on one line, though names in a file can hold line ends.
    fn new(line: usize, what: &str) -> Self {
        Self { line, what: neutral::line(what) }
    }
}

/// Reads a file that must exist.
pub(super) fn read(path: &Path) -> Result<FileLayer, CommandError> {
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error)).and_then(|text| flawless(path, &text))
}

/// Reads a file that may be missing.
pub(super) fn read_if_present(path: &Path) -> Result<FileLayer, CommandError> {
    match std::fs::read_to_string(path) {
        Ok(text) => flawless(path, &text),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(FileLayer { path: path.to_owned(), ..FileLayer::default() })
        }
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::config(format!("the configuration {} cannot be read: {error}", path.display()))
        .hint("correct the path or its permissions, or name another file with --config")
}

/// Parses the text; the first fault in it is an error.
pub(super) fn flawless(path: &Path, text: &str) -> Result<FileLayer, CommandError> {
    let layer = parse(path, text);
    match layer.unreadable.as_ref().or(layer.faults.first()) {
        Some(Remark { line, what }) => Err(CommandError::config(format!("{}:{line}: {what}", path.display()))),
        None => Ok(layer),
    }
}

/// Parses the text, and collects its faults.
pub(super) fn parse(path: &Path, text: &str) -> FileLayer {
    let mut layer = FileLayer { path: path.to_owned(), ..FileLayer::default() };
    match DeTable::parse(text) {
        Ok(table) => Reading { text, layer: &mut layer }.table("", table.get_ref()),
        Err(error) => {
            let line = error.span().map_or(1, |span| line_at(text, span.start));
            // The parser's message only: its long form quotes the line, which may hold a key.
            layer.unreadable = Some(Remark::new(line, &format!("this is not valid TOML: {}", error.message())));
        }
    }
    // The parser sorts tables by name.
    layer.values.sort_by_key(|said| said.line);
    layer.ignored.sort_by_key(|remark| remark.line);
    layer.faults.sort_by_key(|remark| remark.line);
    layer
}

fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

impl FileLayer {
    /// Warnings about entries without meaning.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        self.ignored.iter().map(|Remark { line, what }| format!("{}:{line} is ignored: {what}", self.path.display()))
    }
}

struct Reading<'a> {
    text: &'a str,
    layer: &'a mut FileLayer,
}

impl Reading<'_> {
    fn table(&mut self, section: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let path =
                if section.is_empty() { name.get_ref().to_string() } else { format!("{section}.{}", name.get_ref()) };
            self.entry(&path, name, value.get_ref());
        }
    }

    fn entry(&mut self, path: &str, name: &Spanned<Cow<'_, str>>, value: &DeValue<'_>) {
        let line = line_at(self.text, name.span().start);
        let fault = match (meaning::of(path), value) {
            (Meaning::Setting(entry), DeValue::Array(items)) if entry.key.kind.is_list() => {
                return items.iter().for_each(|item| self.item(&entry, item));
            }
            (Meaning::Setting(entry), DeValue::Table(table)) if matches!(entry.key.kind, Kind::Server) => {
                match mcp_server::read(path, table) {
                    Ok(ServerReading { server, ignored }) => {
                        let remarks = ignored.iter().map(|what| Remark::new(line, &format!("`{path}`: {what}")));
                        self.layer.ignored.extend(remarks);
                        return self.layer.values.push(FileValue {
                            entry,
                            value: Value::Server(Box::new(server)),
                            line,
                        });
                    }
                    Err(what) => what,
                }
            }
            (Meaning::Setting(entry), value) => match read_value(&entry, value) {
                Ok(value) => return self.layer.values.push(FileValue { entry, value, line }),
                Err(what) => what,
            },
            (Meaning::Section, DeValue::Table(table)) => return self.table(path, table),
            (Meaning::Section, other) => {
                format!("`{path}` must be a table like [{path}], not {}", with_article(other))
            }
            (Meaning::Refused(what), _) => what,
            (Meaning::Unknown(what), _) => return self.layer.ignored.push(Remark::new(line, &what)),
        };
        self.layer.faults.push(Remark::new(line, &fault));
    }

    /// Adds one item of a list.
    fn item(&mut self, entry: &Entry, item: &Spanned<DeValue<'_>>) {
        let line = line_at(self.text, item.span().start);
        let read = match item.get_ref() {
            DeValue::String(text) => entry.key.kind.text(text).ok_or_else(|| entry.misfit_text(text)),
            DeValue::Table(table) if matches!(entry.key.kind, Kind::Hooks) => hook::read(table).map(Value::Hook),
            other => Err(entry.misfit(with_article(other), "")),
        };
        match read {
            Ok(value) => self.layer.values.push(FileValue { entry: entry.clone(), value, line }),
            Err(what) => self.layer.faults.push(Remark::new(line, &what)),
        }
    }
}

fn read_value(entry: &Entry, value: &DeValue<'_>) -> Result<Value, String> {
    let kind = entry.key.kind;
    let read = match (kind, value) {
        (Kind::Switch, DeValue::Boolean(on)) => Some(Value::Switch(*on)),
        (Kind::Number { .. }, DeValue::Integer(number)) => {
            u64::from_str_radix(number.as_str(), number.radix()).ok().and_then(|number| kind.number(number))
        }
        (Kind::Dollars, DeValue::Float(number)) => dollars(number.as_str()),
        (Kind::Dollars, DeValue::Integer(number)) => dollars(number.as_str()),
        (_, DeValue::String(text)) if !kind.is_list() => kind.text(text),
        _ => None,
    };
    read.ok_or_else(|| {
        let quoted = match value {
            DeValue::String(text) => format!("{text:?}"),
            DeValue::Integer(number) => number.as_str().to_owned(),
            DeValue::Float(number) if matches!(kind, Kind::Dollars) => number.as_str().to_owned(),
            DeValue::Boolean(on) => on.to_string(),
            _ => String::new(),
        };
        entry.misfit(with_article(value), &quoted)
    })
}

fn with_article(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
