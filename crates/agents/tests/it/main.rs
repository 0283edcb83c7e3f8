//! Which agent a name means, and what a definition means for one task.

use std::time::Duration;

use expect_test::expect;
use sortie_agents::{AgentDefinition, Registry, Resolution, resolve};
use sortie_protocol::{AgentConfig, Limits, ModelChoice};

const TOOLS: [&str; 6] = ["Read", "LS", "Glob", "Grep", "TodoWrite", "Task"];

fn names(tools: &[&str]) -> Vec<String> {
    tools.iter().map(|&tool| tool.to_owned()).collect()
}

fn config(definition: &AgentDefinition, parent: Option<&AgentConfig>, asked: Limits) -> AgentConfig {
    resolve(Resolution {
        definition,
        parent,
        asked,
        default_limits: Limits { timeout: Some(Duration::from_mins(5)), ..Limits::default() },
        model: ModelChoice { route: "main".to_owned(), id: "m".to_owned() },
        depth: parent.map_or(0, |parent| parent.depth + 1),
        tools: &names(&TOOLS),
    })
}

#[test]
fn names_are_found_exactly_then_by_alias_and_without_regard_to_case() {
    let registry = Registry::builtin();
    for (asked, found) in [
        ("explore", "explore"),
        ("Explore", "explore"),
        (" EXPLORE ", "explore"),
        ("general", "general-purpose"),
        ("General-Purpose", "general-purpose"),
        ("main", "main"),
    ] {
        assert_eq!(registry.get(asked).map(|agent| agent.name.as_str()), Ok(found));
    }
}

#[test]
fn an_unknown_agent_is_named_with_those_that_there_are() {
    let error = Registry::builtin().get_delegable("wizard").expect_err("there is no wizard");
    expect!["unknown agent `wizard`; there are general-purpose, explore, plan, summary"].assert_eq(&error.to_string());
}

#[test]
fn nobody_delegates_to_the_main_agent() {
    assert!(Registry::builtin().get_delegable("main").is_err());
    assert!(Registry::builtin().delegable().all(|agent| agent.name != "main"));
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

#[test]
fn every_sub_agents_prompt_says_what_it_is_and_what_comes_back() {
    for agent in Registry::builtin().delegable() {
        for idea in ["You are a sub-agent", "tools you have", "only your last message goes back", "at most 500 tokens"]
        {
            assert!(agent.prompt.contains(idea), "the prompt of {} says {idea:?}", agent.name);
        }
    }
}
