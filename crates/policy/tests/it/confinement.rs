//! Limits of commands under a grant: where they may write, what they leave alone, whom they may talk to.

mod property;

use std::path::{Path, PathBuf};

use sortie_policy::{Access, Decision, Judge, NetworkReach, Places, Why, Writes};
use sortie_protocol::{GrantLayer, Mode};

use super::support::{allow, ask, deny, grant, ground, in_mode, judge, places, settings, texts, tools};

/// Places where commands may write under these layers: directories, or the owner of the layer that leaves nothing.
fn writes(layers: impl IntoIterator<Item = GrantLayer>) -> Result<Vec<String>, String> {
    match judge(layers).confinement().writes() {
        Writes::Nowhere { owner } => Err(owner),
        Writes::Within(directories) => Ok(directories.iter().map(|path| path.to_str().unwrap().to_owned()).collect()),
    }
}

/// The workspace root and the added directories.
const EVERYWHERE: [&str; 3] = ["", "/srv/data", "/srv/src"];

#[test]
fn commands_write_in_the_workspace_and_added_directories() {
    for free in [
        settings(),
        in_mode(Mode::Default),
        in_mode(Mode::AcceptEdits),
        in_mode(Mode::Bypass),
        allow(&["Edit(docs/**)", "Bash(cargo test:*)"]),
        ask(&["Edit", "Write", "Bash"]),
        deny(&["Edit(docs/**)", "MultiEdit", "Grep", "LS", "Bash(rm:*)", "WebFetch"]),
    ] {
        assert_eq!(writes([free.clone()]), Ok(texts(&EVERYWHERE)), "{free:?}");
    }
    assert_eq!(writes([]), Ok(texts(&EVERYWHERE)));
}

#[test]
fn commands_of_an_agent_that_cannot_edit_write_nothing() {
    let planner = GrantLayer { mode: Some(Mode::Plan), ..GrantLayer::new("agent explore") };
    assert_eq!(writes([settings(), planner]), Err("agent explore".to_owned()));
    for rule in ["Edit", "Edit(**)", "Edit(*)", "edit", "Write", "Read", "Edit(/)", "Edit(//**)", "Read(~/**)"] {
        let denies = deny(&[rule, "Edit(//srv/**)"]);
        assert_eq!(writes([denies]), Err("user settings".to_owned()), "{rule}");
    }
    assert_eq!(writes([ask(&["Edit(/)"])]), Ok(texts(&EVERYWHERE[1..])), "what is asked about stays as it is");
}

#[test]
fn a_readers_commands_write_nothing_and_a_command_only_agent_is_free() {
    let nowhere = Err("agent explore".to_owned());
    for reader in [&["Read", "Bash"][..], &["Grep(src/**)", "Bash"], &["LS", "Bash(ls:*)"], &["Glob", "Bash", "Task"]] {
        assert_eq!(writes([tools(reader)]), nowhere, "{reader:?}");
    }
    for free in [
        &["Bash"][..],
        &["Bash(git:*)", "KillShell"],
        &["Bash", "WebFetch", "TodoWrite", "mcp__db"],
        &["Read", "Edit", "Bash"],
        &["Read", "Write", "Bash"],
        &["Read", "Edit(**)", "Bash"],
        &["Read", "Edit(docs/**)", "Write", "Bash"],
    ] {
        assert_eq!(writes([tools(free)]), Ok(texts(&EVERYWHERE)), "{free:?}");
    }
}

#[test]
fn commands_write_in_the_directories_that_the_agent_may_edit() {
    for (rules, directories) in [
        (&["Edit(docs/**)"][..], &["docs"][..]),
        (&["Edit(docs/)"], &["docs"]),
        (&["Edit(/docs)", "Write(src/generated/**)"], &["docs", "src/generated"]),
        (&["Edit(docs/a/**)", "Edit(docs/**)", "Edit(docs-not/**)"], &["docs", "docs-not"]),
        (&["Edit(Docs/**)"], &["Docs"]),
        (&["Edit(//srv/data/out/**)", "Edit(~/project/docs/**)"], &["/srv/data/out", "docs"]),
        (&["Edit(./**)"], &[""]),
        (&["Edit(~/**)"], &[""]),
        (&["Edit(//srv/**)"], &["/srv/data", "/srv/src"]),
        (&["Edit(docs/**)", "Edit(*.md)", "Edit(src/*/x)"], &["docs"]),
        (&[r"Edit(a\*/**)"], &["a*"]),
    ] {
        let list: Vec<&str> = ["Read", "Bash"].into_iter().chain(rules.iter().copied()).collect();
        assert_eq!(writes([tools(&list)]), Ok(texts(directories)), "{rules:?}");
    }
    for nothing in ["Edit(*.md)", "Edit(docs/*)", "Edit(**/docs/**)", "Edit(do?s/**)", "Edit(//elsewhere/**)"] {
        assert_eq!(writes([tools(&["Read", nothing, "Bash"])]), Err("agent explore".to_owned()), "{nothing}");
    }
}

