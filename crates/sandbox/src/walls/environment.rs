//! The environment of a command: a few harmless variables by name, nothing by default.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, access};
use sortie_mutant::is_out;

use crate::walls::follow_links::follow_links;

/// Always searched, after the user's directories.
const SYSTEM_PATH: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Copied unchanged. Locale categories are listed one by one: people use `LC_` for other things, because `ssh` passes
/// it on.
const KEPT: [&str; 18] = [
    "HOME",
    "LANG",
    "LC_ADDRESS",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
    "LOGNAME",
    "TZ",
    "USER",
];

/// Directories of the user's tools and their files. Kept only if they belong to the user alone: programs run or load
/// what lies there.
const PLACES: [&str; 15] = [
    "CARGO_HOME",
    "CONDA_PREFIX",
    "GOCACHE",
    GO_PATH,
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Contains people's work, in one directory, from which no program is run.
const GO_PATH: &str = "GOPATH";
const GO_WORK: &str = "src";

/// Set for every command. Git never prompts, reads no system configuration and uses no pager.
const FIXED: [(&str, &str); 7] = [
    ("TERM", "dumb"),
    ("TMPDIR", "/tmp"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("PAGER", "cat"),
];

/// The variables that a command starts with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// Keeps the harmless part of `variables`. Searches programs in the user's `PATH`, except its relative and
    /// `untrusted` entries, then in the system's directories. Tool directories are kept if they are absolute, lie in
    /// none of `untrusted`, and contain none.
    pub fn scrubbed(variables: impl IntoIterator<Item = (OsString, OsString)>, untrusted: &[&Path]) -> Self {
        let mut kept = Vec::new();
        let mut path = Vec::new();
        for (name, value) in variables {
            if name == "PATH" {
                path.extend(trusted(&value, untrusted));
            } else if name.to_str().is_some_and(|name| is_kept(name) || is_own_place(name, &value, untrusted)) {
                kept.push((name, value));
            }
        }
        let mut environment = Self(kept);
        for (name, value) in FIXED {
            environment.set(name, value);
        }
        path.extend(SYSTEM_PATH.map(OsString::from));
        environment.set("PATH", without_repetitions(path).join(OsStr::new(":")));
        environment
    }

    /// Adds a variable, or replaces it. The caller is responsible for its content.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        let name = name.into();
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value.into()));
    }

    /// The program that a name without `/` means here.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.variables().find(|(known, _)| *known == "PATH").map(|(_, path)| path.as_bytes());
        let directories = path.unwrap_or_default().split(|byte| *byte == b':').map(OsStr::from_bytes);
        let mut programs = directories.map(|directory| Path::new(directory).join(name));
        programs.find(|program| program.is_file() && access(program, Access::EXEC_OK).is_ok())
    }

    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

fn is_kept(name: &str) -> bool {
    KEPT.contains(&name) || is_out("scrubbed-environment")
}

/// True if a variable names only directories of the user's own. Some variables list several, like `PATH`.
fn is_own_place(name: &str, value: &OsStr, untrusted: &[&Path]) -> bool {
    let is_own = |place: &[u8]| {
        let place = Path::new(OsStr::from_bytes(place));
        let leads = follow_links(place);
        let climbs = place.components().any(|component| component == Component::ParentDir);
        let is_apart = |root: &&Path| {
            let works_there = |place: &Path| name == GO_PATH && root.starts_with(place.join(GO_WORK));
            let is_apart = |place: &Path| !place.starts_with(root) && (!root.starts_with(place) || works_there(place));
            is_apart(place) && is_apart(&leads)
        };
        place.is_absolute() && !climbs && untrusted.iter().all(is_apart)
    };
    PLACES.contains(&name) && value.as_bytes().split(|byte| *byte == b':').all(is_own)
}

fn without_repetitions(mut path: Vec<OsString>) -> Vec<OsString> {
    let mut seen = HashSet::new();
    path.retain(|directory| seen.insert(directory.clone()));
    path
}

/// The directories of a `PATH` in which nobody untrusted can put a program.
fn trusted(path: &OsStr, untrusted: &[&Path]) -> Vec<OsString> {
    let is_trusted = |directory: &&[u8]| {
        let directory = Path::new(OsStr::from_bytes(directory));
        // Only an existing directory has a real path; a missing one has no programs.
        let Ok(real) = directory.canonicalize() else { return false };
        let outside = |root: &&Path| !real.starts_with(root) && !directory.starts_with(root);
        directory.is_absolute() && (untrusted.iter().all(outside) || is_out("trusted-path"))
    };
    let directories = path.as_bytes().split(|byte| *byte == b':').filter(is_trusted);
    directories.map(|directory| OsStr::from_bytes(directory).to_owned()).collect()
}
