//! Verdicts of single layers, feature by feature, and of several together.

use sortie_protocol::{GrantLayer, Mode, Resource};

use super::support::{
    EDITING, READING, TOOLS, Verdict, agent, allow, ask, command, deny, grant, ground, host, in_mode, judge, path,
    settings, texts, tools, verdict,
};
use Verdict::{Allow, Ask, Deny};

#[test]
fn an_empty_layer_admits_everything() {
    for tool in TOOLS {
        assert_eq!(verdict(settings(), tool, &Resource::Nothing), Allow, "{tool}");
    }
}

#[test]
fn each_mode_has_a_verdict_for_each_tool() {
    let said = |mode, tool| verdict(in_mode(mode), tool, &Resource::Nothing);
    for tool in TOOLS {
        let harmless = READING.contains(&tool)
            || ["Task", "task", "Agent", "SendMessage", "TaskOutput", "TaskStop", "TaskList", "TodoWrite"]
                .contains(&tool)
            || ["Ask", "Note"].contains(&tool)
            || ["BashOutput", "KillShell"].contains(&tool);
        let (default, plan, accept_edits) = match tool {
            _ if harmless => (Allow, Allow, Allow),
            "Edit" | "Write" | "MultiEdit" => (Ask, Deny, Allow),
            "WebFetch" => (Ask, Ask, Ask),
            _ => (Ask, Deny, Ask),
        };
        assert_eq!(said(Mode::Default, tool), default, "default, {tool}");
        assert_eq!(said(Mode::Plan, tool), plan, "plan, {tool}");
        assert_eq!(said(Mode::AcceptEdits, tool), accept_edits, "accept-edits, {tool}");
        assert_eq!(said(Mode::Bypass, tool), Allow, "bypass, {tool}");
    }
}

#[test]
fn managing_an_approved_command_needs_no_second_approval() {
    for companion in ["BashOutput", "KillShell"] {
        assert_eq!(verdict(ask(&["Bash"]), companion, &Resource::Nothing), Allow);
        assert_eq!(verdict(ask(&[companion]), companion, &Resource::Nothing), Ask);
        assert_eq!(verdict(deny(&["Bash"]), companion, &Resource::Nothing), Deny);
        assert_eq!(verdict(deny(&["Bash(rm:*)"]), companion, &Resource::Nothing), Allow);
    }
}

#[test]
fn deny_comes_before_ask_and_ask_before_allow_in_every_mode() {
    let file = path("src/a.rs");
    for mode in Mode::ALL {
        let all = GrantLayer {
            deny: texts(&["Read(src/**)"]),
            ask: texts(&["Read(src/**)"]),
            allow: texts(&["Read(src/**)"]),
            ..in_mode(mode)
        };
        assert_eq!(verdict(all.clone(), "Read", &file), Deny, "{mode}");
        let without_deny = GrantLayer { deny: Vec::new(), ..all };
        assert_eq!(verdict(without_deny.clone(), "Read", &file), Ask, "{mode}");
        assert_eq!(verdict(GrantLayer { ask: Vec::new(), ..without_deny }, "Read", &file), Allow, "{mode}");
    }
}

#[test]
fn no_allow_rule_permits_changes_in_plan_mode() {
    let plan = GrantLayer {
        allow: texts(&["Edit", "Bash", "mcp__db", "Novelty", "WebFetch(domain:docs.rs)"]),
        ..in_mode(Mode::Plan)
    };
    for tool in EDITING {
        assert_eq!(verdict(plan.clone(), tool, &path("src/a.rs")), Deny, "{tool}");
    }
    assert_eq!(verdict(plan.clone(), "Bash", &command("ls")), Deny);
    assert_eq!(verdict(plan.clone(), "mcp__db__query", &Resource::Nothing), Deny);
    assert_eq!(verdict(plan.clone(), "Novelty", &Resource::Nothing), Deny);
    assert_eq!(verdict(plan.clone(), "WebFetch", &host("docs.rs")), Allow, "fetching changes nothing");
    assert_eq!(verdict(plan, "WebFetch", &host("example.com")), Ask);
}

#[test]
fn empty_lists_mean_none() {
    // S44
    for tool in TOOLS {
        assert_eq!(verdict(tools(&[]), tool, &Resource::Nothing), Deny, "{tool}");
    }
    assert_eq!(verdict(allow(&[]), "Edit", &path("a")), Ask, "an empty allow list allows nothing");
    assert_eq!(verdict(deny(&[]), "Edit", &path("a")), Allow, "an empty deny list denies nothing");
    let said = ground(judge([tools(&[])]).decide("Read", &path("a"))).to_string();
    assert_eq!(said, "denied by agent explore: it has no tools");
}

