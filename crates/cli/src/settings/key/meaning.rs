//! Meaning of a path in a file, a variable or a flag, by the table of keys.

use sortie_llm::offline;
use sortie_llm::route::AUTO;
use sortie_protocol::nearest;
use toml_edit::Array;

use super::{ALIAS, CONTRACT, HOOKS, KEYS, Key, SERVER};
use crate::settings::value::Value;

const ROUTES: &str = "routes.";

/// Tables at the top level of a file.
const SECTIONS: [&str; 12] = [
    "task_tool",
    "run",
    "agents",
    "permissions",
    "web",
    "shell",
    "journal",
    "llm",
    "mcp",
    "routes",
    "aliases",
    "mcp_servers",
];

/// Meaning of a path.
#[derive(Debug)]
pub(in crate::settings) enum Meaning {
    Setting(Entry),
    /// Table that holds settings.
    Section,
    /// Well-formed but invalid; with a message.
    Refused(String),
    /// Unknown; with a message.
    Unknown(String),
}

/// One setting: its key and full path.
#[derive(Debug, Clone)]
pub(in crate::settings) struct Entry {
    pub(in crate::settings) key: &'static Key,
    pub(in crate::settings) path: String,
}

/// Looks up `path`.
pub(in crate::settings) fn of(path: &str) -> Meaning {
    if let Some(key) = KEYS.into_iter().find(|key| !key.is_family() && key.path == path) {
        return Meaning::Setting(Entry { key, path: path.to_owned() });
    }
    if SECTIONS.contains(&path) {
        return Meaning::Section;
    }
    if let Some(below) = path.strip_prefix(ROUTES) {
        return of_route(path, below);
    }
    match name_in(&SERVER, path) {
        Some(name) if name.contains('.') => {
            return Meaning::Refused(format!("`{path}`: MCP servers are set up in files, each as a table"));
        }
        Some(_) => return Meaning::Setting(Entry { key: &SERVER, path: path.to_owned() }),
        None => {}
    }
    match name_in(&ALIAS, path) {
        Some(name) if is_alias(name) => Meaning::Setting(Entry { key: &ALIAS, path: path.to_owned() }),
        Some(_) => Meaning::Refused(format!("`{path}`: an alias is a name without spaces or control characters")),
        None => Meaning::Unknown(unknown(path)),
    }
}

/// Looks up a route's name, perhaps with a field, in `below`.
fn of_route(path: &str, below: &str) -> Meaning {
    let (name, field) = below.rsplit_once('.').map_or((below, None), |(name, field)| (name, Some(field)));
    if [offline::ROUTE, AUTO].contains(&name) {
        return Meaning::Refused(format!("`{ROUTES}{name}`: this name is built in; choose another"));
    }
    if !is_route_name(name) {
        return Meaning::Refused(format!(
            "`{ROUTES}{name}`: a route's name has small letters, digits, `-` and `_`, and begins with a letter"
        ));
    }
    if field.is_none() {
        return Meaning::Section;
    }
    match KEYS.into_iter().find(|key| key.is_of_routes() && key.path_of(name) == path) {
        Some(key) => Meaning::Setting(Entry { key, path: path.to_owned() }),
        None => Meaning::Unknown(unknown(path)),
    }
}

fn is_route_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter))
}

fn is_alias(name: &str) -> bool {
    !name.is_empty() && !name.contains(|letter: char| letter.is_whitespace() || letter.is_control())
}

/// Name that makes `path` a member of the key's family.
pub(in crate::settings) fn name_in<'a>(key: &Key, path: &'a str) -> Option<&'a str> {
    let (before, behind) = key.around_name()?;
    path.strip_prefix(before)?.strip_suffix(behind)
}

/// Message about an unknown path.
fn unknown(path: &str) -> String {
    let section = path.strip_prefix(ROUTES).and_then(|below| below.split_once('.')).map(|(name, _)| name);
    let candidates: Vec<String> = match (section, path.contains('.')) {
        (Some(route), _) => KEYS.iter().filter(|key| key.is_of_routes()).map(|key| key.path_of(route)).collect(),
        (None, true) => KEYS.iter().filter(|key| !key.is_family()).map(|key| key.path.to_owned()).collect(),
        (None, false) => SECTIONS.into_iter().chain([CONTRACT.path, HOOKS.path]).map(str::to_owned).collect(),
    };
    match nearest(path, candidates.iter().map(String::as_str)) {
        Some(near) => format!("unknown setting `{path}`; did you mean `{near}`?"),
        None => format!("unknown setting `{path}`; `sortie config show` lists all settings"),
    }
}

/// Returns the items of an array as in a file; `None` for any other text, like the host `[::1]`.
fn array(text: &str) -> Option<Result<Vec<String>, String>> {
    let inside = text.trim().strip_prefix('[')?.trim_start();
    if !inside.starts_with(['"', '\'', ']']) {
        return None;
    }
    let texts = |array: &Array| array.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>();
    Some(match text.trim().parse() {
        Ok(toml_edit::Value::Array(array)) => texts(&array).ok_or_else(|| "an item is not a string".to_owned()),
        Ok(_) => Err("it is not an array".to_owned()),
        Err(error) => Err(error.to_string().trim_end().replace('\n', " ")),
    })
}

/// Splits at commas and line breaks outside parentheses, as somebody might who means several items. A comma may belong
/// to a file's name, so nothing is ever set by this.
pub(in crate::settings) fn apparent_items(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let parts = text.split(move |character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        matches!(character, ',' | '\n') && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

impl Entry {
    /// Reads the text of a variable or of `--set`: one value, or a list as an array or its only item; otherwise a
    /// message.
    pub(in crate::settings) fn parse(&self, text: &str) -> Result<Vec<Value>, String> {
        if !self.key.kind.is_list() {
            return Ok(vec![self.parse_one(text)?]);
        }
        match array(text) {
            Some(Ok(items)) => items.iter().map(|item| self.parse_one(item)).collect(),
            Some(Err(flaw)) => Err(format!("`{}` must be {}: {flaw}", self.path, self.key.kind.expected())),
            None if text.trim().is_empty() => Ok(Vec::new()),
            None if apparent_items(text).nth(1).is_some() => {
                let array: Array = apparent_items(text).collect();
                let path = &self.path;
                Err(format!("`{path}`: this may be one item or several; write an array, perhaps {array}"))
            }
            None => Ok(vec![self.parse_one(text)?]),
        }
    }

    /// Reads a text as one value or one item.
    pub(in crate::settings) fn parse_one(&self, text: &str) -> Result<Value, String> {
        self.key.kind.parse(text).ok_or_else(|| self.misfit_text(text))
    }

    /// Message about an unfit value. It is `quoted` only if it cannot be a secret.
    pub(in crate::settings) fn misfit(&self, found: &str, quoted: &str) -> String {
        let kind = self.key.kind;
        let found = if kind.quotable() && !quoted.is_empty() { quoted } else { found };
        format!("`{}` must be {}, not {found}", self.path, kind.expected())
    }

    /// Message about an unfit text from a variable or flag.
    pub(in crate::settings) fn misfit_text(&self, text: &str) -> String {
        match self.key.kind.flaw(text) {
            Some(flaw) => format!("`{}`: {flaw}", self.path),
            None => self.misfit("this text", &format!("{text:?}")),
        }
    }
}