#[test]
fn the_pattern_in_a_tool_list_tells_a_directory_from_a_file() {
    let judge = judge([tools(&["Read", "Edit(target/**)", "Edit(README.md)", "Write(/docs)", "Read(src/**)", "Bash"])]);
    let names = |path: &str| judge.confinement().names_directory(Path::new(path));
    assert!(names("target"));
    for other in ["README.md", "docs", "src", "target/debug", ""] {
        assert!(!names(other), "{other}");
    }
}

#[test]
fn commands_write_where_every_layer_lets_them() {
    let list = |rule| tools(&["Read", "Bash", rule]);
    assert_eq!(writes([list("Edit(docs/**)"), list("Edit(docs/a/**)")]), Ok(texts(&["docs/a"])));
    assert_eq!(writes([list("Edit(docs/a/**)"), list("Edit(docs/**)")]), Ok(texts(&["docs/a"])));
    assert_eq!(writes([settings(), list("Edit(docs/**)"), list("Edit(src/**)")]), Err("agent explore".to_owned()));
    // A rule about one file in it is enforced otherwise; one about all of it leaves nothing.
    assert_eq!(writes([deny(&["Edit(docs/a)"]), list("Edit(docs/**)")]), Ok(texts(&["docs"])));
    assert_eq!(writes([deny(&["Edit(DOCS/**)"]), list("Edit(docs/**)")]), Err("user settings".to_owned()));
    assert_eq!(writes([ask(&["Edit(docs)"]), list("Edit(docs/a/**)")]), Err("user settings".to_owned()));
}

#[test]
fn paths_are_distinguished_without_a_known_root() {
    let writes = |rule: &str| {
        let places = Places { root: None, home: Some(PathBuf::from("/people/me")), ..places() };
        let judge = Judge::new(&grant([tools(&["Read", rule])]), places).unwrap();
        judge.confinement().writes()
    };
    assert_eq!(writes("Edit(docs/**)"), Writes::Within(vec![PathBuf::from("docs")]));
    assert_eq!(writes("Edit(//srv/data/x/**)"), Writes::Within(vec![PathBuf::from("/srv/data/x")]));
    assert_eq!(writes("Edit(//other/**)"), Writes::Nowhere { owner: "agent explore".to_owned() });
}

fn keeps(layer: GrantLayer, path: &str) -> (bool, bool) {
    let judge = judge([settings(), layer]);
    let confinement = judge.confinement();
    (confinement.keeps(Path::new(path), Access::Read), confinement.keeps(Path::new(path), Access::Write))
}

#[test]
fn paths_of_deny_and_ask_patterns_stay_unchanged_or_unread() {
    for (rule, path, kept) in [
        ("Read(secrets/**)", "secrets/a", (true, true)),
        ("Read(secrets/**)", "secrets", (true, true)),
        ("Read(secrets/**)", "SECRETS/A", (true, true)),
        ("Read(secrets/**)", "/people/me/project/secrets/a", (true, true)),
        ("Read(secrets/**)", "other/secrets/a", (false, false)),
        ("Edit(secrets/**)", "secrets/a", (false, true)),
        ("Write(secrets/**)", "secrets/a", (false, true)),
        ("Grep(secrets/**)", "secrets/a", (true, false)),
        ("Read(.env)", "deep/down/.env", (true, true)),
        ("Edit(*.lock)", "Cargo.lock", (false, true)),
        ("Read(~/keys/**)", "/people/me/keys/a", (true, true)),
        // A rule without a pattern is about tools, not about some files.
        ("Read", "secrets/a", (false, false)),
        ("Edit(**)", "secrets/a", (false, false)),
        ("Bash(cat secrets/a)", "secrets/a", (false, false)),
        // An unresolved path may be anything.
        ("Edit(docs)", "a/../secrets", (true, true)),
    ] {
        assert_eq!(keeps(deny(&[rule]), path), kept, "deny {rule}: {path}");
        assert_eq!(keeps(ask(&[rule]), path), kept, "ask {rule}: {path}");
    }
    let lenient = GrantLayer { tools: Some(texts(&["Read(src/**)", "Edit(src/**)"])), ..allow(&["Edit(src/**)"]) };
    assert_eq!(keeps(lenient, "src/a"), (false, false), "only what forbids keeps");
}

