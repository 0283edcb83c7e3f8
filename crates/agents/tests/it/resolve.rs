//! What a definition means for one task.

use std::time::Duration;

use sortie_agents::{AgentDefinition, Registry, Resolution, resolve};
use sortie_protocol::{AgentConfig, Limits, ModelChoice};

use crate::tools;

fn config(definition: &AgentDefinition, parent: Option<&AgentConfig>, asked: Limits) -> AgentConfig {
    resolve(Resolution {
        definition,
        parent,
        asked,
        default_limits: Limits { timeout: Some(Duration::from_mins(5)), ..Limits::default() },
        model: ModelChoice { route: "main".to_owned(), id: "m".to_owned() },
        depth: parent.map_or(0, |parent| parent.depth + 1),
        tools: &tools(),
    })
}

#[test]
fn each_agent_has_the_tools_of_its_role() {
    let registry = Registry::builtin();
    let tools = |name: &str| config(registry.get(name).expect("built in"), None, Limits::default()).tools.join(" ");
    assert_eq!(tools("main"), "Read LS Glob Grep TodoWrite Task");
    assert_eq!(tools("general-purpose"), "Read LS Glob Grep TodoWrite Task");
    assert_eq!(tools("explore"), "Read LS Glob Grep");
    assert_eq!(tools("plan"), "Read LS Glob Grep TodoWrite");
    assert_eq!(tools("summary"), "Read LS Glob Grep");
}

#[test]
fn a_child_has_only_tools_that_its_parent_has() {
    let registry = Registry::builtin();
    let parent = config(registry.get("plan").expect("built in"), None, Limits::default());
    let child = config(registry.get("general-purpose").expect("built in"), Some(&parent), Limits::default());
    assert_eq!(child.tools.join(" "), "Read LS Glob Grep TodoWrite", "general-purpose below plan cannot delegate");
    assert_eq!(child.chain, ["plan", "general-purpose"]);
    assert_eq!(child.depth, 1);
}

#[test]
fn a_request_tightens_limits_and_never_widens_them() {
    let registry = Registry::builtin();
    let explore = registry.get("explore").expect("built in");
    let asked = Limits { max_turns: Some(99), timeout: Some(Duration::from_secs(10)), ..Limits::default() };
    let limits = config(explore, None, asked).limits;
    assert_eq!((limits.max_turns, limits.timeout), (Some(30), Some(Duration::from_secs(10))));
}

/// An agent that may use `tools` and not `disallowed`.
fn restricted(tools: Option<&[&str]>, disallowed: &[&str]) -> AgentDefinition {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    AgentDefinition {
        tools: tools.map(names),
        disallowed_tools: names(disallowed),
        ..Registry::builtin().get("general-purpose").expect("built in").clone()
    }
}

#[test]
fn what_a_definition_forbids_is_taken_from_what_it_allows_or_inherits() {
    let tools = |definition: &AgentDefinition| config(definition, None, Limits::default()).tools.join(" ");
    assert_eq!(tools(&restricted(None, &["Task", "Grep"])), "Read LS Glob TodoWrite");
    assert_eq!(tools(&restricted(Some(&["Read", "Task"]), &["Task"])), "Read");
    assert_eq!(tools(&restricted(Some(&["Read"]), &["Read"])), "");
    assert_eq!(tools(&restricted(Some(&[]), &[])), "", "an empty list is none, not all");
    assert_eq!(tools(&restricted(None, &["Bash"])), "Read LS Glob Grep TodoWrite Task", "what is not there");
}

#[test]
fn what_a_parent_is_forbidden_its_child_is_forbidden_too() {
    let parent = config(&restricted(None, &["Grep"]), None, Limits::default());
    let child = config(&restricted(Some(&["Read", "Grep"]), &["LS"]), Some(&parent), Limits::default());
    assert_eq!(child.tools, ["Read"]);
    let decide = |tool| sortie_policy::decide(&child.grant, tool);
    assert_eq!(decide("Read"), sortie_policy::Decision::Allow);
    let owner = "agent general-purpose".to_owned();
    assert_eq!(decide("Grep"), sortie_policy::Decision::Deny { owner }, "at the gate as well, not only in the list");
}
