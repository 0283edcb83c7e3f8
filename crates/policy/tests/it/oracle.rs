//! A second implementation of the same decisions: slow, on plain strings, rule by rule, with nothing prepared. It
//! shares no code with the implementation it checks and knows only the words that the property test draws from.

use std::path::Path;

use sortie_protocol::{GrantLayer, Mode, Resource};

use super::support::Verdict::{self, Allow, Ask, Deny};
use super::support::command;

const HOME: &str = "/people/me/";
const ROOT: &str = "/people/me/project/";
const ADDED: [&str; 2] = ["/srv/data/", "/srv/src/"];

/// The verdict of all layers together.
pub(crate) fn decide(layers: &[GrantLayer], tool: &str, resource: &Resource) -> Verdict {
    if is_unclear(resource) || is_edit(tool) && is_protected(resource) {
        return Deny;
    }
    let mut so_far = Allow;
    for layer in layers {
        if layer.approves_reads && is_read(tool) && so_far == Ask {
            so_far = Allow;
        }
        so_far = so_far.max(layer_says(layer, tool, resource));
        if layer.never_asks && so_far == Ask {
            so_far = Deny;
        }
    }
    so_far
}

fn layer_says(layer: &GrantLayer, tool: &str, resource: &Resource) -> Verdict {
    let any = |rules: &[String], list: List| hold(rules, list, tool, resource);
    let changes = is_edit(tool) || tool == "Bash" || tool.starts_with("mcp__") || tool == "Novelty";
    let admitted = layer.tools.as_ref().is_none_or(|tools| any(tools, List::Tools));
    if !admitted || any(&layer.deny, List::Deny) || layer.mode == Some(Mode::Plan) && changes {
        Deny
    } else if any(&layer.ask, List::Ask) {
        Ask
    } else if any(&layer.allow, List::Allow) {
        Allow
    } else {
        match layer.mode {
            None | Some(Mode::Bypass) => Allow,
            Some(Mode::AcceptEdits) if is_edit(tool) => Allow,
            Some(_) if changes || tool == "WebFetch" => Ask,
            Some(_) => Allow,
        }
    }
}

