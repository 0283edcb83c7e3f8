//! Resuming: what a task had, within what holds now.

use sortie_policy::{Decision, Judge, intersect, narrow};
use sortie_protocol::{Grant, GrantLayer, Mode, Resource};

use super::support::{TOOLS, Verdict, agent, allow, command, deny, grant, in_mode, path, places, tools};

fn verdict(grant: &Grant, tool: &str, resource: &Resource) -> Verdict {
    Verdict::from(&Judge::new(grant, places()).unwrap().decide(tool, resource))
}

/// A grant as it comes back from the journal.
fn stored(grant: &Grant) -> Grant {
    serde_json::from_str(&serde_json::to_string(grant).unwrap()).unwrap()
}

#[test]
fn a_tightened_policy_binds_and_a_loosened_one_does_not_widen() {
    let task = grant([allow(&["Edit"]), tools(&["Read", "Edit"])]);
    let tightened = intersect(&stored(&task), &[in_mode(Mode::Plan)]);
    assert_eq!(verdict(&tightened, "Edit", &path("a")), Verdict::Deny);
    let loosened = intersect(&stored(&task), &[in_mode(Mode::Bypass)]);
    assert_eq!(verdict(&loosened, "Edit", &path("a")), Verdict::Allow);
    assert_eq!(verdict(&loosened, "Bash", &command("ls")), Verdict::Deny);
    let asked = intersect(&stored(&grant([in_mode(Mode::Default), tools(&["Edit"])])), &[in_mode(Mode::Bypass)]);
    assert_eq!(verdict(&asked, "Edit", &path("a")), Verdict::Ask, "a call that asked then still asks");
}

#[test]
fn a_rule_about_an_agent_still_matches_after_a_restart() {
    // S51
    let parent = grant([deny(&["Agent(coder)"]), GrantLayer::new("agent main")]);
    let resumed = intersect(&stored(&parent), &[in_mode(Mode::Bypass)]);
    for tool in ["Task", "task", "Agent", "SendMessage"] {
        assert_eq!(verdict(&resumed, tool, &agent("coder")), Verdict::Deny, "{tool}");
        assert_eq!(verdict(&resumed, tool, &agent("explore")), Verdict::Allow, "{tool}");
    }
    let denied_since = intersect(&stored(&grant([GrantLayer::new("agent main")])), &[deny(&["Agent(coder)"])]);
    assert_eq!(verdict(&denied_since, "Task", &agent("coder")), Verdict::Deny);
}

#[test]
fn a_grant_that_was_stripped_admits_nothing() {
    // S50
    let resumed = intersect(&Grant::default(), &[in_mode(Mode::Bypass)]);
    for tool in TOOLS {
        assert_eq!(verdict(&resumed, tool, &Resource::Nothing), Verdict::Deny, "{tool}");
    }
}

#[test]
fn resuming_under_the_same_policy_again_and_again_adds_nothing() {
    let policy = [deny(&["Bash"]), in_mode(Mode::Default)];
    let task = narrow(&grant(policy.clone()), tools(&["Read"]));
    let mut resumed = task.clone();
    for _ in 0..10 {
        resumed = intersect(&stored(&resumed), &policy);
    }
    let as_started = GrantLayer { as_started: true, ..tools(&["Read"]) };
    assert_eq!(resumed, narrow(&grant(policy), as_started));
}

#[test]
fn no_new_rule_is_suggested_for_a_call_not_allowed_at_the_start() {
    let task = grant([in_mode(Mode::Default)]);
    let ground = |today: GrantLayer| {
        let judge = Judge::new(&intersect(&stored(&task), &[today]), places()).unwrap();
        match judge.decide("Bash", &command("ls")) {
            Decision::Ask(ground) => ground,
            other => panic!("{other:?}"),
        }
    };
    for today in [allow(&["Bash"]), GrantLayer { owner: "settings of today".to_owned(), ..in_mode(Mode::Default) }] {
        let ground = ground(today);
        assert_eq!(ground.remedies, [""; 0]);
        assert_eq!(
            ground.to_string(),
            "needs approval; it was not allowed when this task started, and rules added since are for new tasks"
        );
    }
    assert!(!ground(in_mode(Mode::Default)).remedies.is_empty(), "a layer of today can suggest a rule");
}

#[test]
fn a_repeated_layer_is_kept_where_its_position_matters() {
    let asks = super::support::ask(&["Read"]);
    let approves = GrantLayer { approves_reads: true, ..GrantLayer::new("agent explore") };
    let strict_below = grant([approves, asks.clone()]);
    let resumed = intersect(&strict_below, &[asks]);
    assert_eq!(verdict(&resumed, "Read", &path("a")), Verdict::Ask, "the one below is not undone by the one above");

    let quiet = GrantLayer { never_asks: true, ..GrantLayer::new("agent quiet") };
    let resumed = intersect(&grant([in_mode(Mode::Default), quiet.clone()]), &[quiet]);
    assert_eq!(verdict(&resumed, "Bash", &command("ls")), Verdict::Deny);
}
