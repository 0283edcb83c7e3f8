//! The rules that would have allowed a call.

use std::fmt;
use std::path::{Component, Path};

use sortie_protocol::Resource;

use crate::judge::{Places, gaps_of_line};
use crate::rule::command::CommandPattern;
use crate::rule::{Rule, Scope};
use crate::tool::{Kind, canonical, kind};
use sortie_shell_reader::{Part, printable};

/// More rules than this are nobody's advice.
const MOST: usize = 4;

/// The narrowest rules that cover this call together.
///
/// None where no pattern can, or where it is not known what the call would touch: to allow all calls of such a tool is
/// nobody's advice.
pub fn remedies(tool: &str, resource: &Resource, places: &Places) -> Vec<String> {
    match resource {
        Resource::Command { line, directory } => {
            let gaps = |gaps: &[Gap<'_>]| for_gaps(gaps, places.root.as_deref()).unwrap_or_default();
            gaps_of_line(tool, (line, directory), places, gaps).unwrap_or_default()
        }
        resource => for_call(tool, resource).into_iter().collect(),
    }
}

/// The rule that covers a call in every workspace.
///
/// None for a command: what it runs is another one's elsewhere, so that a rule for it is written by hand.
pub fn lasting_remedy(tool: &str, resource: &Resource, places: &Places) -> Option<String> {
    match resource {
        Resource::Path(path) => for_call(tool, &Resource::Path(places.root.as_ref()?.join(path))),
        resource => for_call(tool, resource),
    }
}

/// The rule that covers a call of any tool but that for commands.
pub(crate) fn for_call(tool: &str, resource: &Resource) -> Option<String> {
    let tool = canonical(tool);
    let rule = match (kind(tool), resource) {
        (Kind::Reading, Resource::Path(path)) => format!("Read({})", pattern(path)?),
        (Kind::Editing, Resource::Path(path)) => format!("Edit({})", pattern(path)?),
        (Kind::Web, Resource::Host(host)) => format!("WebFetch(domain:{})", crate::rule::host::normal(host)?),
        (Kind::Delegating, Resource::Agent { name, .. }) => format!("Task({})", escaped(name)),
        (Kind::Companion | Kind::Notes | Kind::Mcp | Kind::Unknown, _) => tool.to_owned(),
        _ => return None,
    };
    rule.parse::<Rule>().ok().map(|rule| rule.to_string())
}

/// What of a command line no rule covers.
pub(crate) enum Gap<'a> {
    Command(&'a Part),
    /// A program that is named by a path from elsewhere than the workspace root: in a rule, that path is another one's.
    Misplaced(&'a Part),
    Write(&'a Path),
}

impl fmt::Display for Gap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(part) | Self::Misplaced(part) => write!(f, "`{}`", in_words(part)),
            Self::Write(path) => write!(f, "a write to `{}`", printable(&path.to_string_lossy())),
        }
    }
}

/// The rules for all gaps of a line; an error says in words why there are none.
pub(crate) fn for_gaps(gaps: &[Gap<'_>], root: Option<&Path>) -> Result<Vec<String>, String> {
    let mut rules = Vec::new();
    let mut written: Vec<&Path> = Vec::new();
    for gap in gaps {
        match gap {
            Gap::Command(part) => rules.push(for_part(part).ok_or_else(|| format!("no rule can name {gap}"))?),
            Gap::Misplaced(_) => {
                return Err(format!("rules name programs from the workspace root, and {gap} is not there"));
            }
            // A rule for a directory is one for what is in it.
            Gap::Write(path) if written.iter().any(|written| path.starts_with(written)) => {}
            Gap::Write(path) => {
                written.push(path);
                rules.push(for_write(path, root).ok_or_else(|| format!("no rule can name {gap}"))?);
            }
        }
    }
    together(rules)
}

/// Rules as one piece of advice.
pub(crate) fn together(rules: Vec<String>) -> Result<Vec<String>, String> {
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

/// The rule that names one command in full; `None` where a rule cannot.
fn for_part(part: &Part) -> Option<String> {
    let words: Vec<String> = part.words.iter().map(|word| word.text().map(quoted)).collect::<Option<_>>()?;
    let rule: Rule = format!("Bash({})", words.join(" ")).parse().ok()?;
    let covers = |pattern: &CommandPattern| pattern.names_all_of(part);
    matches!(&rule.scope, Scope::Command(pattern) if covers(pattern)).then(|| rule.to_string())
}

/// The rule that allows a line to write this file.
fn for_write(path: &Path, root: Option<&Path>) -> Option<String> {
    let within = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    for_call("Write", &Resource::Path(within.to_owned()))
}

/// A command as people read it.
fn in_words(part: &Part) -> String {
    let words: Vec<String> = part.words.iter().map(|word| word.text().map_or("…".to_owned(), quoted)).collect();
    printable(&words.join(" "))
}

/// A word as it has to be written in a rule.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./,:=@%+".contains(&byte);
    let is_plain = !word.is_empty() && word.bytes().all(plain);
    if is_plain { word.to_owned() } else { format!("'{word}'") }
}

/// A pattern for this path and nothing beside it.
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
