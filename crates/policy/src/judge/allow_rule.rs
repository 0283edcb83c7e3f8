//! Allow rules that cover a given call, or the gaps that rules leave in a command line.

use std::fmt;
use std::path::{Component, Path};

use sortie_protocol::Resource;
use sortie_shell_reader::Part;

use crate::rule::{CommandPattern, Rule, Scope, ToolKind, canonical, kind, normal_host};
use crate::text::{printable, printable_path};

/// More rules than this are not offered as advice.
const MOST: usize = 4;

/// Returns the rule that covers a call of any tool except the one for commands.
pub(super) fn for_call(tool: &str, resource: &Resource) -> Option<String> {
    let tool = canonical(tool);
    let rule = match (kind(tool), resource) {
        (ToolKind::Reading, Resource::Path(path)) => format!("Read({})", pattern(path)?),
        (ToolKind::Editing, Resource::Path(path)) => format!("Edit({})", pattern(path)?),
        (ToolKind::Web, Resource::Host(host)) => format!("WebFetch(domain:{})", normal_host(host)?),
        (ToolKind::Delegating, Resource::Agent { name, .. }) => format!("Task({})", escaped(name)),
        (ToolKind::Companion | ToolKind::Notes | ToolKind::Mcp | ToolKind::Unknown, _) => tool.to_owned(),
        _ => return None,
    };
    rule.parse::<Rule>().ok().map(|rule| rule.to_string())
}

/// A part of a command line that no rule covers.
pub(super) enum Gap<'a> {
    Command(&'a Part),
    /// A program with a relative path, run from elsewhere than the workspace root: in a rule, that path means another
    /// program.
    Misplaced(&'a Part),
    Write(&'a Path),
}

impl fmt::Display for Gap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(part) | Self::Misplaced(part) => write!(f, "`{}`", in_words(part)),
            Self::Write(path) => write!(f, "a write to `{}`", printable_path(path)),
        }
    }
}

/// Returns the rules for all gaps of a line. An error says in words why there are none.
pub(super) fn for_gaps(gaps: &[Gap<'_>], root: Option<&Path>) -> Result<Vec<String>, String> {
    let mut rules = Vec::new();
    let mut written: Vec<&Path> = Vec::new();
    for gap in gaps {
        match gap {
            Gap::Command(part) => rules.push(for_part(part).ok_or_else(|| format!("no rule can name {gap}"))?),
            Gap::Misplaced(_) => {
                return Err(format!("rules name programs relative to the workspace root, and {gap} is not there"));
            }
            // A rule for a directory covers its contents.
            Gap::Write(path) if written.iter().any(|written| path.starts_with(written)) => {}
            Gap::Write(path) => {
                written.push(path);
                rules.push(for_write(path, root).ok_or_else(|| format!("no rule can name {gap}"))?);
            }
        }
    }
    together(rules)
}

/// Merges rules into one piece of advice.
pub(super) fn together(rules: Vec<String>) -> Result<Vec<String>, String> {
    let mut different: Vec<String> = Vec::new();
    for rule in rules {
        if !different.contains(&rule) {
            different.push(rule);
        }
    }
    match different.len() {
        0..=MOST => Ok(different),
        count => Err(format!("it would take {count} of them")),
    }
}

/// Returns the rule that names one command in full; `None` if no rule can.
fn for_part(part: &Part) -> Option<String> {
    let words: Vec<String> = part.words.iter().map(|word| word.text().map(quoted)).collect::<Option<_>>()?;
    let rule: Rule = format!("Bash({})", words.join(" ")).parse().ok()?;
    let covers = |pattern: &CommandPattern| pattern.names_all_of(part);
    matches!(&rule.scope, Scope::Command(pattern) if covers(pattern)).then(|| rule.to_string())
}

/// Returns the rule that allows a line to write this file.
fn for_write(path: &Path, root: Option<&Path>) -> Option<String> {
    let within = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    for_call("Write", &Resource::Path(within.to_owned()))
}

/// Formats a command for people.
fn in_words(part: &Part) -> String {
    let words: Vec<String> = part.words.iter().map(|word| word.text().map_or("…".to_owned(), quoted)).collect();
    printable(&words.join(" "))
}

/// Quotes a word for use in a rule.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./,:=@%+".contains(&byte);
    let is_plain = !word.is_empty() && word.bytes().all(plain);
    if is_plain { word.to_owned() } else { format!("'{word}'") }
}

/// Returns a pattern for this path and no other.
fn pattern(path: &Path) -> Option<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(escaped(name.to_str()?)),
            Component::CurDir | Component::RootDir => {}
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    let names = names.join("/");
    Some(match (path.is_absolute(), names.contains('/')) {
        (true, _) => format!("//{names}"),
        (false, true) if !names.starts_with('~') => names,
        (false, _) => format!("/{names}"),
    })
}

fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for character in name.chars() {
        if r"*?[]{}\!".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
