//! Names of agents: as tool descriptions list them, and as a dialect with types of its own has them.

use sortie_protocol::{Failure, FailureCode};

use crate::{AgentLine, Defaults, TypeDefaults};

/// One line for each that has a description: `- name: description`.
pub(crate) fn lines<'a>(agents: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let line = |(name, description): (&str, &str)| {
        // A description may have lines of its own, which would look like other agents.
        let words: Vec<&str> = description.split_whitespace().collect();
        format!("\n- {name}: {}", words.join(" "))
    };
    agents.into_iter().filter(|(_, description)| !description.is_empty()).map(line).collect()
}

/// The names of those for whose descriptions there was no room.
pub(crate) fn undescribed<'a>(agents: impl IntoIterator<Item = &'a AgentLine>) -> Vec<&'a str> {
    agents.into_iter().filter(|agent| agent.description.is_empty()).map(|agent| agent.name.as_str()).collect()
}

/// The line for those, where the schema has their names.
pub(crate) fn named_in_schema<'a>(agents: impl IntoIterator<Item = &'a AgentLine>) -> String {
    match undescribed(agents).len() {
        0 => String::new(),
        count => format!("\nand {count} more, which `subagent_type` lists by name alone"),
    }
}

/// The dialect's own types, each described as the agent that serves is; in the dialect's own words where none does.
pub(crate) fn types<'a>(
    types: &'a [TypeDefaults],
    agents: &'a [AgentLine],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    types.iter().map(|known| {
        let is_serving =
            |agent: &&AgentLine| agent.name.eq_ignore_ascii_case(known.agent) && !agent.description.is_empty();
        let serving = agents.iter().find(is_serving);
        (known.name, serving.map_or(known.description.unwrap_or_default(), |agent| &agent.description))
    })
}

pub(crate) fn names(types: &[TypeDefaults]) -> Vec<&str> {
    types.iter().map(|known| known.name).collect()
}

pub(crate) fn pair(agent: &AgentLine) -> (&str, &str) {
    (&agent.name, &agent.description)
}

/// The type that a name in this field means, in a dialect whose types are fixed.
pub(crate) fn fixed_type(defaults: &Defaults, field: &str, name: &str) -> Result<&'static TypeDefaults, Failure> {
    defaults.type_named(name).ok_or_else(|| {
        let known = names(defaults.types);
        let message = format!("there is no `{field}` `{name}`; it must be one of {}", known.join(", "));
        let mut sorted = known;
        sorted.sort_unstable();
        Failure::new(FailureCode::UnknownAgent, message).about(sorted)
    })
}
