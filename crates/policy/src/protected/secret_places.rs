//! Places where people and programs keep secrets: keys, tokens, passwords, cookies and input histories.
//!
//! The list names places; the caller finds out which exist. It leaves out settings that builds need, although some
//! people keep a password there, and anything inside a project: use rules for those.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::protected::is_within;
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
    ".local/state/sortie/mcp-auth",
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

/// Directories that a variable can move, each with its usual place below a home directory.
const MOVED: &[(&str, &str)] = &[
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("AWS_SHARED_CREDENTIALS_FILE", ".aws"),
    ("AWS_CONFIG_FILE", ".aws"),
    ("AZURE_CONFIG_DIR", ".azure"),
    ("BOTO_CONFIG", ".boto"),
    ("CARGO_HOME", ".cargo"),
    ("CLAUDE_CONFIG_DIR", ".claude"),
    ("CLOUDSDK_CONFIG", ".config/gcloud"),
    ("CODEX_HOME", ".codex"),
    ("COMPOSER_HOME", ".config/composer"),
    ("DOCKER_CONFIG", ".docker"),
    ("GH_CONFIG_DIR", ".config/gh"),
    ("GNUPGHOME", ".gnupg"),
    ("HISTFILE", ".bash_history"),
    ("KUBECONFIG", ".kube"),
    ("MYSQL_HISTFILE", ".mysql_history"),
    ("NETRC", ".netrc"),
    ("NPM_CONFIG_USERCONFIG", ".npmrc"),
    ("PASSWORD_STORE_DIR", ".password-store"),
    ("PGPASSFILE", ".pgpass"),
    ("PSQL_HISTORY", ".psql_history"),
    ("RCLONE_CONFIG", ".config/rclone"),
];

/// Files that a variable names, and that have no usual place.
const NAMED: &[&str] = &["GOOGLE_APPLICATION_CREDENTIALS", "PIP_NETRC", "SSH_KEY_FILE", "VAULT_TOKEN_FILE"];

/// Returns the secret places below another home directory, as in the list for `home`.
pub fn secret_places_below(home: &Path) -> impl Iterator<Item = PathBuf> {
    AT_HOME.iter().map(|name| home.join(name))
}

/// Returns the secret places that variables have moved. `variable` returns the value of one.
pub fn moved_secret_places(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let paths = |name: &str| {
        let value = variable(name).unwrap_or_default();
        std::env::split_paths(&value).filter(|path| path.is_absolute()).collect::<Vec<_>>()
    };
    let moved = MOVED.iter().flat_map(|(name, usual)| {
        let inner = AT_HOME.iter().filter_map(|place| Path::new(place).strip_prefix(usual).ok());
        // A variable for a file beside others, like `KUBECONFIG`, names that file.
        let inner: Vec<&Path> = inner.collect();
        paths(name).into_iter().flat_map(move |path| inner.iter().map(|inner| joined(&path, inner)).collect::<Vec<_>>())
    });
    moved.chain(NAMED.iter().flat_map(|name| paths(name))).collect()
}

/// Joins without a slash at the end.
fn joined(path: &Path, inner: &Path) -> PathBuf {
    if inner.as_os_str().is_empty() { path.to_owned() } else { path.join(inner) }
}

/// Returns the places that neither commands nor file tools read. Absolute; a place need not exist.
///
/// A place that contains the workspace or an added directory is left out: it is meant to be read. Sortie's own state is
/// never left out. Other files of Sortie in the workspace are the project's, and may be read.
pub fn secret_places(places: &Places) -> Vec<PathBuf> {
    let homes = places.home.iter().chain(&places.other_homes);
    secret_places_of(places, homes.map(PathBuf::as_path))
}

/// Returns the same places, as far as they are not below home directories of other people.
pub(crate) fn own_secret_places(places: &Places) -> Vec<PathBuf> {
    secret_places_of(places, places.home.iter().map(PathBuf::as_path))
}

/// Returns the secret place of another person that a path is in.
pub(crate) fn secret_place_of_another(places: &Places, path: &Path) -> Option<PathBuf> {
    let mut homes = places.other_homes.iter().filter(|home| is_within(path, home));
    homes
        .find_map(|home| secret_places_below(home).find(|place| is_within(path, place) && !is_worked_in(places, place)))
}

/// True if the workspace or an added directory is in the place.
fn is_worked_in(places: &Places, place: &Path) -> bool {
    places.root.iter().chain(&places.added).any(|worked| worked.starts_with(place))
}

fn secret_places_of<'a>(places: &Places, homes: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    let at_home = homes.flat_map(secret_places_below);
    let own = places.own.iter().filter(|own| places.root.as_ref().is_none_or(|root| !own.starts_with(root)));
    let all = at_home.chain(ON_THE_MACHINE.iter().map(PathBuf::from)).chain(places.secrets.iter().chain(own).cloned());
    all.filter(|place| !is_worked_in(places, place)).chain(places.private.iter().cloned()).collect()
}
