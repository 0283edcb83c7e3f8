//! `disallowedTools`: the tools that an agent may not use, whatever else the file says. A denial is understood or an
//! error, never lost.

use crate::agent_file::tool_list::{LATER, Name, OTHER_NAMES, did_you_mean, is_plain, names, not_plain};
use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::Entry;
use crate::text::hidden_characters::shown;

/// Separators that people use besides commas.
const SEPARATORS: [char; 4] = [' ', ';', '|', '&'];

/// The denied tools, as rules. An unknown name stays in the list and applies once such a tool exists.
pub(in crate::agent_file) fn disallowed(entry: &Entry, tools: &[String], report: &mut FileFindings<'_>) -> Vec<String> {
    let mut denied: Vec<String> = Vec::new();
    for name in names(entry, report).unwrap_or_default() {
        let (whole, _) = name.parts();
        if !is_plain(whole) {
            report.error(name.line, not_plain(whole), "write it in plain letters");
            continue;
        }
        let rules = if whole.contains(SEPARATORS) || whole.is_empty() {
            denied_by_several(&name, whole, tools, report)
        } else {
            denied_in_part(&name, tools, report)
        };
        for rule in rules {
            if !denied.contains(&rule) {
                denied.push(rule);
            }
        }
    }
    denied
}

/// Denies all names of a badly separated list, each without its pattern.
fn denied_by_several(name: &Name<'_>, whole: &str, tools: &[String], report: &mut FileFindings<'_>) -> Vec<String> {
    let line = name.line;
    if !whole.is_empty() {
        report.strict(line, format!("`{}` is more than one name", shown(whole)), "separate the names by commas");
    }
    let mut parts = whole.split(SEPARATORS).filter(|part| !part.is_empty()).peekable();
    if parts.peek().is_none() {
        report.error(line, format!("`{}` names no tool", shown(name.text)), "name one, or delete it");
    }
    parts.flat_map(|part| denied_by(&Name { text: part, line }, tools, report)).collect()
}

/// Denies one name, within its pattern.
fn denied_in_part(name: &Name<'_>, tools: &[String], report: &mut FileFindings<'_>) -> Vec<String> {
    let (whole, pattern) = name.parts();
    let denied = denied_by(&Name { text: whole, line: name.line }, tools, report);
    if pattern.is_empty() {
        return denied;
    }
    let mut rules = Vec::new();
    for tool in denied {
        match crate::agent_file::tool_list::rules(&tool, pattern) {
            Ok(more) => rules.extend(more),
            Err(error) => {
                report.error(name.line, error.to_string(), format!("fix it, or write `{}`", shown(whole)));
                break;
            }
        }
    }
    rules
}

/// The tools that one name denies.
fn denied_by(name: &Name<'_>, tools: &[String], report: &mut FileFindings<'_>) -> Vec<String> {
    let &Name { text, line } = name;
    let known = || tools.iter().map(String::as_str).chain(LATER);
    if text == "*" {
        report.error(line, "`*` would deny every tool", "write `tools: []`");
        return Vec::new();
    }
    // The tools of servers are not known here, so these are kept unchanged.
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
    // It may well mean a tool that the agent would otherwise have.
    report.error(line, format!("unknown tool `{}`", shown(text)), did_you_mean(text, known(), tools));
    vec![text.to_owned()]
}

/// The known tools that a name or a pattern matches, ignoring case. A tool's foreign name is also kept, in case a tool
/// of that name appears.
fn hits<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let pattern = text.to_ascii_lowercase();
    let is_hit = |name: &str| matches(&pattern, &name.to_ascii_lowercase());
    let others = || OTHER_NAMES.iter().filter(|(other, _)| is_hit(other));
    let is_meant = |tool: &str| is_hit(tool) || others().any(|(_, meant)| *meant == tool);
    let meant = known.filter(|tool| is_meant(tool));
    meant.chain(others().map(|(other, _)| *other)).map(str::to_owned).collect()
}

/// True if a name matches a pattern; `*` stands for any number of characters.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
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
    use crate::agent_file::tool_list::disallowed::matches;

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