/// True if some rule is about a call. For a line: if a rule is about some part, or several are about all of it.
fn hold(rules: &[String], list: List, tool: &str, resource: &Resource) -> bool {
    let any = |tool: &str, resource: &Resource| rules.iter().any(|rule| covers(rule, list, tool, resource));
    let Resource::Command { line, .. } = resource else { return any(tool, resource) };
    let mut parts = line.split([';', '|']).map(|part| command(part.trim()));
    if any(tool, &Resource::Nothing) {
        true
    } else if list == List::Deny || list == List::Ask {
        // It runs whatever its settings name, so it could be any command.
        let could_be_any = line == "git difftool" && rules.iter().any(|rule| rule.to_lowercase().starts_with("bash("));
        could_be_any
            || parts.any(|part| any(tool, &part))
            || line.contains("rm ") && any("Write", &Resource::Path("x".into()))
    } else {
        !line.contains('$') && line != "git difftool" && parts.all(|part| any(tool, &part))
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum List {
    Tools,
    Deny,
    Ask,
    Allow,
}

fn is_read(tool: &str) -> bool {
    "Read LS Glob Grep".split(' ').any(|name| name == tool)
}

fn is_edit(tool: &str) -> bool {
    "Edit Write MultiEdit".split(' ').any(|name| name == tool)
}

fn task(name: &str) -> &str {
    if ["task", "Agent"].contains(&name) { "Task" } else { name }
}

fn covers(rule: &str, list: List, tool: &str, resource: &Resource) -> bool {
    let forbids = list == List::Deny || list == List::Ask;
    let (name, pattern) = match rule.find('(') {
        Some(open) => (&rule[..open], Some(&rule[open + 1..rule.len() - 1])),
        None => (rule, None),
    };
    let tool = task(tool);
    let named = match name {
        "bash" => {
            if forbids {
                "Bash"
            } else {
                "bash"
            }
        }
        other => task(other),
    };
    let of_tool = match named {
        _ if named == tool => true,
        "Read" | "Edit" if list == List::Tools && pattern.is_none() => false,
        "Read" => is_read(tool) || forbids && is_edit(tool),
        "Edit" => is_edit(tool),
        "Task" => forbids && tool == "SendMessage",
        "Bash" => list == List::Deny && ["BashOutput", "KillShell"].contains(&tool),
        "mcp__db" | "mcp__db__*" => tool.starts_with("mcp__db__"),
        _ => false,
    };
    of_tool && pattern.is_none_or(|pattern| pattern_covers(pattern, forbids, resource))
}

fn pattern_covers(pattern: &str, forbids: bool, resource: &Resource) -> bool {
    if pattern == "*" || pattern == "**" || pattern == "domain:*" {
        return true;
    }
    match resource {
        Resource::Nothing => false,
        Resource::Path(path) => path_covers(pattern, forbids, path),
        Resource::Command { line, .. } => command_covers(pattern, line),
        Resource::Host(host) => match pattern.strip_prefix("domain:") {
            None => false,
            Some(name) if name.starts_with("*.") => plain_host(host).ends_with(&name[1..]),
            Some(name) => plain_host(host) == plain_host(name),
        },
        Resource::Agent { name, aliases } => {
            [name].into_iter().chain(aliases).any(|name| pattern.to_lowercase() == name.to_lowercase())
        }
    }
}

fn plain_host(host: &str) -> String {
    host.to_lowercase().trim_end_matches('.').replace("bücher", "xn--bcher-kva")
}

fn command_covers(pattern: &str, command: &str) -> bool {
    match pattern.strip_suffix(":*") {
        Some(start) => command == start || command.starts_with(&format!("{start} ")),
        None => command == pattern,
    }
}

/// Turns everything into one absolute path and one pattern from the root of the file system, compared letter by letter.
fn path_covers(pattern: &str, forbids: bool, path: &Path) -> bool {
    let path = path.to_str().unwrap();
    let absolute = if path.starts_with('/') { path.to_owned() } else { format!("{ROOT}{path}") };
    let form = |text: &str| if forbids { text.replace('ｓ', "s").to_lowercase() } else { text.to_owned() };
    let whole = |pattern: String| {
        let pattern = form(pattern.trim_end_matches('/').trim_end_matches("/**"));
        let absolute = form(absolute.trim_end_matches('/'));
        let ends = absolute.char_indices().filter(|(_, character)| *character == '/').map(|(at, _)| at);
        ends.chain([absolute.len()]).any(|end| like(pattern.as_bytes(), &absolute.as_bytes()[..end]))
    };
    if let Some(rest) = pattern.strip_prefix("//") {
        whole(format!("/{rest}"))
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        whole(format!("{HOME}{rest}"))
    } else if let Some(rest) = pattern.strip_prefix('/') {
        whole(format!("{ROOT}{rest}"))
    } else if pattern.trim_end_matches('/').contains('/') && !pattern.starts_with("**/") {
        whole(format!("{ROOT}{pattern}"))
    } else {
        let start = match ADDED.iter().find(|added| path.starts_with(*added)) {
            Some(added) if !forbids => added,
            _ if path.starts_with('/') => "/",
            _ => ROOT,
        };
        whole(format!("{start}**/{}", pattern.trim_start_matches("**/")))
    }
}

/// Matches `*` and `?` within a component and `**/` across, by trying everything.
fn like(pattern: &[u8], text: &[u8]) -> bool {
    if let Some(rest) = pattern.strip_prefix(b"**/") {
        let starts = text.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        return [0].into_iter().chain(starts).any(|start| like(rest, &text[start..]));
    }
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) if like(rest, text) => true,
        (Some((b'*', _)), Some((byte, text))) => *byte != b'/' && like(pattern, text),
        (Some((b'?', rest)), Some((byte, text))) => *byte != b'/' && like(rest, text),
        (Some((own, rest)), Some((byte, text))) => own == byte && like(rest, text),
        _ => false,
    }
}

fn is_unclear(resource: &Resource) -> bool {
    match resource {
        Resource::Path(path) => path.to_str().unwrap().contains(".."),
        Resource::Host(host) => host.contains(' '),
        _ => false,
    }
}

fn is_protected(resource: &Resource) -> bool {
    let Resource::Path(path) = resource else { return false };
    let path = path.to_str().unwrap().to_lowercase();
    [".git/", ".sortie/", "git~1/", "/.bashrc", "/var/lib/sortie/"]
        .iter()
        .any(|name| format!("/{path}/").contains(name))
        || path == ".bashrc"
}
