//! The configuration that a definition resolves to.

use std::time::Duration;

use sortie_agents::{AgentDefinition, Registry, Resolution, renew, resolve};
use sortie_policy::{Decision, Judge, Places};
use sortie_protocol::{AgentConfig, GrantLayer, Limits, Mode, ModelChoice, Money, Resource};

use crate::tools;

fn config(definition: &AgentDefinition, parent: Option<&AgentConfig>, asked: Limits) -> AgentConfig {
    below(&[], definition, parent, asked)
}

/// Resolves below the settings of the user and the project.
fn below(
    root_layers: &[GrantLayer],
    definition: &AgentDefinition,
    parent: Option<&AgentConfig>,
    asked: Limits,
) -> AgentConfig {
    resolve(Resolution {
        definition,
        parent,
        root_layers,
        asked,
        default_limits: Limits { timeout: Some(Duration::from_mins(5)), ..Limits::default() },
        model: ModelChoice { route: "main".to_owned(), id: "m".to_owned() },
        depth: parent.map_or(0, |parent| parent.depth + 1),
        tools: &tools(),
        output_schema: None,
    })
}

#[test]
fn each_agent_has_the_tools_of_its_role() {
    let registry = Registry::builtin();
    let tools = |name: &str| config(registry.get(name).expect("built in"), None, Limits::default()).tools.join(" ");
    let all = "Read LS Glob Grep Write Edit MultiEdit WebFetch TodoWrite Bash BashOutput KillShell Task";
    assert_eq!((tools("main"), tools("general-purpose")), (all.to_owned(), all.to_owned()));
    assert_eq!(tools("explore"), "Read LS Glob Grep");
    assert_eq!(tools("plan"), "Read LS Glob Grep TodoWrite");
    assert_eq!(tools("summary"), "Read LS Glob Grep");
    assert_eq!(tools("bash"), "Bash BashOutput KillShell");
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

fn turns(max: u32) -> Limits {
    Limits { max_turns: Some(max), ..Limits::default() }
}

#[test]
fn a_definition_tightens_the_defaults_and_only_sets_its_own_turns() {
    let registry = Registry::builtin();
    let bounded = |own: Limits, usual: Limits| {
        let explore = registry.get("explore").expect("built in").clone();
        sortie_agents::limits(&AgentDefinition { limits: own, ..explore }, usual, Limits::default())
    };
    let few = Limits {
        max_turns: Some(90),
        max_tokens: Some(1000),
        max_cost: Money::from_dollars(0.5),
        timeout: Some(Duration::from_secs(20)),
        idle: Some(Duration::from_secs(10)),
        max_children: Some(1),
    };
    let many = Limits {
        max_turns: None,
        max_tokens: Some(2000),
        max_cost: Money::from_dollars(1.0),
        timeout: Some(Duration::from_mins(5)),
        idle: None,
        max_children: Some(9),
    };
    assert_eq!(bounded(few, Limits::default()), few);
    assert_eq!(bounded(few, many), few);
    assert_eq!(bounded(Limits { max_turns: Some(90), ..many }, few), few, "it gives no more than holds");
    assert_eq!(bounded(Limits::default(), many), Limits { max_turns: Some(30), ..many });
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
fn denied_tools_are_removed_from_allowed_or_inherited_ones() {
    let tools = |definition: &AgentDefinition| config(definition, None, Limits::default()).tools.join(" ");
    let edits = "Write Edit MultiEdit WebFetch";
    assert_eq!(
        tools(&restricted(None, &["Task", "Grep"])),
        format!("Read LS Glob {edits} TodoWrite Bash BashOutput KillShell")
    );
    assert_eq!(tools(&restricted(Some(&["Read", "Task"]), &["Task"])), "Read");
    assert_eq!(tools(&restricted(Some(&["Read"]), &["Read"])), "");
    assert_eq!(tools(&restricted(Some(&[]), &[])), "", "an empty list is none, not all");
    let without_shell = format!("Read LS Glob Grep {edits} TodoWrite Task");
    assert_eq!(tools(&restricted(None, &["Bash"])), without_shell, "nor what belongs to it");
    assert_eq!(tools(&restricted(None, &["WebSearch"])), tools(&restricted(None, &[])), "what is not there");
}

#[test]
fn a_bare_name_is_one_tool_and_a_star_matches_several() {
    let tools = |definition: &AgentDefinition| config(definition, None, Limits::default()).tools.join(" ");
    let (read, edit) = (restricted(None, &["Read"]), restricted(None, &["Edit"]));
    assert_eq!(tools(&read), "LS Glob Grep Write Edit MultiEdit WebFetch TodoWrite Bash BashOutput KillShell Task");
    assert_eq!(tools(&edit), "Read LS Glob Grep Write MultiEdit WebFetch TodoWrite Bash BashOutput KillShell Task");
    assert_eq!(tools(&restricted(Some(&["Read", "Grep"]), &["Read"])), "Grep");
    assert_eq!(
        tools(&restricted(None, &["*edit", "web*"])),
        "Read LS Glob Grep Write TodoWrite Bash BashOutput KillShell Task"
    );
    assert_eq!(tools(&restricted(None, &["mcp__*__delete"])), tools(&restricted(None, &[])), "which nobody has");
}

#[test]
fn a_child_is_denied_whatever_its_parent_is_denied() {
    let parent = config(&restricted(None, &["Grep"]), None, Limits::default());
    let child = config(&restricted(Some(&["Read", "Grep"]), &["LS"]), Some(&parent), Limits::default());
    assert_eq!(child.tools, ["Read"]);
    assert_eq!(decision(&child, "Read", "a.rs"), Decision::Allow);
    let Decision::Deny(ground) = decision(&child, "Grep", "a.rs") else { panic!("not denied at the gate") };
    assert_eq!(ground.owner, "agent general-purpose");
}

fn decision(config: &AgentConfig, tool: &str, path: &str) -> Decision {
    let judge = Judge::new(&config.grant, Places::default()).expect("a grant that can be read");
    judge.decide(tool, &Resource::Path(path.into()))
}

#[test]
fn patterns_apply_to_arguments() {
    let definition = restricted(Some(&["Read", "Edit(docs/**)"]), &["Edit(docs/secret/**)"]);
    let config = config(&definition, None, Limits::default());
    assert_eq!(config.tools.join(" "), "Read Write Edit MultiEdit");
    assert_eq!(decision(&config, "Edit", "docs/a.md"), Decision::Allow);
    assert!(decision(&config, "Edit", "src/a.rs").is_denied());
    assert!(decision(&config, "Write", "docs/secret/a.md").is_denied());
    assert_eq!(decision(&config, "Read", "docs/secret/a.md"), Decision::Allow);
}

/// The user's settings: a mode, and allow rules.
fn settings(mode: Mode, allow: &[&str]) -> Vec<GrantLayer> {
    let allow = allow.iter().map(|&rule| rule.to_owned()).collect();
    vec![GrantLayer { mode: Some(mode), allow, ..GrantLayer::new("user settings") }]
}

#[test]
fn a_definitions_mode_only_narrows_and_leaves_allow_rules_alone() {
    let in_mode = |root: &[GrantLayer], mode: Mode| {
        let definition = AgentDefinition { mode: Some(mode), ..restricted(None, &[]) };
        let config = below(root, &definition, None, Limits::default());
        ["Read", "Edit", "WebFetch"].map(|tool| match decision(&config, tool, "src/a.rs") {
            Decision::Allow => "allow",
            Decision::Ask(_) => "ask",
            Decision::Deny(_) => "deny",
        })
    };
    assert_eq!(in_mode(&settings(Mode::Default, &[]), Mode::AcceptEdits), ["allow", "ask", "ask"], "not wider");
    assert_eq!(in_mode(&settings(Mode::Bypass, &[]), Mode::AcceptEdits), ["allow", "allow", "ask"]);
    assert_eq!(in_mode(&settings(Mode::Bypass, &[]), Mode::Default), ["allow", "ask", "ask"]);
    assert_eq!(in_mode(&settings(Mode::Bypass, &[]), Mode::Plan), ["allow", "deny", "ask"]);
    assert_eq!(in_mode(&settings(Mode::Default, &["Edit"]), Mode::Default), ["allow", "allow", "ask"]);
    assert_eq!(in_mode(&settings(Mode::Default, &["Edit", "WebFetch"]), Mode::Plan), ["allow", "deny", "allow"]);
}

#[test]
fn an_agent_that_never_asks_is_refused_calls_that_need_approval() {
    let definition = AgentDefinition { never_asks: true, ..restricted(None, &[]) };
    let config = below(&settings(Mode::Default, &["Edit(docs/**)"]), &definition, None, Limits::default());
    assert_eq!(decision(&config, "Edit", "docs/a.md"), Decision::Allow);
    assert!(decision(&config, "Edit", "src/a.rs").is_denied());
    assert!(!config.tools.contains(&"WebFetch".to_owned()), "what can only be refused is not offered");
}

#[test]
fn approved_reads_need_no_question_and_can_still_be_denied() {
    let definition = AgentDefinition { approves_reads: true, ..restricted(None, &[]) };
    let mut root = settings(Mode::Default, &[]);
    root[0].ask = vec!["Read".to_owned()];
    root[0].deny = vec!["Read(.env)".to_owned()];
    let config = below(&root, &definition, None, Limits::default());
    assert_eq!(decision(&config, "Grep", "src/a.rs"), Decision::Allow);
    assert!(decision(&config, "Read", ".env").is_denied());
    assert!(matches!(decision(&config, "Edit", "src/a.rs"), Decision::Ask(_)));
}

#[test]
fn a_stored_grant_is_narrowed_only_by_its_current_definition() {
    let registry = Registry::builtin();
    let before = registry.get("explore").expect("built in");
    let stored = config(before, None, Limits::default()).grant;
    let offered = |grant| sortie_policy::offerable(&grant, &tools()).join(" ");
    let renewed = |definition: &AgentDefinition| renew(&stored, definition, &tools());
    assert_eq!(renewed(before), stored, "the same adds nothing");
    let words = AgentDefinition { prompt: "Look.".to_owned(), limits: turns(1), ..before.clone() };
    assert_eq!(renewed(&words), stored, "and neither do words or turns");
    let more = AgentDefinition { tools: None, approves_reads: true, ..before.clone() };
    assert_eq!(offered(renewed(&more)), "Read LS Glob Grep", "no tool is gained");
    assert!(renewed(&more).layers.iter().all(|layer| !layer.approves_reads), "and nothing is approved");
    let less = AgentDefinition { disallowed_tools: vec!["Grep".to_owned()], ..before.clone() };
    assert_eq!(offered(renewed(&less)), "Read LS Glob");
    assert_eq!(renew(&renewed(&less), &less, &tools()), renewed(&less), "however often it resumes");
}
