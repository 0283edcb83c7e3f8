//! Every refusal explains itself: the owner, the rule, and what would allow it.

use expect_test::expect;
use sortie_policy::{Decision, Judge, Places, lasting_remedy, remedies};
use sortie_protocol::{GrantLayer, Mode, Resource};

use super::support::{
    agent, allow, ask, command, deny, grant, ground, host, in_mode, judge, path, places, settings, texts, tools,
};

fn said(layers: impl IntoIterator<Item = GrantLayer>, tool: &str, resource: &Resource) -> String {
    ground(judge(layers).decide(tool, resource)).to_string()
}

#[test]
fn each_ground_is_a_sentence() {
    let quiet = GrantLayer { never_asks: true, ..GrantLayer::new("agent quiet") };
    let many: Vec<String> = (0..15).map(|index| format!("mcp__s{index}")).collect();
    let many = GrantLayer { tools: Some(many), ..GrantLayer::new("agent broad") };
    let sentences = [
        said([tools(&["Read", "Grep"])], "Edit", &path("a")),
        said([many], "Edit", &path("a")),
        said([deny(&["Bash(rm:*)"])], "Bash", &command("rm -r x")),
        said([in_mode(Mode::Plan)], "Write", &path("a")),
        said([ask(&["Bash(git push:*)"])], "Bash", &command("git push")),
        said([in_mode(Mode::Default)], "Edit", &path("src/a.rs")),
        said([in_mode(Mode::Default)], "Edit", &path("it's.rs")),
        said([in_mode(Mode::Default)], "mcp__db__query", &Resource::Nothing),
        said([in_mode(Mode::Plan)], "WebFetch", &host("docs.rs")),
        said([in_mode(Mode::Default), quiet], "Bash", &command("ls")),
        said([settings()], "Edit", &path(".git/hooks/pre-commit")),
        said([settings()], "Edit", &path("/var/lib/sortie/trust")),
        said([settings()], "Read", &path("../x")),
        said([settings()], "WebFetch", &host("a b")),
    ];
    expect![[r#"
        denied by agent explore: its tools are Read, Grep
        denied by agent broad: its tools are mcp__s0, mcp__s1, mcp__s2, mcp__s3, mcp__s4, mcp__s5, mcp__s6, mcp__s7, mcp__s8, mcp__s9, mcp__s10, mcp__s11 and 3 more
        denied by user settings: its rule `Bash(rm:*)`
        denied by user settings: its mode is plan, which allows no changes
        needs approval; the rule `Bash(git push:*)` of user settings asks for it
        needs approval; `Edit(src/a.rs)` under [permissions] allow, or --allow 'Edit(src/a.rs)', would allow it
        needs approval; `Edit(/it's.rs)` under [permissions] allow, or --allow 'Edit(/it'\''s.rs)', would allow it
        needs approval; `mcp__db__query` under [permissions] allow, or --allow 'mcp__db__query', would allow it
        needs approval; `WebFetch(domain:docs.rs)` under [permissions] allow, or --allow 'WebFetch(domain:docs.rs)', would allow it
        denied by agent quiet, which never asks: needs approval; `Bash(ls)` under [permissions] allow, or --allow 'Bash(ls)', would allow it
        denied: it belongs to git's own files (`.git`), which no agent may change
        denied: it belongs to Sortie's own settings and state (`/var/lib/sortie`), which no agent may change
        denied: `../x` is not resolved: it has `..`
        denied: `a b` is not a host
    "#]].assert_eq(&sentences.map(|sentence| sentence + "\n").concat());
}

#[test]
fn a_ground_names_the_layer_and_the_rule_as_written() {
    let decision =
        judge([settings(), deny(&["Read(other/**)", " read(Secrets/**) "])]).decide("Grep", &path("secrets/a"));
    let ground = ground(decision);
    assert_eq!(ground.owner, "user settings");
    assert_eq!(ground.rule.as_deref(), Some("read(Secrets/**)"));
    assert!(ground.remedies.is_empty());
}

#[test]
fn a_remedy_is_offered_only_where_it_would_help() {
    let layers = |extra: GrantLayer| [in_mode(Mode::Default), extra];
    let offered = |extra| ground(judge(layers(extra)).decide("Edit", &path("a"))).remedies.pop();
    assert_eq!(offered(settings()).as_deref(), Some("Edit(/a)"));
    assert_eq!(offered(ask(&["Edit"])), None, "the ask rule would still ask");
    assert_eq!(offered(in_mode(Mode::Default)), None, "the other layer would still ask");
    let sharing = |mode| GrantLayer { shares_allow: true, ..in_mode(mode) };
    for mode in [Mode::Default, Mode::Plan] {
        let fetched = judge(layers(sharing(mode))).decide("WebFetch", &host("docs.rs"));
        assert_eq!(ground(fetched).remedies, ["WebFetch(domain:docs.rs)"], "the rule will be in both");
    }
    assert_eq!(offered(deny(&["Edit"])), None);
    let asked = ground(judge(layers(ask(&["Edit"]))).decide("Edit", &path("a")));
    assert_eq!(asked.rule.as_deref(), Some("Edit"), "what no rule can help against is named");
}

#[test]
fn the_narrowest_rule_for_a_call_covers_nothing_else() {
    let table: &[(&str, Resource, &[&str])] = &[
        ("Read", path("src/a.rs"), &["Read(src/a.rs)"]),
        ("Grep", path("src"), &["Read(/src)"]),
        ("LS", path(""), &["Read(/)"]),
        ("Write", path("a.rs"), &["Edit(/a.rs)"]),
        ("MultiEdit", path("/srv/x/a"), &["Edit(//srv/x/a)"]),
        ("Edit", path("app/[id]/{x}*?.rs"), &[r"Edit(app/\[id\]/\{x\}\*\?.rs)"]),
        ("Edit", path("~/a"), &["Edit(/~/a)"]),
        ("Edit", path("!x/a"), &[r"Edit(\!x/a)"]),
        ("Edit", path("a)/b(c"), &["Edit(a)/b(c)"]),
        ("Bash", command("cargo test"), &["Bash(cargo test)"]),
        ("Bash", command("ls | wc > a b"), &["Bash(ls)", "Bash(wc b)", "Edit(/a)"]),
        ("WebFetch", host("Docs.RS."), &["WebFetch(domain:docs.rs)"]),
        ("task", agent("explore"), &["Task(explore)"]),
        ("mcp__db__query", Resource::Nothing, &["mcp__db__query"]),
        ("Novelty", Resource::Nothing, &["Novelty"]),
        ("Edit", Resource::Nothing, &[]),
        ("Bash", Resource::Nothing, &[]),
        ("Read", path("a\u{7}b/c"), &[]),
        ("Read", path("trailing "), &[]),
    ];
    for (tool, resource, expected) in table {
        let rules = remedies(tool, resource, &places());
        assert_eq!(rules, *expected, "{tool} {resource:?}");
        if !rules.is_empty() {
            let allowed = judge([GrantLayer { allow: rules, ..in_mode(Mode::Default) }]);
            assert_eq!(allowed.decide(tool, resource), Decision::Allow, "{expected:?}");
        }
    }
    let beside = judge([allow(&[r"Edit(app/\[id\]/a.rs)"])]);
    assert!(!beside.decide("Edit", &path("app/i/a.rs")).is_allowed());
}

#[test]
fn a_lasting_rule_names_the_file_from_the_root_of_the_file_system() {
    let root = places().root.expect("the workspace is known");
    let rule = lasting_remedy("Write", &path("src/[a].rs"), &places()).expect("a rule");
    assert_eq!(rule, format!(r"Edit(/{}/src/\[a\].rs)", root.display()));
    assert_eq!(lasting_remedy("Write", &path("/srv/a"), &places()).as_deref(), Some("Edit(//srv/a)"));
    assert_eq!(lasting_remedy("WebFetch", &host("docs.rs"), &places()).as_deref(), Some("WebFetch(domain:docs.rs)"));
    // In another project the command may run something else.
    assert_eq!(lasting_remedy("Bash", &command("./run"), &places()), None);
    assert_eq!(lasting_remedy("Bash", &command("cargo test"), &places()), None);
    let allowed = judge([GrantLayer { allow: texts(&[&rule]), ..in_mode(Mode::Default) }]);
    assert_eq!(allowed.decide("Write", &path("src/[a].rs")), Decision::Allow);
    let elsewhere = Places { root: Some("/elsewhere".into()), ..places() };
    let grant = grant([GrantLayer { allow: texts(&[&rule]), ..in_mode(Mode::Default) }]);
    assert!(!Judge::new(&grant, elsewhere).unwrap().decide("Write", &path("src/[a].rs")).is_allowed());
}
