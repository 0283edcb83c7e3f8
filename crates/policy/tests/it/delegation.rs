//! A child can never do what its parent may not, whatever it is, whatever it asks for and however deep it is.

use sortie_policy::{Judge, narrow};
use sortie_protocol::{Grant, GrantLayer, Mode, Resource};

use super::support::{
    EDITING, READING, Verdict, agent, allow, ask, command, deny, grant, ground, in_mode, judge, path, places, texts,
    tools,
};

fn verdict(grant: &Grant, tool: &str, resource: &Resource) -> Verdict {
    Verdict::from(&Judge::new(grant, places()).unwrap().decide(tool, resource))
}

#[test]
fn a_child_that_asks_for_a_wider_mode_does_not_get_it() {
    // S47
    let parent = grant([in_mode(Mode::Default), tools(&["Read", "Edit", "Task"])]);
    let greedy = GrantLayer {
        mode: Some(Mode::Bypass),
        allow: texts(&["Edit", "Bash"]),
        tools: Some(texts(&["Read", "Edit", "Bash", "Task"])),
        ..GrantLayer::new("agent greedy")
    };
    let child = narrow(&parent, greedy);
    assert_eq!(verdict(&child, "Edit", &path("a")), Verdict::Ask, "the parent asks, so the child asks");
    assert_eq!(verdict(&child, "Bash", &command("ls")), Verdict::Deny, "the child lacks what the parent lacks");
}

#[test]
fn a_writer_under_a_planning_parent_writes_nothing() {
    // S48
    let child = narrow(&grant([in_mode(Mode::Plan)]), GrantLayer { allow: texts(&["Edit"]), ..in_mode(Mode::Bypass) });
    for tool in EDITING {
        assert_eq!(verdict(&child, tool, &path("a")), Verdict::Deny, "{tool}");
    }
}

#[test]
fn a_denial_set_at_the_top_binds_at_every_depth() {
    // S52
    let mut below = grant([deny(&["Read(secrets/**)"])]);
    for depth in 1..=5 {
        below =
            narrow(&below, GrantLayer { mode: Some(Mode::Bypass), ..GrantLayer::new(format!("agent number {depth}")) });
        assert_eq!(verdict(&below, "Grep", &path("secrets/a")), Verdict::Deny, "depth {depth}");
        assert_eq!(verdict(&below, "Grep", &path("src/a")), Verdict::Allow, "depth {depth}");
    }
    let said = Judge::new(&below, places()).unwrap().decide("Read", &path("secrets/a"));
    assert_eq!(ground(said).to_string(), "denied by user settings: its rule `Read(secrets/**)`");
}

#[test]
fn a_deputy_of_a_reader_does_not_execute() {
    // S55
    let reader = grant([in_mode(Mode::Bypass), tools(&["Read", "Task"])]);
    let executor = GrantLayer { owner: "agent executor".to_owned(), ..tools(&["Bash", "Write", "Read"]) };
    let child = narrow(&reader, executor);
    assert_eq!(verdict(&child, "Bash", &command("ls")), Verdict::Deny);
    assert_eq!(verdict(&child, "Write", &path("a")), Verdict::Deny);
    assert_eq!(verdict(&child, "Read", &path("a")), Verdict::Allow);
    assert_eq!(verdict(&child, "Task", &agent("other")), Verdict::Deny, "and not the other way round either");
}

#[test]
fn approving_reads_turns_an_ask_above_into_an_allow_for_reading_alone() {
    let explore = GrantLayer { approves_reads: true, ..GrantLayer::new("agent explore") };
    let parent = grant([ask(&["Read", "Bash", "WebFetch"]), in_mode(Mode::Default)]);
    let child = narrow(&parent, explore.clone());
    for tool in READING {
        assert_eq!(verdict(&parent, tool, &path("a")), Verdict::Ask, "{tool}");
        assert_eq!(verdict(&child, tool, &path("a")), Verdict::Allow, "{tool}");
    }
    for tool in EDITING {
        assert_eq!(verdict(&child, tool, &path("a")), Verdict::Ask, "{tool}");
    }
    assert_eq!(verdict(&child, "Bash", &command("ls")), Verdict::Ask);
    assert_eq!(verdict(&child, "WebFetch", &Resource::Nothing), Verdict::Ask);

    let denied = narrow(&grant([deny(&["Read(secrets/**)"]), ask(&["Read"])]), explore.clone());
    assert_eq!(verdict(&denied, "Read", &path("secrets/a")), Verdict::Deny, "a denial stays one");
    assert_eq!(verdict(&denied, "Read", &path("src/a")), Verdict::Allow);

    let below = narrow(&child, ask(&["Read(src/**)"]));
    assert_eq!(verdict(&below, "Read", &path("src/a")), Verdict::Ask, "it speaks for those above it only");
    let own = GrantLayer { ask: texts(&["Read(src/**)"]), ..explore };
    assert_eq!(verdict(&narrow(&parent, own), "Read", &path("src/a")), Verdict::Ask, "and not for itself");
}

#[test]
fn an_agent_that_never_asks_is_refused_calls_that_need_approval() {
    let quiet = GrantLayer { never_asks: true, ..GrantLayer::new("agent quiet") };
    let child = narrow(&grant([allow(&["Edit(docs/**)"])]), quiet.clone());
    assert_eq!(verdict(&child, "Edit", &path("src/a")), Verdict::Deny);
    assert_eq!(verdict(&child, "Edit", &path("docs/a")), Verdict::Allow);
    let own = GrantLayer { ask: texts(&["Read"]), ..quiet.clone() };
    assert_eq!(Verdict::from(&judge([own]).decide("Read", &path("a"))), Verdict::Deny, "its own asking too");
    let both = GrantLayer { approves_reads: true, ..quiet };
    assert_eq!(verdict(&narrow(&grant([ask(&["Read"])]), both), "Read", &path("a")), Verdict::Allow, "approved first");
}

#[test]
fn every_name_of_an_agent_matches_in_every_kind_of_rule() {
    let general = Resource::Agent { name: "general-purpose".to_owned(), aliases: vec!["general".to_owned()] };
    for rule in ["Task(general)", "Agent(GENERAL)", "task(general-purpose)", "Task(gen*al)"] {
        assert_eq!(verdict(&grant([deny(&[rule])]), "Task", &general), Verdict::Deny, "{rule}");
        assert_eq!(verdict(&grant([ask(&[rule])]), "Task", &general), Verdict::Ask, "{rule}");
        assert_eq!(verdict(&grant([tools(&[rule])]), "Task", &general), Verdict::Allow, "{rule}");
        assert_eq!(verdict(&grant([deny(&[rule])]), "Task", &agent("explore")), Verdict::Allow, "{rule}");
    }
}