#[test]
fn literal_paths_in_rules_are_known_before_they_exist() {
    let named = |rules: &[&str], access| {
        let judge = judge([deny(rules), ask(&["Edit(asked.txt)", "Edit(/asked.txt)"])]);
        let confinement = judge.confinement();
        let places = confinement.named_places(access);
        let places: Vec<String> = places.iter().map(|path| path.to_str().unwrap().to_owned()).collect();
        (places.join(" "), confinement.has_globs(access))
    };
    let rules = ["Read(secrets/**)", "Edit(Docs/Plan.md)", "Read(~/keys)", "Edit(//people/me/project/a/b)"];
    assert_eq!(named(&rules, Access::Read), ("/people/me/keys secrets".to_owned(), false));
    assert_eq!(
        named(&rules, Access::Write),
        ("/people/me/keys Docs/Plan.md a/b asked.txt secrets".to_owned(), true),
        "`asked.txt` can be anywhere"
    );
    for glob in ["Read(.env)", "Read(src/*.key)", "Read(**/keys/**)", "Read(a/**/b)"] {
        assert_eq!(named(&[glob], Access::Read), (String::new(), true), "{glob}");
    }
    assert_eq!(named(&["Read", "Bash(ls)", "Edit(x/y)"], Access::Read), (String::new(), false));
}

#[test]
fn commands_reach_the_hosts_that_rules_allow_without_asking() {
    let bypassing = |layer: GrantLayer| GrantLayer { mode: Some(Mode::Bypass), ..layer };
    for (layer, reach) in [
        (settings(), NetworkReach::All),
        (in_mode(Mode::Bypass), NetworkReach::All),
        (allow(&["WebFetch"]), NetworkReach::All),
        (allow(&["WebFetch(domain:*)"]), NetworkReach::All),
        (allow(&["WebFetch(domain:docs.rs)"]), NetworkReach::Hosts),
        (bypassing(deny(&["WebFetch(domain:evil.net)"])), NetworkReach::Hosts),
        (bypassing(ask(&["WebFetch(domain:evil.net)"])), NetworkReach::Hosts),
        (tools(&["Bash", "Read", "WebFetch(domain:docs.rs)"]), NetworkReach::Hosts),
        (tools(&["Bash", "Read", "WebFetch"]), NetworkReach::All),
        (in_mode(Mode::Default), NetworkReach::None),
        (in_mode(Mode::AcceptEdits), NetworkReach::None),
        (allow(&["Bash", "Read"]), NetworkReach::None),
        (bypassing(deny(&["WebFetch"])), NetworkReach::None),
        (bypassing(ask(&["webfetch"])), NetworkReach::None),
        (tools(&["Bash", "Read"]), NetworkReach::None),
        (tools(&["Bash", "Edit"]), NetworkReach::None),
        // A list for commands alone does not limit what they do.
        (tools(&["Bash", "KillShell"]), NetworkReach::All),
    ] {
        assert_eq!(judge([settings(), layer.clone()]).confinement().network(), reach, "{layer:?}");
    }
    let both = judge([allow(&["WebFetch(domain:docs.rs)"]), tools(&["Bash"])]);
    assert_eq!(both.confinement().network(), NetworkReach::Hosts);
    assert_eq!(judge([]).confinement().network(), NetworkReach::All);
}

#[test]
fn a_host_is_judged_like_a_fetch_from_it() {
    let judge = judge([
        GrantLayer { deny: texts(&["WebFetch(domain:old.docs.rs)"]), ..allow(&["WebFetch(domain:*.docs.rs)"]) },
        tools(&["Bash", "KillShell"]),
    ]);
    let confinement = judge.confinement();
    assert_eq!(confinement.reaches("WWW.docs.rs."), Decision::Allow);
    assert_eq!(ground(confinement.reaches("old.docs.rs")).rule.as_deref(), Some("WebFetch(domain:old.docs.rs)"));
    assert_eq!(ground(confinement.reaches("example.com")).remedies, ["WebFetch(domain:example.com)"]);
    assert!(matches!(ground(confinement.reaches("no host")).why, Why::Unclear { .. }));
    let reader = super::support::judge([tools(&["Bash", "Read"])]);
    assert!(matches!(ground(reader.confinement().reaches("docs.rs")).why, Why::NotAdmitted { .. }));
}
