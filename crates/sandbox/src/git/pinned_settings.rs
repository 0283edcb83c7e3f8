//! The environment and the settings of every git call; they override those of any file.
//!
//! Keys that a repository chooses itself, such as names of filters, cannot be fixed here; see
//! [`super::named_programs`].

use std::ffi::OsString;
use std::path::Path;

use sortie_mutant::is_out;

pub(super) const OPTIONS: [&str; 2] = ["--no-pager", "--no-replace-objects"];

/// No user or system configuration; no prompts, no network, no objects fetched on demand, no locks that would disturb
/// others. English messages, since some are parsed.
const ENVIRONMENT: [(&str, &str); 17] = [
    ("GIT_ADVICE", "0"),
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_ASKPASS", NO_PROGRAM),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_EDITOR", NO_PROGRAM),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_SEQUENCE_EDITOR", NO_PROGRAM),
    ("GIT_SSH_COMMAND", NO_PROGRAM),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("SSH_ASKPASS", NO_PROGRAM),
];

/// Used where a program must be named and an empty name would mean another one: it only fails.
const NO_PROGRAM: &str = "false";

/// Settings that could run a program or widen git's view. A bare repository within a working tree does not
/// count as one.
const SETTINGS: [(&str, &str); 31] = [
    ("core.alternateRefsCommand", NO_PROGRAM),
    ("core.askPass", NO_PROGRAM),
    ("core.attributesFile", "/dev/null"),
    ("core.editor", NO_PROGRAM),
    ("core.fsmonitor", "false"),
    ("core.gitProxy", "none"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", NO_PROGRAM),
    ("core.untrackedCache", "false"),
    ("credential.helper", ""),
    ("diff.external", NO_PROGRAM),
    ("diff.ignoreSubmodules", "all"),
    ("fetch.recurseSubmodules", "false"),
    ("gc.auto", "0"),
    ("gpg.openpgp.program", NO_PROGRAM),
    ("gpg.program", NO_PROGRAM),
    ("gpg.ssh.defaultKeyCommand", NO_PROGRAM),
    ("gpg.ssh.program", NO_PROGRAM),
    ("gpg.x509.program", NO_PROGRAM),
    ("interactive.diffFilter", NO_PROGRAM),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    ("merge.verifySignatures", "false"),
    ("protocol.allow", "never"),
    ("protocol.ext.allow", "never"),
    ("protocol.file.allow", "never"),
    ("safe.bareRepository", "explicit"),
    ("sequence.editor", NO_PROGRAM),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];

/// The whole environment of a call in `top`. The working tree is `top` whatever the repository says, and nothing above
/// it is searched.
pub(super) fn environment(top: &Path) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> =
        ENVIRONMENT.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let count = if is_out("pinned-git") { 0 } else { SETTINGS.len() };
    variables.push(("GIT_CONFIG_COUNT".into(), count.to_string().into()));
    for (number, (name, value)) in SETTINGS.iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{number}").into(), name.into()));
        variables.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.into()));
    }
    variables.push(("GIT_WORK_TREE".into(), top.into()));
    variables.push(("GIT_CEILING_DIRECTORIES".into(), top.parent().unwrap_or(top).into()));
    variables
}