#[test]
fn a_bare_name_among_the_tools_is_that_tool_and_no_other() {
    let only = tools(&["Read", "Edit", "Task"]);
    for tool in TOOLS {
        let expected = if ["Read", "Edit", "Task", "task", "Agent"].contains(&tool) { Allow } else { Deny };
        assert_eq!(verdict(only.clone(), tool, &Resource::Nothing), expected, "{tool}");
    }
    for lookalike in ["read", "READ", " Read", "Rеad", "Read "] {
        assert_eq!(verdict(tools(&["Read"]), lookalike, &path("a")), Deny, "{lookalike:?} is not Read");
    }
}

#[test]
fn a_pattern_among_the_tools_admits_only_what_it_covers() {
    let only = tools(&["Read(src/**)", "Edit(docs/**)", "Bash(git diff:*)"]);
    for tool in READING {
        assert_eq!(verdict(only.clone(), tool, &path("src/a.rs")), Allow, "{tool}");
        assert_eq!(verdict(only.clone(), tool, &path("docs/a.md")), Deny, "{tool}");
        assert_eq!(verdict(only.clone(), tool, &Resource::Nothing), Deny, "{tool}: nothing is covered by a pattern");
    }
    for tool in EDITING {
        assert_eq!(verdict(only.clone(), tool, &path("docs/a.md")), Allow, "{tool}");
        assert_eq!(verdict(only.clone(), tool, &path("src/a.rs")), Deny, "{tool}");
    }
    assert_eq!(verdict(only.clone(), "Bash", &command("git diff --stat")), Allow);
    assert_eq!(verdict(only, "Bash", &command("git push")), Deny);
}

#[test]
fn rules_for_reading_and_editing_hold_for_the_whole_family() {
    let secret = path("secrets/key");
    for tool in READING {
        assert_eq!(verdict(deny(&["Read(secrets/**)"]), tool, &secret), Deny, "{tool}");
        assert_eq!(verdict(ask(&["Read"]), tool, &secret), Ask, "{tool}");
        assert_eq!(verdict(deny(&["Edit(secrets/**)"]), tool, &secret), Allow, "{tool}");
    }
    for tool in EDITING {
        assert_eq!(verdict(allow(&["Edit(secrets/**)"]), tool, &secret), Allow, "{tool}");
        assert_eq!(verdict(allow(&["Edit"]), tool, &secret), Allow, "{tool}");
        assert_eq!(verdict(allow(&["Read(secrets/**)"]), tool, &secret), Ask, "{tool}: to read is not to edit");
    }
}

#[test]
fn a_file_that_must_not_be_read_must_not_be_edited() {
    for tool in EDITING {
        assert_eq!(verdict(deny(&["Read(secrets/**)"]), tool, &path("secrets/key")), Deny, "{tool}");
        assert_eq!(verdict(ask(&["Read(secrets/**)"]), tool, &path("secrets/key")), Ask, "{tool}");
        assert_eq!(verdict(deny(&["Read(secrets/**)"]), tool, &path("src/a.rs")), Allow, "{tool}");
    }
}

#[test]
fn a_rule_for_any_other_tool_covers_that_tool_alone() {
    for named in ["LS", "Glob", "Grep", "Write", "MultiEdit"] {
        for tool in READING.into_iter().chain(EDITING) {
            let expected = if tool == named { Deny } else { Allow };
            assert_eq!(verdict(deny(&[named]), tool, &path("a")), expected, "deny {named}, call {tool}");
            let expected = if tool == named { Deny } else { Allow };
            assert_eq!(
                verdict(deny(&[&format!("{named}(a)")]), tool, &path("a")),
                expected,
                "deny {named}(a), call {tool}"
            );
        }
    }
    assert_eq!(verdict(allow(&["Write(docs/**)"]), "Edit", &path("docs/a")), Ask);
}

#[test]
fn the_task_tool_is_one_tool_with_several_names() {
    for rule in ["Task(coder)", "Agent(coder)", "task(coder)", "spawn_agent(Coder)", "TASK(CODER)"] {
        for tool in ["Task", "task", "Agent"] {
            assert_eq!(verdict(deny(&[rule]), tool, &agent("coder")), Deny, "{rule}, {tool}");
            assert_eq!(verdict(deny(&[rule]), tool, &agent("explore")), Allow, "{rule}, {tool}");
        }
        assert_eq!(verdict(deny(&[rule]), "SendMessage", &agent("coder")), Deny, "a message would make it work");
        assert_eq!(verdict(deny(&[rule]), "TaskOutput", &agent("coder")), Allow);
    }
    assert_eq!(verdict(tools(&["Task(review-*)"]), "Task", &agent("Review-Deep")), Allow);
    assert_eq!(verdict(tools(&["Task(review-*)"]), "Task", &agent("coder")), Deny);
}

