//! `name`: rules for the names of agents.
//!
//! People tell agents apart by name, so a name contains nothing that could pass for something else. Whether a name is
//! taken is not decided here.

use crate::agent_file::values::text;
use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::Entry;
use crate::text::hidden_characters::{self, shown};
use crate::text::look_alike::{first_styled, mixed_scripts};

const MAX_NAME_CHARS: usize = 64;

pub(super) fn name(entry: &Entry, report: &mut FileFindings<'_>) -> Option<String> {
    let name = text(entry, report)?;
    match obstacle(&name, report.is_ours()) {
        None => Some(name),
        Some((message, fix)) => {
            report.error(entry.line, message, fix);
            None
        }
    }
}

/// The fault of a name, and its fix.
fn obstacle(name: &str, ours: bool) -> Option<(String, &'static str)> {
    if let Some(found) = hidden_characters::first(name) {
        let message = format!("`name` has an invisible character, {}", hidden_characters::code(found.character));
        return Some((message, "delete it"));
    }
    if let Some((one, other)) = mixed_scripts(name) {
        let message = format!("`{}` cannot be a name: it mixes {one} letters with {other} ones", shown(name));
        return Some((message, "write it in letters of one script"));
    }
    if let Some(letter) = first_styled(name) {
        let message = format!("`{}` cannot be a name: `{letter}` stands in for a plain letter", shown(name));
        return Some((message, "write it in plain letters"));
    }
    let (good, rule) = if ours { (is_ours(name), OUR_RULE) } else { (is_foreign(name), FOREIGN_RULE) };
    if !good {
        return Some((format!("`{}` cannot be a name", shown(name)), rule));
    }
    let long = name.chars().count() > MAX_NAME_CHARS;
    long.then(|| (format!("a name longer than {MAX_NAME_CHARS} characters"), "shorten it"))
}

const OUR_RULE: &str = "use lower-case letters, digits and hyphens, a letter first";

pub(crate) fn is_ours(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

const FOREIGN_RULE: &str = "use letters and digits, no `:`, no `/` and no `-` at the beginning";

fn is_foreign(name: &str) -> bool {
    let odd_space = |c: char| c.is_whitespace() && c != ' ';
    !name.starts_with('-')
        && !name.contains([':', '/', '\\'])
        && name.chars().any(char::is_alphabetic)
        && !name.contains(char::is_control)
        && !name.contains(odd_space)
}
