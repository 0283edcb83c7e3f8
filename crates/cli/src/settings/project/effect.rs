//! Effects of trust in a project's settings, a line for each, so that a person can decide.

use std::path::Path;

use super::used_variables;
use crate::environment::{self, Environment, PROJECT_CONFIG, PROJECT_VARIABLES, env_file};
use crate::error::CommandError;
use crate::settings::config_file::{self, FileValue, Remark};
use crate::settings::key::meaning::Meaning;
use crate::settings::key::{API_KEY, BASE_URL, Key, variable};
use crate::settings::layers::{Layers, SetAside};
use crate::settings::route;
use crate::settings::value::{Kind, Value};

/// Most lines about entries of a file that have no effect.
const MOST_UNUSED: usize = 40;

/// Effect that needs trust, and its importance.
struct Power {
    urgency: u8,
    text: String,
}

/// Every effect of trust in the project's configuration, addresses and keys first. An invalid file is an error.
pub(crate) fn of_config(bytes: &[u8]) -> Result<Vec<String>, CommandError> {
    let text = String::from_utf8_lossy(bytes);
    let layer = config_file::flawless(Path::new(PROJECT_CONFIG), &text)?;
    let unused: Vec<String> =
        layer.ignored.iter().map(|Remark { line, what }| format!("line {line}: {what}")).collect();
    // Compared with the defaults: the user's settings may change.
    let values = Layers::default().add_narrower(layer).into_iter().map(|SetAside { value, .. }| value);
    let said = |FileValue { entry, value, line }: FileValue| said(line, &entry.path, entry.key, &value);
    Ok(in_order(values.map(said).collect()).into_iter().chain(bounded(unused)).collect())
}

/// Variables of the project's `.env` that would count. An invalid one is an error.
pub(crate) fn of_variables(bytes: &[u8]) -> Result<Vec<String>, CommandError> {
    let (mut assignments, _) = env_file::parse(&String::from_utf8_lossy(bytes));
    assignments.retain(|assignment| !environment::is_reserved(&assignment.name) && !assignment.value.is_empty());
    let names: Vec<&str> = assignments.iter().map(|assignment| assignment.name.as_str()).collect();
    let used = used_variables(&names, &Layers::default(), &Environment::default());
    let others = names.len() - used.len();
    let mut powers = Vec::new();
    for env_file::FileVariable { name, value, line } in &assignments {
        match variable::meaning(name) {
            Some((_, Meaning::Setting(entry))) => {
                let values = entry
                    .parse(value)
                    .map_err(|what| CommandError::config(format!("{PROJECT_VARIABLES}:{line}: {what}")))?;
                powers.extend(values.iter().map(|value| said(*line, name, entry.key, value)));
            }
            _ if route::address_variables().any(|variable| variable == name) => {
                powers.push(said(*line, name, &BASE_URL, &Value::Text(value.clone().into())));
            }
            _ if used.contains(&name.as_str()) => {
                powers.push(said(*line, name, &API_KEY, &Value::Text(value.clone().into())));
            }
            _ => {}
        }
    }
    let others = match others {
        0 => None,
        1 => Some("has 1 more variable, which counts only where `api_key_env` names it".to_owned()),
        others => Some(format!("has {others} more variables, which count only where `api_key_env` names one")),
    };
    Ok(in_order(powers).into_iter().chain(others).collect())
}

fn said(line: usize, name: &str, key: &Key, value: &Value) -> Power {
    let (kind, shown) = (key.kind, key.kind.render(value));
    let text = if key.is_never_a_projects(value) {
        format!("line {line}: sets {name} = {shown}, which never counts from a project")
    } else if let Value::Hook(hook) = value {
        format!("line {line}: runs {}, with your rights and without walls", hook.in_words())
    } else if let Value::Server(server) = value {
        format!("line {line}: MCP server `{}` {}, with your rights", server.name, server.in_words())
    } else if kind.is_list() {
        format!("line {line}: adds {shown} to {name}")
    } else if matches!(kind, Kind::Url) {
        format!("line {line}: sets {name} = {shown}: your requests, and the key of this route, go there")
    } else {
        format!("line {line}: sets {name} = {shown}")
    };
    Power { urgency: kind.urgency(), text }
}

fn in_order(mut powers: Vec<Power>) -> Vec<String> {
    powers.sort_by_key(|power| power.urgency);
    powers.into_iter().map(|power| power.text).collect()
}

/// First lines, and a count of the rest.
fn bounded(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST_UNUSED);
    lines.truncate(MOST_UNUSED);
    lines.extend((more > 0).then(|| format!("and {more} more lines like these, in the file")));
    lines
}
