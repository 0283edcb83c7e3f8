//! Places that commands never read.

use std::path::{Path, PathBuf};

use sortie_policy::{Places, secret_places};

use super::support::places;

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
