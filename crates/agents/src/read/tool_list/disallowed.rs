//! `disallowedTools`: what an agent may not use, whatever else is said. A denial is understood or an error, never lost.

use super::{LATER, Name, OTHER_NAME_OF_TASK, TASK, did_you_mean, is_plain, names, not_plain};
use crate::read::hidden::shown;
use crate::read::report::Report;
use crate::read::yaml::Entry;
use sortie_protocol::nearest;

/// What people put between names besides commas.
const SEPARATORS: [char; 4] = [' ', ';', '|', '&'];

/// The tools that are taken away. A name that no tool has stays in the list: it holds when such a tool comes.
pub(in crate::read) fn disallowed(entry: &Entry, tools: &[String], report: &mut Report<'_>) -> Vec<String> {
    let mut denied: Vec<String> = Vec::new();
    for Name { text, line } in names(entry, report).unwrap_or_default() {
        if !is_plain(text) {
            report.error(line, not_plain(text), "write it in plain letters");
            continue;
        }
        let whole = text.split_once('(').map_or(text, |(whole, _)| whole.trim_end());
        if whole != text && !whole.is_empty() {
            let message = format!("`{}` takes away `{whole}` as a whole", shown(text));
            report.warning(line, message, format!("write `{whole}`; patterns do not work in this version"));
        }
        if whole.contains(SEPARATORS) {
            report.strict(line, format!("`{}` is more than one name", shown(whole)), "separate the names by commas");
        }
        let mut parts = whole.split(SEPARATORS).filter(|part| !part.is_empty()).peekable();
        if parts.peek().is_none() {
            report.error(line, format!("`{}` names no tool", shown(text)), "name one, or delete it");
        }
        for name in parts.flat_map(|part| denied_by(&Name { text: part, line }, tools, report)) {
            if !denied.contains(&name) {
                denied.push(name);
            }
        }
    }
    denied
}

/// The tools that one name takes away.
fn denied_by(name: &Name<'_>, tools: &[String], report: &mut Report<'_>) -> Vec<String> {
    let &Name { text, line } = name;
    let known = || tools.iter().map(String::as_str).chain(LATER);
    if text == "*" {
        report.error(line, "`*` would take away every tool", "write `tools: []`");
        return Vec::new();
    }
    // No server's tools are known here, so these are kept as they are.
    if text.starts_with("mcp__") {
        return vec![text.to_owned()];
    }
    if text.contains('*') && report.is_ours() {
        report.error(line, format!("`{}` is a pattern", shown(text)), "name each tool");
        return Vec::new();
    }
    let hits = hits(text, known());
    if !hits.is_empty() {
        return hits;
    }
    let (message, fix) = (format!("unknown tool `{}`", shown(text)), did_you_mean(text, known(), tools));
    let word = text.strip_suffix('*').unwrap_or(text);
    let is_word = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_word || nearest(text, known()).is_some() {
        // It may well be meant for a tool that the agent would then have.
        report.error(line, message, fix);
    } else {
        report.strict(line, message, fix);
    }
    vec![text.to_owned()]
}

/// The known tools that a name or a pattern means, in whatever case.
fn hits<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let pattern = text.to_ascii_lowercase();
    let is_hit = |name: &str| matches(&pattern, &name.to_ascii_lowercase());
    let is_task = |tool: &str| tool == TASK && is_hit(OTHER_NAME_OF_TASK);
    known.filter(|tool| is_hit(tool) || is_task(tool)).map(str::to_owned).collect()
}

/// Whether a name is what a pattern describes; `*` is any number of characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_is_any_number_of_characters() {
        for (pattern, name, hit) in [
            ("read", "read", true),
            ("read", "reads", false),
            ("re*", "read", true),
            ("*", "read", true),
            ("*ad", "read", true),
            ("r*d", "read", true),
            ("*e*a*", "read", true),
            ("re*", "grep", false),
            ("*x*", "read", false),
            ("read*d", "read", false),
            ("r*e*d*", "reed", true),
        ] {
            assert_eq!(matches(pattern, name), hit, "{pattern} {name}");
        }
    }
}
