//! Tools worth offering, and walks that have to ask about each file.

use sortie_protocol::{GrantLayer, Mode};

use super::support::{TOOLS, allow, ask, deny, in_mode, judge, settings, texts, tools};

fn offered(layers: impl IntoIterator<Item = GrantLayer>) -> String {
    let judge = judge(layers);
    TOOLS.into_iter().filter(|tool| judge.admits_some(tool)).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_tool_is_offered_unless_every_call_of_it_is_denied() {
    assert_eq!(offered([tools(&["Read", "Grep"])]), "Read Grep");
    assert_eq!(offered([tools(&["Read(src/**)"])]), "Read LS Glob Grep");
    assert_eq!(offered([tools(&[])]), "");
    assert_eq!(offered([tools(&["Task", "Bash"]), deny(&["Bash"])]), "Task task Agent");
    assert_eq!(offered([tools(&["Bash"]), deny(&["Bash(rm:*)"])]), "Bash", "some calls are left");
    assert_eq!(offered([tools(&["Bash"]), deny(&["Bash(*)"])]), "");
    assert_eq!(offered([tools(&["Bash", "WebFetch", "Edit", "mcp__db"]), in_mode(Mode::Plan)]), "WebFetch");
    assert_eq!(offered([tools(&["Bash"]), ask(&["Bash"])]), "Bash", "a person may approve");
}

#[test]
fn tools_for_background_commands_need_commands() {
    let shell = ["Bash", "BashOutput", "KillShell"];
    assert_eq!(offered([tools(&shell)]), "Bash BashOutput KillShell");
    for everything in ["Bash", "Bash(*)", "bash", "Bash(:*)"] {
        assert_eq!(offered([tools(&shell), deny(&[everything])]), "", "{everything}");
        assert_eq!(offered([tools(&shell), ask(&[everything])]), "Bash BashOutput KillShell", "{everything}");
    }
    assert_eq!(offered([tools(&shell), deny(&["Bash(rm:*)"])]), "Bash BashOutput KillShell");
    assert_eq!(offered([tools(&shell), deny(&["KillShell"])]), "Bash BashOutput");
    // Plan mode runs no commands, and neither does an agent that never asks if commands need approval.
    assert_eq!(offered([tools(&shell), in_mode(Mode::Plan)]), "");
    let quiet = GrantLayer { never_asks: true, ..in_mode(Mode::Default) };
    assert_eq!(offered([tools(&shell), quiet]), "");
    assert_eq!(offered([tools(&["BashOutput", "KillShell", "TaskList"])]), "TaskList");
    // A list has exactly what it names: an author who wants files read adds a tool for that.
    assert_eq!(offered([tools(&["Bash", "KillShell"])]), "Bash KillShell");
}

#[test]
fn an_agent_that_never_asks_is_offered_only_tools_without_approval() {
    let quiet = GrantLayer { never_asks: true, ..GrantLayer::new("agent quiet") };
    assert_eq!(offered([in_mode(Mode::Default), tools(&["Read", "Edit", "Bash"]), quiet.clone()]), "Read");
    assert_eq!(offered([allow(&["Bash(ls:*)"]), tools(&["Read", "Edit", "Bash"]), quiet.clone()]), "Read Bash");
    assert_eq!(offered([ask(&["Read(src/**)"]), tools(&["Read"]), quiet.clone()]), "Read");
    assert_eq!(offered([ask(&["Read"]), tools(&["Read"]), quiet]), "");
}

#[test]
fn a_walk_asks_about_each_file_only_if_a_rule_distinguishes_files() {
    let guards = |layer: GrantLayer| judge([settings(), layer]).guards_reads();
    for free in [
        settings(),
        in_mode(Mode::Default),
        tools(&["Read", "Grep", "Edit(src/**)"]),
        deny(&["Read", "Edit(src/**)", "Bash(rm:*)", "WebFetch(domain:a.b)"]),
        allow(&["Read(src/**)"]),
    ] {
        assert!(!guards(free.clone()), "{free:?}");
    }
    for guarded in [
        tools(&["Read(src/**)"]),
        tools(&["Grep(src/**)"]),
        deny(&["Read(secrets/**)"]),
        deny(&["LS(.env)"]),
        ask(&["Read(.env)"]),
        GrantLayer { deny: texts(&["read(secrets/**)"]), ..in_mode(Mode::Bypass) },
    ] {
        assert!(guards(guarded.clone()), "{guarded:?}");
    }
}

#[test]
fn a_server_is_useful_if_any_of_its_tools_could_be_admitted() {
    let of_use = |layers: Vec<GrantLayer>| judge(layers).admits_some_of("mcp__db__");
    assert!(of_use(vec![settings()]));
    assert!(of_use(vec![in_mode(Mode::Default)]), "a person may approve");
    assert!(!of_use(vec![in_mode(Mode::Plan)]));
    for some in ["mcp__db", "mcp__db__*", "mcp__db__query", "mcp__db__qu*", "mcp__*"] {
        assert!(of_use(vec![tools(&["Read", some])]), "{some}");
    }
    for none in ["Read", "mcp__db2", "mcp__d__query"] {
        assert!(!of_use(vec![tools(&[none])]), "{none}");
    }
    for all in ["mcp__db", "mcp__db__*", "mcp__*", "MCP__DB"] {
        assert!(!of_use(vec![tools(&["mcp__db__query"]), deny(&[all])]), "{all}");
    }
    assert!(of_use(vec![deny(&["mcp__db__query"])]), "others are left");
    assert!(!of_use(vec![tools(&["mcp__db__query"]), deny(&["mcp__db__query"])]));
    // An agent that never asks has what a rule allows.
    let quiet = GrantLayer { never_asks: true, ..GrantLayer::new("agent quiet") };
    assert!(!of_use(vec![in_mode(Mode::Default), quiet.clone()]));
    assert!(of_use(vec![allow(&["mcp__db__query"]), in_mode(Mode::Bypass), quiet]));
}
