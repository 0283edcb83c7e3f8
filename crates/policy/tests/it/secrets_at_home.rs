//! Keys and passwords in a workspace that is a home, or holds one: no tool reads or changes them.

use std::path::{Path, PathBuf};

use sortie_policy::{Decision, Judge, Places, Why};
use sortie_protocol::{Grant, GrantLayer, Mode, Resource};

use super::support::places;

/// Judge of a grant that allows everything.
fn lenient(places: Places) -> Judge {
    let layer = GrantLayer { mode: Some(Mode::Bypass), ..GrantLayer::new("user settings") };
    Judge::new(&Grant { layers: vec![layer] }, places).unwrap()
}

fn decide(judge: &Judge, tool: &str, path: &str) -> Decision {
    judge.decide(tool, &Resource::Path(PathBuf::from(path)))
}

const SECRETS: [&str; 9] = [
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".docker/config.json",
    ".my.cnf",
    ".aws/credentials",
    ".SSH/id_ed25519",
];

#[test]
fn no_tool_reads_or_changes_secrets_in_a_workspace_that_holds_the_home() {
    let roots = ["/people/me", "/people", "/"].map(|root| Places { root: Some(root.into()), ..places() });
    let added = Places { added: vec![PathBuf::from("/people/me")], ..places() };
    for place in roots.into_iter().chain([added]) {
        let root = place.root.clone().unwrap();
        let judge = lenient(place);
        assert!(judge.guards_reads());
        for secret in SECRETS {
            let absolute = Path::new("/people/me").join(secret);
            let path = absolute.strip_prefix(&root).unwrap_or(&absolute).to_string_lossy().into_owned();
            for tool in ["Read", "Grep", "LS", "Glob", "Edit", "Write", "MultiEdit"] {
                let decision = decide(&judge, tool, &path);
                assert!(decision.is_denied(), "{tool} {path} below {}: {decision:?}", root.display());
            }
        }
        for plain in ["/people/me/notes.md", "/people/me/project/.npmrc", "/people/me/.docker/daemon.json"] {
            let plain = Path::new(plain);
            let path = plain.strip_prefix(&root).unwrap_or(plain).to_string_lossy().into_owned();
            assert_eq!(decide(&judge, "Read", &path), Decision::Allow, "{path}");
        }
    }
}

#[test]
fn files_of_these_names_in_a_project_are_ordinary_to_read() {
    let judge = lenient(places());
    assert!(!judge.guards_reads(), "a walk need not ask about each file");
    for secret in SECRETS {
        assert_eq!(decide(&judge, "Read", secret), Decision::Allow, "{secret}");
    }
}

#[test]
fn the_refusal_names_the_place() {
    let judge = lenient(Places { root: Some("/people/me".into()), ..places() });
    let Decision::Deny(ground) = decide(&judge, "Read", ".aws/credentials") else { panic!("it is denied") };
    assert_eq!(ground.why, Why::Secret { place: ".aws".to_owned() });
    let said = "denied: people or Sortie keep secrets in `.aws`, which no agent may read or change";
    assert_eq!(ground.to_string(), said);
}
