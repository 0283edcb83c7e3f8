//! `tools`: the tools that an agent may use.

use crate::agent_file::tool_list::{
    LATER, Name, OTHER_NAME_OF_TASK, TASK, did_you_mean, is_plain, names, not_plain, rules,
};
use crate::definition::agent_definition::{BASH, WITH_BASH};
use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::{Entry, Value};
use crate::text::hidden_characters::shown;
use std::collections::HashSet;

/// Grant of `tools`.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::agent_file) enum Granted {
    /// Everything that the parent may use.
    Inherited,
    /// Everything that these rules cover.
    These(Vec<String>),
}

/// Reads `tools`; `None`, and an error in the report, if its meaning is unclear.
pub(in crate::agent_file) fn granted(
    entry: &Entry,
    tools: &[String],
    report: &mut FileFindings<'_>,
) -> Option<Granted> {
    if entry.value.value == Value::Nothing {
        // An empty value could mean nothing or everything: the author must say.
        report.error(entry.line, "`tools` has no value", "write `tools: []` for none, or delete the line for all");
        return None;
    }
    let names = names(entry, report)?;
    if let [Name { text: "*", .. }] = names[..] {
        return Some(Granted::Inherited);
    }
    let mut granted: Vec<String> = Vec::new();
    let mut later: Vec<&Name<'_>> = Vec::new();
    for name in &names {
        match grant(name, tools) {
            Ok(rules) => granted.extend(rules),
            Err(Refusal::Later) => later.push(name),
            Err(Refusal::LooksAlike) => report.error(name.line, not_plain(name.text), "write it in plain letters"),
            Err(Refusal::Unknown { message, fix }) => report.error(name.line, message, fix),
            Err(Refusal::NoRule { message }) => report.strict(name.line, message, "fix it, or delete it"),
        }
    }
    if granted.iter().any(|rule| rule.split('(').next() == Some(BASH)) {
        granted.extend(tools.iter().filter(|tool| WITH_BASH.contains(&tool.as_str())).cloned());
    }
    let mut seen = HashSet::new();
    granted.retain(|rule| seen.insert(rule.clone()));
    say_what_comes_later(&later, report);
    if granted.is_empty() && !names.is_empty() {
        report.error(
            entry.line,
            "nothing remains of `tools`",
            format!("name at least one of {}; or write `tools: []` for none", tools.join(", ")),
        );
    }
    Some(Granted::These(granted))
}

/// Reason why a name grants nothing.
enum Refusal {
    /// The tool does not exist yet.
    Later,
    /// It has letters that are not what they seem.
    LooksAlike,
    /// The tool of no known program. An error in every dialect; ignoring it would misread the list.
    Unknown { message: String, fix: String },
    /// The tool is known, but its pattern is invalid.
    NoRule { message: String },
}

/// The rules granted by a name, perhaps with a pattern.
fn grant(name: &Name<'_>, tools: &[String]) -> Result<Vec<String>, Refusal> {
    let (tool, pattern) = name.parts();
    let unknown = |fix: String| Err(Refusal::Unknown { message: format!("unknown tool `{}`", shown(name.text)), fix });
    if let Some(tool) = tools.iter().find(|known| *known == canonical(tool)) {
        // Granting the whole tool would be more than the file asks for.
        rules(tool, pattern).map_err(|error| Refusal::NoRule { message: error.to_string() })
    } else if !is_plain(tool) {
        Err(Refusal::LooksAlike)
    } else if tool.starts_with("mcp__") {
        // The tools of a server are known only when it runs.
        rules(tool, pattern).map_err(|error| Refusal::NoRule { message: error.to_string() })
    } else if LATER.contains(&tool) {
        Err(Refusal::Later)
    } else if tool.contains(char::is_whitespace) {
        unknown("separate the names by commas".to_owned())
    } else {
        unknown(did_you_mean(tool, tools.iter().map(String::as_str), tools))
    }
}

/// Reports them in one finding: a file written for another program often has many.
fn say_what_comes_later(names: &[&Name<'_>], report: &mut FileFindings<'_>) {
    let Some(first) = names.first() else { return };
    let said: Vec<String> = names.iter().map(|name| format!("`{}`", shown(name.text))).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    let fix = match (report.is_ours(), names.len()) {
        (true, 1) => "delete it",
        (true, _) => "delete them",
        (false, 1) => "the agent works without it",
        (false, _) => "the agent works without them",
    };
    report.strict(first.line, format!("{} {are} not in this version", said.join(", ")), fix);
}

/// The name of the tool here.
fn canonical(name: &str) -> &str {
    if name == OTHER_NAME_OF_TASK { TASK } else { name }
}
