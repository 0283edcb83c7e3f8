//! `fork` and `contextFiles`: the text that an agent begins with besides its own prompt.

use sortie_protocol::Fork;

use crate::agent_file::output_schema::json;
use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::{Entry, Value};

pub(super) fn fork(entry: &Entry, report: &mut FileFindings<'_>) -> Option<Fork> {
    let fork = Fork::read(&json(&entry.value));
    if fork.is_none() {
        let fix = "use true, false, or a number of turns of at least 1";
        report.error(entry.line, "`fork` has another kind of value", fix);
    }
    fork
}

/// File names, separated by commas or as a list. Without a value the agent gets no file.
pub(super) fn context_files(entry: &Entry, report: &mut FileFindings<'_>) -> Option<Vec<String>> {
    let names = match &entry.value.value {
        Value::Nothing => Some(Vec::new()),
        Value::Text(text) => Some(text.split(',').map(str::to_owned).collect()),
        Value::List(items) => items.iter().map(|item| text_of(&item.value)).collect(),
        Value::Map(_) => None,
    };
    let names: Option<Vec<String>> = names.map(|names| names.iter().map(|name| name.trim().to_owned()).collect());
    let names = names.filter(|names| names.iter().all(|name| !name.is_empty()));
    if names.is_none() {
        report.error(entry.line, "`contextFiles` is not a list of file names", "name files, or write `[]` for none");
    }
    names
}

fn text_of(value: &Value) -> Option<String> {
    if let Value::Text(text) = value { Some(text.clone()) } else { None }
}
