//! The environment of a command: a few harmless variables by name, nothing by default.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, access};
use sortie_mutant::is_out;

use crate::walls::follow_links::follow_links;

/// Always searched, behind what the user has.
const SYSTEM_PATH: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Taken over as they are. The categories of a locale are named one by one: people put other things behind `LC_`,
/// because `ssh` passes it on.
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

/// Where the user's tools and their files are. Taken over if that is a place of the user's own: with one of these in
/// its environment, a program runs or loads what lies there.
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

/// People's work lies within it, in one directory, and no program is run from there.
const GO_PATH: &str = "GOPATH";
const GO_WORK: &str = "src";

/// The same for every command. Git asks nobody, reads no configuration of the system and pages nothing.
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
    /// What is harmless in `variables`. Programs are searched where the user's `PATH` has them, except relative to
    /// somewhere or in one of `untrusted`; then in the system's directories. The places of the user's tools are told
    /// where they are absolute, lie in none of `untrusted`, and hold none.
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

    /// Adds a variable, or replaces it. What is added is the caller's responsibility.
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

/// Whether a variable names places of the user's own. Some of them can be several, as in a `PATH`.
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
        // Where a directory really is can be asked only of one that exists; another holds no program.
        let Ok(real) = directory.canonicalize() else { return false };
        let outside = |root: &&Path| !real.starts_with(root) && !directory.starts_with(root);
        directory.is_absolute() && (untrusted.iter().all(outside) || is_out("trusted-path"))
    };
    let directories = path.as_bytes().split(|byte| *byte == b':').filter(is_trusted);
    directories.map(|directory| OsStr::from_bytes(directory).to_owned()).collect()
}
