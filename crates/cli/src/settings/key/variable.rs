//! Settings of variables. A name that no variable can have, such as one with `-`, can only be set in files and by
//! flags.

use sortie_llm::route::{LIGHT_ROUTE, MAIN_ROUTE};
use sortie_mcp::LEVEL_VARIABLE;
use sortie_protocol::nearest;
use sortie_tools::TASK_VARIABLE;

use super::meaning::{self, Entry, Meaning};
use super::{KEYS, Key};

const LIGHT_PREFIX: &str = "LIGHT_";
const OWN_PREFIX: &str = "SORTIE_";
/// Variables of ours that are not settings: the home directory, the task of a command, and those of our own tests.
const HOME: &str = "SORTIE_HOME";
const OF_TESTS: [&str; 2] = ["SORTIE_TEST_", "SORTIE_JOURNAL_TEST_"];

/// Form of a variable's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::settings) enum Form {
    /// Name that other programs use too: `LLM_MODEL_ID`.
    Shared,
    /// Path of the setting: `SORTIE_TASK_TOOL__MAX_DEPTH`. It is more specific, and so stronger.
    Own,
}

/// Meaning of a variable; `None` if it is not ours.
pub(in crate::settings) fn meaning(name: &str) -> Option<(Form, Meaning)> {
    if let Some(entry) = shared(name) {
        return Some((Form::Shared, Meaning::Setting(entry)));
    }
    let path = name.strip_prefix(OWN_PREFIX)?;
    if [HOME, LEVEL_VARIABLE, TASK_VARIABLE].contains(&name) || OF_TESTS.iter().any(|prefix| name.starts_with(prefix)) {
        return None;
    }
    let meaning = if path.contains("__") {
        meaning::of(&path.to_lowercase().replace("__", "."))
    } else {
        Meaning::Unknown(unknown(name))
    };
    Some((Form::Own, meaning))
}

/// Message about a variable with our prefix but no section.
fn unknown(name: &str) -> String {
    let of_key = |key: &&Key| [MAIN_ROUTE, LIGHT_ROUTE].map(|route| long_name(&key.path_of(route)));
    let candidates: Vec<String> = KEYS.iter().flat_map(of_key).chain([HOME.to_owned()]).collect();
    match nearest(name, candidates.iter().map(String::as_str)) {
        Some(near) => format!("no setting has this name; did you mean {near}?"),
        None => format!("no setting has this name; one is called like {}", long_name("task_tool.max_depth")),
    }
}

/// Variable of the setting at `path`.
fn long_name(path: &str) -> String {
    format!("{OWN_PREFIX}{}", path.replace('.', "__").to_uppercase())
}

/// Shared variable of a route's field, if there is one.
pub(in crate::settings) fn shared_name(key: &Key, route: &str) -> Option<String> {
    let variable = key.variable?;
    match route {
        MAIN_ROUTE => Some(variable.to_owned()),
        LIGHT_ROUTE => Some(format!("{LIGHT_PREFIX}{variable}")),
        _ => None,
    }
}

fn shared(name: &str) -> Option<Entry> {
    let (route, variable) = match name.strip_prefix(LIGHT_PREFIX) {
        Some(variable) => (LIGHT_ROUTE, variable),
        None => (MAIN_ROUTE, name),
    };
    let key = KEYS.into_iter().find(|key| key.variable == Some(variable))?;
    Some(Entry { key, path: key.path_of(route) })
}
