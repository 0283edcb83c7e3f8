//! Agents as tool descriptions list them, and as a dialect with types of its own names them.

use sortie_protocol::Failure;

use crate::{AgentLine, Defaults, TypeDefaults};

/// One line for each: `- name: description`.
pub(crate) fn lines<'a>(agents: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let line = |(name, description): (&str, &str)| {
        // A description may have lines of its own, which would look like other agents.
        let words: Vec<&str> = description.split_whitespace().collect();
        format!("\n- {name}: {}", words.join(" "))
    };
    agents.into_iter().map(line).collect()
}

/// The dialect's own types with the words that it has for them.
pub(crate) fn types(types: &[TypeDefaults]) -> impl Iterator<Item = (&str, &str)> {
    types.iter().map(|known| (known.name, known.description.unwrap_or_default()))
}

pub(crate) fn names(types: &[TypeDefaults]) -> Vec<&str> {
    types.iter().map(|known| known.name).collect()
}

pub(crate) fn pair(agent: &AgentLine) -> (&str, &str) {
    (&agent.name, &agent.description)
}

/// The type that a name means in a dialect whose types are fixed.
pub(crate) fn fixed_type(defaults: &Defaults, name: &str) -> Result<&'static TypeDefaults, Failure> {
    defaults.type_named(name).ok_or_else(|| {
        let known = names(defaults.types);
        let message = format!("there is no `subagent_type` `{name}`; it must be one of {}", known.join(", "));
        let mut sorted = known;
        sorted.sort_unstable();
        Failure::new("unknown_agent", message).about(sorted)
    })
}
