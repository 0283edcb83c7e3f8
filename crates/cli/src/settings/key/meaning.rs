//! Meaning of a path in a file, a variable or a flag, by the table of keys.

use sortie_llm::offline;
use sortie_llm::route::AUTO;
use sortie_protocol::nearest;

use super::{ALIAS, CONTRACT, HOOKS, KEYS, Key, SERVER};
use crate::settings::value::Value;

const ROUTES: &str = "routes.";

/// The tables that stand at the top of a file.
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

/// What a path means.
#[derive(Debug)]
pub(in crate::settings) enum Meaning {
    Setting(Entry),
    /// A table that holds settings.
    Section,
    /// It has the form of a setting, but cannot be one.
    Refused(String),
    /// Nothing; what to say of it.
    Unknown(String),
}

/// One setting: a key of the table, and for a family the name that makes it one.
#[derive(Debug, Clone)]
pub(in crate::settings) struct Entry {
    pub(in crate::settings) key: &'static Key,
    pub(in crate::settings) path: String,
}

/// What `path` means.
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

/// A route's name in `below`, perhaps with a field behind it.
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

/// The name that makes `path` a member of the key's family.
pub(in crate::settings) fn name_in<'a>(key: &Key, path: &'a str) -> Option<&'a str> {
    let (before, behind) = key.around_name()?;
    path.strip_prefix(before)?.strip_suffix(behind)
}

/// What to say of a path that no key has.
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

/// The parts between commas and line breaks that are not inside parentheses; blank ones say nothing.
fn items(text: &str) -> impl Iterator<Item = &str> {
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
    /// Reads what variables and flags say: one value, or of a list each item; else what to say of it.
    pub(in crate::settings) fn parse(&self, text: &str) -> Result<Vec<Value>, String> {
        if self.key.kind.is_list() {
            return items(text).map(|item| self.parse_one(item)).collect();
        }
        Ok(vec![self.parse_one(text)?])
    }

    /// The same of a text that is one value or one item.
    pub(in crate::settings) fn parse_one(&self, text: &str) -> Result<Value, String> {
        self.key.kind.parse(text).ok_or_else(|| self.misfit_text(text))
    }

    /// What to say of a value that does not fit. It is `quoted` only where it cannot be a secret.
    pub(in crate::settings) fn misfit(&self, found: &str, quoted: &str) -> String {
        let kind = self.key.kind;
        let found = if kind.quotable() && !quoted.is_empty() { quoted } else { found };
        format!("`{}` must be {}, not {found}", self.path, kind.expected())
    }

    /// The same of a text, as variables and flags give it.
    pub(in crate::settings) fn misfit_text(&self, text: &str) -> String {
        match self.key.kind.flaw(text) {
            Some(flaw) => format!("`{}`: {flaw}", self.path),
            None => self.misfit("this text", &format!("{text:?}")),
        }
    }
}
