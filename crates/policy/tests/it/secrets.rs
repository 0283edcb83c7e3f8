//! Places that neither commands nor file tools read.

use std::path::{Path, PathBuf};

use sortie_policy::{Judge, Places, moved_secret_places, secret_places, secret_places_below};
use sortie_protocol::{Grant, Mode};

use super::support::{Verdict, in_mode, path, places};

fn hidden(places: &Places, path: &str) -> bool {
    secret_places(places).iter().any(|place| Path::new(path).starts_with(place))
}

#[test]
fn keys_tokens_passwords_and_input_histories_are_secret() {
    for name in [
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".gnupg/private-keys-v1.d/a.key",
        ".netrc",
        ".git-credentials",
        ".config/gh/hosts.yml",
        ".config/gcloud/credentials.db",
        ".azure/accessTokens.json",
        ".kube/config",
        ".docker/config.json",
        ".npmrc",
        ".pypirc",
        ".cargo/credentials",
        ".cargo/credentials.toml",
        ".claude/history.jsonl",
        ".claude.json",
        ".codex/auth.json",
        ".gemini/oauth_creds.json",
        ".password-store/bank.gpg",
        ".local/share/keyrings/login.keyring",
        ".mozilla/firefox/a/logins.json",
        ".config/google-chrome/Default/Cookies",
        ".bash_history",
        ".zsh_history",
    ] {
        assert!(hidden(&places(), &format!("/people/me/{name}")), "{name}");
        assert!(!hidden(&places(), &format!("/people/me/project/{name}")), "{name} in the project");
    }
    for path in ["/etc/shadow", "/etc/gshadow", "/etc/ssh/ssh_host_ed25519_key"] {
        assert!(hidden(&places(), path), "{path}");
    }
}

#[test]
fn files_that_builds_and_git_need_can_be_read() {
    for name in [
        "",
        ".cargo",
        ".cargo/registry/index",
        ".cargo/config.toml",
        ".config/git/config",
        ".gitconfig",
        ".rustup/toolchains",
        ".npm/_cacache",
        ".m2/repository",
        ".docker/cli-plugins",
        ".local/share/pnpm",
    ] {
        assert!(!hidden(&places(), &format!("/people/me/{name}")), "{name}");
    }
    for path in ["/etc/passwd", "/etc/ssl/certs/a.pem", "/etc/ssh/ssh_config", "/usr/bin/git"] {
        assert!(!hidden(&places(), path), "{path}");
    }
}

#[test]
fn a_secret_place_that_holds_the_workspace_can_be_read() {
    let root = Some(PathBuf::from("/people/me/.claude/skills"));
    let there = Places { root, ..places() };
    assert!(!hidden(&there, "/people/me/.claude/skills/a.md"));
    assert!(hidden(&there, "/people/me/.ssh/id_ed25519"));
    let added = Places { added: vec![PathBuf::from("/people/me/.kube")], ..places() };
    assert!(!hidden(&added, "/people/me/.kube/config"));
    // If home itself is the workspace, its secrets stay secret.
    let at_home = Places { root: places().home, ..places() };
    assert!(hidden(&at_home, "/people/me/.ssh/id_ed25519"));
    let homeless = Places { home: None, ..places() };
    assert!(hidden(&homeless, "/etc/shadow"));
    assert!(!hidden(&homeless, "/people/me/.ssh/id_ed25519"));
}

