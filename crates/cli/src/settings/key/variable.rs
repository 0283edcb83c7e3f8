//! The setting that a variable is about. A name that no variable can have, like one with `-`, is for files and flags.

use sortie_llm::route::{LIGHT_ROUTE, MAIN_ROUTE};
use sortie_protocol::nearest;
use sortie_tools::TASK_VARIABLE;

use super::meaning::{self, Entry, Meaning};
use super::{KEYS, Key};

const LIGHT_PREFIX: &str = "LIGHT_";
const OWN_PREFIX: &str = "SORTIE_";
/// Variables of ours that are no settings: where things are kept, whose command this is, and what the project's own
/// tests set.
const HOME: &str = "SORTIE_HOME";
const OF_TESTS: [&str; 2] = ["SORTIE_TEST_", "SORTIE_JOURNAL_TEST_"];

/// How a variable names its setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::settings) enum Form {
    /// By a name that other programs use too: `LLM_MODEL_ID`.
    Shared,
    /// By its path: `SORTIE_TASK_TOOL__MAX_DEPTH`. The more particular one, so it is the stronger.
    Own,
}

/// What a variable of this name sets; `None` for one that is none of ours.
pub(in crate::settings) fn meaning(name: &str) -> Option<(Form, Meaning)> {
    if let Some(entry) = shared(name) {
        return Some((Form::Shared, Meaning::Setting(entry)));
    }
    let path = name.strip_prefix(OWN_PREFIX)?;
    if [HOME, TASK_VARIABLE].contains(&name) || OF_TESTS.iter().any(|prefix| name.starts_with(prefix)) {
        return None;
    }
    let meaning = if path.contains("__") {
        meaning::of(&path.to_lowercase().replace("__", "."))
    } else {
        Meaning::Unknown(unknown(name))
    };
    Some((Form::Own, meaning))
}

/// What to say of a variable that has our prefix and names no section.
fn unknown(name: &str) -> String {
    let of_key = |key: &&Key| [MAIN_ROUTE, LIGHT_ROUTE].map(|route| long_name(&key.path_of(route)));
    let candidates: Vec<String> = KEYS.iter().flat_map(of_key).chain([HOME.to_owned()]).collect();
    match nearest(name, candidates.iter().map(String::as_str)) {
        Some(near) => format!("no setting has this name; did you mean {near}?"),
        None => format!("no setting has this name; one is called like {}", long_name("task_tool.max_depth")),
    }
}

/// The variable that sets the setting at `path`.
fn long_name(path: &str) -> String {
    format!("{OWN_PREFIX}{}", path.replace('.', "__").to_uppercase())
}

/// The variable in its shared form that sets this field of a route, if there is one.
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
