//! Places where people and programs keep secrets: keys, tokens, passwords, cookies and input histories.
//!
//! The list names places; the caller finds out which exist. It leaves out settings that builds need, although some
//! people keep a password there, and anything inside a project: use rules for those.

use std::path::{Path, PathBuf};

use crate::rule::Places;

/// Relative to a home directory.
const AT_HOME: &[&str] = &[
    // Keys.
    ".ssh",
    ".gnupg",
    ".age",
    ".config/age",
    ".config/sops",
    ".pki",
    ".putty",
    // Tokens for remote machines.
    ".aws",
    ".azure",
    ".boto",
    ".config/doctl",
    ".config/fly",
    ".config/gcloud",
    ".config/heroku",
    ".config/netlify",
    ".config/rclone",
    ".config/scw",
    ".config/vercel",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".fly",
    ".kube",
    ".netrc",
    "_netrc",
    ".oci",
    ".s3cfg",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    // Tokens for repositories and registries.
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/hub",
    ".config/pypoetry/auth.toml",
    ".gem/credentials",
    ".git-credentials",
    ".m2/settings-security.xml",
    ".npmrc",
    ".pypirc",
    // Data of agent programs: keys and whole conversations.
    ".aider.conf.yml",
    ".claude",
    ".claude.json",
    ".config/sortie/config.toml",
    ".local/state/sortie/journal.db",
    ".local/state/sortie/mcp-token",
    ".codex",
    ".config/github-copilot",
    ".config/goose",
    ".config/opencode",
    ".cursor",
    ".gemini",
    ".local/share/goose",
    ".local/share/opencode",
    ".qwen",
    // Passwords.
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    ".config/keepassxc",
    ".config/op",
    ".config/1Password",
    ".kwallet",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".password-store",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    "Library/Keychains",
    // Cookies and passwords of browsers, and mail.
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/microsoft-edge",
    ".config/opera",
    ".config/vivaldi",
    ".mozilla",
    ".thunderbird",
    ".var/app/com.brave.Browser",
    ".var/app/com.google.Chrome",
    ".var/app/org.chromium.Chromium",
    ".var/app/org.mozilla.firefox",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Firefox",
    "Library/Application Support/Google/Chrome",
    "Library/Cookies",
    "snap/chromium",
    "snap/firefox",
    // Input histories.
    ".bash_history",
    ".history",
    ".local/share/atuin",
    ".local/share/fish/fish_history",
    ".mysql_history",
    ".node_repl_history",
    ".psql_history",
    ".python_history",
    ".sh_history",
    ".sqlite_history",
    ".zsh_history",
];

/// Absolute paths.
const ON_THE_MACHINE: &[&str] = &[
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/kubernetes",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh/ssh_host_dsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/run/secrets",
    "/var/run/secrets",
];

/// Returns the places that commands never read, although they can read everything else; tools for files neither read
/// nor change them in a workspace that holds them. Absolute; a place need not exist.
///
/// A place that contains the workspace or an added directory is left out: it is meant to be read.
pub fn secret_places(places: &Places) -> Vec<PathBuf> {
    let at_home = places.home.iter().flat_map(|home| AT_HOME.iter().map(move |name| home.join(name)));
    let all = at_home.chain(ON_THE_MACHINE.iter().map(PathBuf::from));
    let worked_in = |place: &Path| places.root.iter().chain(&places.added).any(|worked| worked.starts_with(place));
    all.filter(|place| !worked_in(place)).collect()
}
