//! An entry in a YAML file with block mappings, as Goose writes it. Any other form stays as it is.

use serde_json::Value;

use super::host::NAME;
use super::merged::Merged;

const SECTION: &str = "extensions";
const STEP: &str = "  ";

/// The section with this entry alone.
pub(super) fn lines(entry: &Value) -> String {
    format!("{SECTION}:\n{}", indented(entry, STEP))
}

fn indented(entry: &Value, indent: &str) -> String {
    let fields = entry.as_object().into_iter().flatten();
    // JSON is YAML.
    let fields: Vec<String> = fields.map(|(key, value)| format!("{indent}{STEP}{key}: {value}\n")).collect();
    format!("{indent}{NAME}:\n{}", fields.concat())
}

pub(super) fn merged(text: &str, entry: &Value) -> Merged {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.iter().any(|line| line.starts_with("---") || line.starts_with("...") || line.starts_with('\t')) {
        return Merged::unclear("has several documents, or tabs");
    }
    let is_of_section = |line: &&str| line.strip_prefix(SECTION).is_some_and(|rest| rest.trim_start().starts_with(':'));
    let Some(place) = lines.iter().position(is_of_section) else {
        let is_mapping = lines.iter().all(|line| is_blank(line) || line.starts_with(' ') || line.contains(':'));
        if !is_mapping {
            return Merged::unclear("is not a list of keys and values");
        }
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Merged::Into(format!("{text}{gap}{}", self::lines(entry)));
    };
    let rest = lines[place].split_once(':').map(|(_, rest)| rest.trim()).unwrap_or_default();
    if !(rest.is_empty() || rest.starts_with('#')) {
        return Merged::unclear(format!("has something after `{SECTION}:` in its line"));
    }
    let below = &lines[place + 1..];
    let end = below.iter().position(|line| !is_blank(line) && !line.starts_with(' ')).unwrap_or(below.len());
    let members = &below[..end];
    let indent = members.iter().find(|line| !is_blank(line)).map_or(STEP.len(), |line| indent_of(line));
    let indent = " ".repeat(indent);
    let wanted = indented(entry, &indent);
    if members.concat().contains(&wanted) {
        return Merged::Present;
    }
    let is_named = |line: &&str| {
        line.strip_prefix(&*indent).and_then(|line| line.trim_end().strip_suffix(':')).is_some_and(is_the_name)
    };
    if members.iter().any(is_named) {
        return Merged::Taken;
    }
    let (before, after) = (lines[..=place].concat(), below.concat());
    let gap = if before.ends_with('\n') { "" } else { "\n" };
    Merged::Into(format!("{before}{gap}{wanted}{after}"))
}

fn is_the_name(key: &str) -> bool {
    key.trim_matches(['"', '\'']) == NAME
}

/// True for an empty line and for a comment.
fn is_blank(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}
