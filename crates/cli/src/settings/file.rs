//! Reads a TOML file against the table of keys. Every complaint names the file, the line and the key.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::{self, Key};
use super::value::{Kind, Origin, Value};
use crate::error::CommandError;

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct FileLayer {
    pub(super) values: Vec<(&'static Key, Value, Origin)>,
    /// In the order of the lines.
    pub(super) warnings: Vec<String>,
}

/// Reads a file that must be there.
pub(super) fn read(path: &Path) -> Result<FileLayer, CommandError> {
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error)).and_then(|text| parse(path, &text))
}

/// Reads a file that need not be there.
pub(super) fn read_if_present(path: &Path) -> Result<FileLayer, CommandError> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(path, &text),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(FileLayer::default())
        }
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::config(format!("the configuration {} cannot be read: {error}", path.display()))
        .hint("correct the path or its permissions, or name another file with --config")
}

fn parse(path: &Path, text: &str) -> Result<FileLayer, CommandError> {
    let reading = Reading { path, text };
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| reading.line(span.start));
        // The parser's message only: its long form quotes the line, which may hold a key.
        CommandError::config(format!("{}:{line}: this is not valid TOML: {}", path.display(), error.message()))
    })?;
    let mut found = Found::default();
    reading.table("", table.get_ref(), &mut found)?;
    found.ignored.sort_unstable_by_key(|(line, _)| *line);
    let warning = |(line, what): (usize, String)| format!("{}:{line} is ignored: {what}", path.display());
    Ok(FileLayer { values: found.values, warnings: found.ignored.into_iter().map(warning).collect() })
}

/// What was found so far; the parser gives tables in the order of their names.
#[derive(Default)]
struct Found {
    values: Vec<(&'static Key, Value, Origin)>,
    ignored: Vec<(usize, String)>,
}

struct Reading<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Reading<'_> {
    fn line(&self, offset: usize) -> usize {
        self.text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
    }

    fn table(&self, section: &str, table: &DeTable<'_>, found: &mut Found) -> Result<(), CommandError> {
        for (name, value) in table {
            let path =
                if section.is_empty() { name.get_ref().to_string() } else { format!("{section}.{}", name.get_ref()) };
            self.entry(&path, name, value, found)?;
        }
        Ok(())
    }

    fn entry(
        &self,
        path: &str,
        name: &Spanned<Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        found: &mut Found,
    ) -> Result<(), CommandError> {
        let line = self.line(name.span().start);
        let place = format!("{}:{line}", self.path.display());
        if let Some(key) = key::find(path) {
            let origin = Origin::File { path: self.path.to_owned(), line };
            let value =
                read_value(key, value.get_ref()).map_err(|what| CommandError::config(format!("{place}: {what}")))?;
            found.values.push((key, value, origin));
            return Ok(());
        }
        match value.get_ref() {
            DeValue::Table(table) if key::is_section(path) => self.table(path, table, found),
            other if key::is_section(path) => Err(CommandError::config(format!(
                "{place}: `{path}` must be a table like [{path}], not {}",
                with_article(other)
            ))),
            _ => {
                found.ignored.push((line, key::unknown(path)));
                Ok(())
            }
        }
    }
}

fn read_value(key: &Key, value: &DeValue<'_>) -> Result<Value, String> {
    let read = match (key.kind, value) {
        (Kind::Switch, DeValue::Boolean(on)) => Some(Value::Switch(*on)),
        (Kind::Number { .. }, DeValue::Integer(number)) => {
            u64::from_str_radix(number.as_str(), number.radix()).ok().and_then(|number| key.kind.number(number))
        }
        (_, DeValue::String(text)) => key.kind.text(text),
        _ => None,
    };
    read.ok_or_else(|| {
        let quoted = match value {
            DeValue::String(text) => format!("{text:?}"),
            DeValue::Integer(number) => number.as_str().to_owned(),
            DeValue::Boolean(on) => on.to_string(),
            _ => String::new(),
        };
        key.misfit(with_article(value), &quoted)
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