#[test]
fn a_servers_name_covers_its_tools() {
    for rule in ["mcp__db", "mcp__db__*", "mcp__db__query", "mcp__db__qu*", "mcp__*"] {
        assert_eq!(verdict(deny(&[rule]), "mcp__db__query", &Resource::Nothing), Deny, "{rule}");
        assert_eq!(verdict(allow(&[rule]), "mcp__db__query", &Resource::Nothing), Allow, "{rule}");
        assert_eq!(verdict(tools(&[rule]), "mcp__db__query", &Resource::Nothing), Allow, "{rule}");
    }
    for rule in ["mcp__db", "mcp__db__*", "mcp__db__query"] {
        assert_eq!(verdict(deny(&[rule]), "mcp__db2__query", &Resource::Nothing), Allow, "{rule}");
        assert_eq!(verdict(deny(&[rule]), "mcp__d__query", &Resource::Nothing), Allow, "{rule}");
    }
    assert_eq!(verdict(deny(&["mcp__db__query"]), "mcp__db__query_all", &Resource::Nothing), Allow);
}

#[test]
fn forbidding_rules_ignore_letter_case_and_permitting_rules_do_not() {
    assert_eq!(verdict(deny(&["bash"]), "Bash", &command("ls")), Deny);
    assert_eq!(verdict(deny(&["Bash"]), "bash", &command("ls")), Deny, "should there be such a tool");
    assert_eq!(verdict(deny(&["MCP__DB"]), "mcp__db__query", &Resource::Nothing), Deny);
    assert_eq!(verdict(allow(&["MCP__DB"]), "mcp__db__query", &Resource::Nothing), Ask);
    assert_eq!(verdict(allow(&["bash"]), "Bash", &command("ls")), Ask);
    assert_eq!(verdict(deny(&["Read(Secrets/**)"]), "Read", &path("sEcrets/key")), Deny);
    assert_eq!(verdict(deny(&["Read(caf\u{e9})"]), "Read", &path("CAFE\u{301}")), Deny, "composed or not");
    assert_eq!(verdict(deny(&["Read([A-C]*.txt)"]), "Read", &path("b1.TXT")), Deny);
    assert_eq!(verdict(tools(&["Read(Secrets/**)"]), "Read", &path("secrets/key")), Deny);
}

#[test]
fn a_pattern_for_an_unknown_tool_forbids_all_of_it_and_permits_nothing() {
    assert_eq!(verdict(deny(&["Novelty(x)"]), "Novelty", &Resource::Nothing), Deny);
    assert_eq!(verdict(allow(&["Novelty(x)"]), "Novelty", &Resource::Nothing), Ask);
    assert_eq!(verdict(tools(&["Novelty(x)"]), "Novelty", &Resource::Nothing), Deny);
}

#[test]
fn the_strictest_layer_decides_and_the_first_of_equals_is_named() {
    let agent_layer = |owner: &str, tool: &str| GrantLayer { owner: owner.to_owned(), ..tools(&[tool]) };
    let judge =
        judge([in_mode(Mode::Default), agent_layer("agent plan", "Read"), agent_layer("agent explore", "Grep")]);
    assert_eq!(ground(judge.decide("Bash", &command("ls"))).owner, "agent plan");
    assert_eq!(ground(judge.decide("Read", &path("a"))).owner, "agent explore");
    assert_eq!(ground(judge.decide("Grep", &path("a"))).owner, "agent plan");
}

#[test]
fn an_unresolved_path_is_denied() {
    for layer in [settings(), in_mode(Mode::Bypass)] {
        assert_eq!(verdict(layer.clone(), "Read", &path("src/../../x")), Deny);
        assert_eq!(verdict(layer, "WebFetch", &host("no host")), Deny);
    }
}

#[test]
fn an_unreadable_rule_in_a_grant_is_an_error_that_names_its_owner() {
    let error = sortie_policy::Judge::new(&grant([deny(&["Read("])]), super::support::places()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`Read(` is not a rule: its last character should be the `)` that closes the pattern (in user settings)"
    );
    let nowhere = sortie_policy::Places::default();
    let error = sortie_policy::Judge::new(&grant([deny(&["Read(~/x)"])]), nowhere).unwrap_err();
    assert!(error.to_string().contains("there is no home directory"), "{error}");
}