#[test]
fn no_file_tool_reads_a_secret_place_wherever_the_workspace_is() {
    let at_home = || Places { root: places().home, private: vec!["/people/me/state".into()], ..places() };
    let read = |places: Places, tool: &str, name: &str| {
        let judge = Judge::new(&Grant { layers: vec![in_mode(Mode::Bypass)] }, places).unwrap();
        Verdict::from(&judge.decide(tool, &path(name)))
    };
    for tool in ["Read", "Grep", "Glob", "LS", "Edit", "Write", "mcp__x__y"] {
        for name in [".ssh/id_ed25519", ".netrc", ".aws", "state", "state/mcp-token", ".SSH/id", "/people/me/.ssh/id"] {
            assert_eq!(read(at_home(), tool, name), Verdict::Deny, "{tool} {name}");
        }
        for name in ["notes.txt", "project/state/a", ".sshd", "project/.netrc"] {
            assert_eq!(read(at_home(), tool, name), Verdict::Allow, "{tool} {name}");
        }
    }
    let added = || Places { added: vec!["/people/me".into()], ..places() };
    assert_eq!(read(added(), "Read", "/people/me/.ssh/id_ed25519"), Verdict::Deny);
    assert_eq!(read(added(), "Read", "/people/me/.config/sortie/config.toml"), Verdict::Deny, "Sortie's own settings");
    // Who works in such a place means to; but never in Sortie's own state.
    let inside = |root: &str| Places { root: Some(root.into()), ..places() };
    assert_eq!(read(inside("/people/me/.claude/skills"), "Read", "a.md"), Verdict::Allow);
    assert_eq!(read(inside("/var/lib/sortie"), "Read", "journal.db"), Verdict::Deny);
    assert_eq!(read(inside("/var/lib/sortie/reports"), "Read", "a.txt"), Verdict::Deny);
    let judge = Judge::new(&Grant { layers: vec![in_mode(Mode::Bypass)] }, at_home()).unwrap();
    expect_test::expect!["denied: people or Sortie keep secrets in `.ssh`, which no agent may read or change"]
        .assert_eq(&super::support::ground(judge.decide("Read", &path(".ssh/id"))).to_string());
    assert!(judge.guards_reads() && !Judge::new(&Grant::default(), places()).unwrap().guards_reads());
}

#[test]
fn homes_of_other_people_keep_their_secrets_in_a_workspace_that_holds_them() {
    let wide = |root: &str| Places {
        root: Some(root.into()),
        other_homes: vec!["/people/other".into(), "/var/lib/db".into()],
        ..places()
    };
    let read = |places: Places, name: &str| {
        let judge = Judge::new(&Grant { layers: vec![in_mode(Mode::Bypass)] }, places).unwrap();
        assert!(judge.guards_reads());
        ["Read", "Grep", "Write"].map(|tool| Verdict::from(&judge.decide(tool, &path(name))))
    };
    for name in ["/people/other/.ssh/id_ed25519", "/people/other/.NETRC", "/var/lib/db/.pgpass"] {
        assert_eq!(read(wide("/"), name), [Verdict::Deny; 3], "{name}");
        assert!(hidden(&wide("/"), &name.to_lowercase()), "{name}");
    }
    assert_eq!(read(wide("/people"), "other/.aws/credentials"), [Verdict::Deny; 3]);
    assert_eq!(read(wide("/people/other"), ".bash_history"), [Verdict::Deny; 3]);
    for name in ["/people/other/notes.txt", "/people/other/project/.netrc", "/people/third/.netrc"] {
        assert_eq!(read(wide("/"), name), [Verdict::Allow; 3], "{name}");
    }
    // A directory that was added by name is meant to be read.
    let added = Places { added: vec!["/people/other/.kube".into()], ..wide("/") };
    assert_eq!(read(added, "/people/other/.kube/config"), [Verdict::Allow; 3]);
}

#[test]
fn places_that_variables_have_moved_are_secret() {
    let variable = |name: &str| {
        let value = match name {
            "XDG_CONFIG_HOME" => "/x/config",
            "XDG_DATA_HOME" => "relative",
            "CARGO_HOME" => "/x/cargo",
            "KUBECONFIG" => "/x/kube/a:/x/kube/b",
            "GOOGLE_APPLICATION_CREDENTIALS" => "/x/key.json",
            _ => return None,
        };
        Some(value.into())
    };
    let places = Places { secrets: moved_secret_places(&variable), ..places() };
    for path in ["/x/config/gh/hosts.yml", "/x/cargo/credentials.toml", "/x/kube/a", "/x/kube/b", "/x/key.json"] {
        assert!(hidden(&places, path), "{path}");
    }
    for path in ["/x/config/git/config", "/x/cargo/config.toml", "/x/kube/c", "relative/keyrings"] {
        assert!(!hidden(&places, path), "{path}");
    }
    let other: Vec<PathBuf> = secret_places_below(Path::new("/people/other")).collect();
    assert!(other.contains(&PathBuf::from("/people/other/.ssh")));
}
