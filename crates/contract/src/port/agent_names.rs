//! Names of agents: as tool descriptions list them, and as a dialect with types of its own calls them.

use sortie_protocol::{Failure, FailureCode};

use crate::{AgentLine, Defaults, TypeDefaults};

/// One line for each agent with a description: `- name: description`.
pub(crate) fn lines<'a>(agents: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let line = |(name, description): (&str, &str)| {
        // A line break in a description would make it look like another agent.
        let words: Vec<&str> = description.split_whitespace().collect();
        format!("\n- {name}: {}", words.join(" "))
    };
    agents.into_iter().filter(|(_, description)| !description.is_empty()).map(line).collect()
}

/// Names of agents without room for their descriptions.
pub(crate) fn undescribed<'a>(agents: impl IntoIterator<Item = &'a AgentLine>) -> Vec<&'a str> {
    agents.into_iter().filter(|agent| agent.description.is_empty()).map(|agent| agent.name.as_str()).collect()
}

/// Line about those agents, whose names are in the schema.
pub(crate) fn named_in_schema<'a>(agents: impl IntoIterator<Item = &'a AgentLine>) -> String {
    match undescribed(agents).len() {
        0 => String::new(),
        count => format!("\nand {count} more, which `subagent_type` lists by name alone"),
    }
}

/// The dialect's own types, each with the description of the agent that serves, or else with the dialect's own.
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

/// Returns the type that a name in this field means, in a dialect with fixed types.
pub(crate) fn fixed_type(defaults: &Defaults, field: &str, name: &str) -> Result<&'static TypeDefaults, Failure> {
    defaults.type_named(name).ok_or_else(|| {
        let known = names(defaults.types);
        let message = format!("there is no `{field}` `{name}`; it must be one of {}", known.join(", "));
        let mut sorted = known;
        sorted.sort_unstable();
        Failure::new(FailureCode::UnknownAgent, message).about(sorted)
    })
}
