//! The environment of a command: a few harmless variables by name, nothing by default.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sortie_mutant::is_out;

/// Always searched, behind what the user has.
const SYSTEM_PATH: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Taken over as they are. The categories of a locale are named one by one: people put other things behind `LC_`, because
/// `ssh` passes it on.
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
    /// somewhere or in one of `untrusted`; then in the system's directories.
    pub fn scrubbed(variables: impl IntoIterator<Item = (OsString, OsString)>, untrusted: &[&Path]) -> Self {
        let mut kept = Vec::new();
        let mut path = Vec::new();
        for (name, value) in variables {
            if name == "PATH" {
                path.extend(trusted(&value, untrusted));
            } else if name.to_str().is_some_and(is_kept) {
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

    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

fn is_kept(name: &str) -> bool {
    KEPT.contains(&name) || is_out("scrubbed-environment")
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
