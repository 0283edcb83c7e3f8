//! The rule that would have allowed a call.

use std::path::{Component, Path};

use sortie_protocol::Resource;

use crate::judge::Places;
use crate::rule::Rule;
use crate::rule::command::is_plain;
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
        (Kind::Shell, Resource::Command(command)) if is_plain(command) => format!("Bash({})", command.trim()),
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
