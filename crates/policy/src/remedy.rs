//! The rule that would have allowed a call.

use std::path::{Component, Path};

use sortie_protocol::Resource;

use crate::command::{Part, Word, analyse_in};
use crate::judge::Places;
use crate::rule::command::CommandPattern;
use crate::rule::{Rule, Scope};
use crate::tool::{Kind, canonical, kind};

/// The narrowest rule that covers this call.
///
/// `None` where no pattern can, or where it is not known what the call would touch: to allow all calls of such a tool
/// is nobody's advice.
pub fn remedy(tool: &str, resource: &Resource) -> Option<String> {
    let tool = canonical(tool);
    let rule = match (kind(tool), resource) {
        (Kind::Reading, Resource::Path(path)) => format!("Read({})", pattern(path)?),
        (Kind::Editing, Resource::Path(path)) => format!("Edit({})", pattern(path)?),
        (Kind::Shell, Resource::Command { line, directory }) => return for_line(line, directory),
        (Kind::Web, Resource::Host(host)) => format!("WebFetch(domain:{})", crate::rule::host::normal(host)?),
        (Kind::Delegating, Resource::Agent { name, .. }) => format!("Task({})", escaped(name)),
        (Kind::Companion | Kind::Notes | Kind::Mcp | Kind::Unknown, _) => tool.to_owned(),
        _ => return None,
    };
    rule.parse::<Rule>().ok().map(|rule| rule.to_string())
}

/// The same, as a rule that means the same in every workspace.
pub fn lasting_remedy(tool: &str, resource: &Resource, places: &Places) -> Option<String> {
    match resource {
        Resource::Path(path) => remedy(tool, &Resource::Path(places.root.as_ref()?.join(path))),
        resource => remedy(tool, resource),
    }
}

/// The rule for a line that is one command, and what that runs. None for a program that is named by a path from elsewhere
/// than the workspace root: in a rule, that path is another one's.
fn for_line(line: &str, directory: &Path) -> Option<String> {
    let analysis = analyse_in(line, None);
    let (first, rest) = analysis.parts.split_first()?;
    let program = first.words.first().and_then(Word::text).unwrap_or_default();
    let misplaced = program.contains('/') && !program.starts_with('/') && !directory.as_os_str().is_empty();
    let alone = !misplaced && rest.iter().all(|part| part.runner.is_some()) && analysis.writes.is_empty();
    for_part(first).filter(|_| alone && analysis.understood)
}

/// The rule that names one command in full; `None` where a rule cannot.
pub(crate) fn for_part(part: &Part) -> Option<String> {
    let words: Vec<String> = part.words.iter().map(|word| word.text().map(quoted)).collect::<Option<_>>()?;
    let rule: Rule = format!("Bash({})", words.join(" ")).parse().ok()?;
    let covers = |pattern: &CommandPattern| pattern.names_all_of(part);
    matches!(&rule.scope, Scope::Command(pattern) if covers(pattern)).then(|| rule.to_string())
}

/// The rule that allows a line to write this file.
pub(crate) fn for_write(path: &Path, root: Option<&Path>) -> Option<String> {
    let within = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    remedy("Write", &Resource::Path(within.to_owned()))
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
